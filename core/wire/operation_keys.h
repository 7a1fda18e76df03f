// Where the keys of an operation stand in its message, whatever its kind. Views into the message;
// any thread.
#pragma once

#include "cavalry/v1/workload.pb.h"

namespace cavalry::wire {

// The keys that an operation works on; null if its kind has none.
const v1::Keys* KeysOf(const v1::OperationSpec& operation);

// The range of a key sequence; null if the sequence has none (same_as, latest, from_file) or none
// is given.
const v1::Range* RangeOf(const v1::Keys& keys);

}  // namespace cavalry::wire
