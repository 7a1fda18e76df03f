// Names in CQL. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "core/base/status.h"

namespace cavalry::drivers::cassandra {

// As it is where CQL takes it so; else in double quotes, those inside doubled: a name without
// quotes is taken as lower case (CQL, "Identifiers and keywords").
std::string QuotedName(std::string_view name);

// In single quotes, those inside doubled.
std::string QuotedText(std::string_view text);

// Keyspaces and tables are also folders of the server: letters, digits and underscores, at most 48.
Status CheckFolderName(std::string_view what, std::string_view name);

}  // namespace cavalry::drivers::cassandra
