// What a server says of a statement that it has prepared: native protocol, section 4.2.5.4. One
// codec's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/cassandra/wire.h"

namespace cavalry::drivers::cassandra {

struct Prepared {
  std::string id;
  std::string result_id;                  // v5: of the answer's metadata
  std::vector<std::uint16_t> type_codes;  // of the parameters
};

// Reads what follows the RESULT's kind. False: malformed.
bool ReadPrepared(WireReader* reader, std::uint8_t version, Prepared* prepared);

// Skips a type's [option]; gives its code. Nested types end in ok() false beyond a depth.
std::uint16_t ReadType(WireReader* reader, int depth = 0);

}  // namespace cavalry::drivers::cassandra
