// Values as CQL literals, for statements sent as text. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "drivers/cassandra/statement.h"
#include "drivers/core/byte_buffer.h"
#include "drivers/core/value.h"

namespace cavalry::drivers::cassandra {

// False where AppendValue (value_format.h) refuses the value, so that text and prepared statements
// take the same; then nothing was appended.
bool AppendLiteral(CqlType type, const Value& value, ByteBuffer& out);

// By the kind of the value alone, for native statements, whose types only the server knows.
void AppendUntyped(const Value& value, ByteBuffer& out);

// A value that SQL prints as `text` (see Filter) for comparison with the column; nothing when the
// column's type cannot hold it.
std::optional<std::string> FilterLiteral(const Column& column, std::string_view text);

}  // namespace cavalry::drivers::cassandra
