// Messages with random content, for properties that must hold for all of them.
#pragma once

#include <google/protobuf/message.h>

#include "core/base/random.h"

namespace cavalry::spec {

// Fills each field or leaves it absent. Keys of keyed lists are unique; texts hold what is hard to
// write.
void FillRandomly(google::protobuf::Message* message, RandomStream* random);

}  // namespace cavalry::spec
