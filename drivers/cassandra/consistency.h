// Consistency levels: names and which of them see which writes. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "drivers/cassandra/statement.h"

namespace cavalry::drivers::cassandra {

// "local_quorum" and so on, as in a spec; nothing for another word.
std::optional<Consistency> ParseConsistency(std::string_view word);
std::string_view ConsistencyName(Consistency level);

// The level at which a read is sure to see every write that was acknowledged at `write`, `read`
// where that is sure already: all where a single replica (or a hint) may hold the write; quorum
// after quorum; local_quorum after local_quorum, which overlap in one datacenter only, so the
// reader's coordinator must be in it; `read` after all.
Consistency AuditLevel(Consistency read, Consistency write);

// How rows are filled and read back: read at that level, and written without conditions, since a
// row of the fill may have to be sent again.
StatementOptions AuditOptions(StatementOptions options);

}  // namespace cavalry::drivers::cassandra
