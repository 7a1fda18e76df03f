// Values of CQL: from those that cavalry generates to the wire and back to what SQL prints, so that
// the same row reads the same from every back-end. CQL native protocol v5, section 6.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/column_type.h"
#include "drivers/cassandra/statement.h"
#include "drivers/core/byte_buffer.h"
#include "drivers/core/value.h"

namespace cavalry::drivers::cassandra {

// How a parameter of a statement that only the server knows is written: by the protocol's type
// code.
CqlType ParameterType(std::uint16_t type_code);

// Appends a [value]: its length and bytes, -1 for null. False: the type cannot hold it (`why` says
// what and for which type); then nothing was appended. Never changes a value silently.
bool AppendValue(CqlType type, const Value& value, ByteBuffer& out, std::string_view* why);

// The value's bytes as SQL prints it for a column of this SQL type (decimals with the column's full
// scale, dates as 2026-01-31, times as 12:00:00, timestamps as 2026-01-31 12:00:00, booleans as 0
// and 1, blobs as they are). `scratch` holds what is not a view of `bytes`; it is cleared by the
// caller per row, not per value, and must not be moved meanwhile: reserve kMaxPrinted per value.
// Malformed bytes (a wrong length) give false.
inline constexpr std::size_t kMaxPrinted = 128;
bool PrintValue(CqlType type, const ColumnType& column, std::string_view bytes,
                std::string* scratch, std::string_view* printed);

// As above for a column that only the answer describes (native statements): by the protocol's type
// code (section 4.2.5.2), collections and unknown types as the bytes are.
bool PrintByCode(std::uint16_t type_code, std::string_view bytes, std::string* scratch,
                 std::string_view* printed);

}  // namespace cavalry::drivers::cassandra
