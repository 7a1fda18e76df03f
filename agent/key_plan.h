// Keys of an operation: messages -> key sequences. Any thread; reads the file of from_file, hence
// blocks.
#pragma once

#include "agent/load/key_sequence.h"
#include "cavalry/v1/workload.pb.h"
#include "core/base/status.h"
#include "drivers/core/operation.h"

namespace cavalry::agent {

// Order, range and law of the keys. `growing`: the key space of the table, for latest. Seed, stream
// and number of draws are left to the caller. REQUIRES: not same_as.
StatusOr<load::KeySequenceOptions> MakeKeyOptions(const v1::Keys& keys,
                                                  const drivers::TableSchema& table,
                                                  const load::GrowingKeys& growing,
                                                  load::KeyOrder by_default);

}  // namespace cavalry::agent
