// The word of an enum value as a spec writes it: TRANSPORT_TCP of Transport is "tcp". Any thread.
#pragma once

#include <string>

#include <google/protobuf/descriptor.h>

namespace cavalry::wire {

std::string EnumWord(const google::protobuf::EnumValueDescriptor& value);

}  // namespace cavalry::wire
