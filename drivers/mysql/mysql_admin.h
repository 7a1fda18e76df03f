// Schema work of a MySQL target over one blocking connection: see drivers/core/admin.h. A table is
// cavalry's own when its comment is a mark (table_mark.h); every call that changes a table looks at
// the comment first and refuses a table without one.
#pragma once

#include <memory>

#include "drivers/core/admin.h"
#include "drivers/mysql/server_address.h"

namespace cavalry::drivers::mysql {

// `prepared`: sessions of this target prepare their statements, which the server limits.
struct AdminConfig {
  ServerAddress address;
  bool prepared = false;
};

std::unique_ptr<Admin> NewMysqlAdmin(AdminConfig config);

}  // namespace cavalry::drivers::mysql
