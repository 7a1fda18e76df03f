// Schema work of a memcached target: see drivers/core/admin.h. A cache has no tables: a table here
// is the items whose keys the target's `key` makes of its name and of row numbers. One more item,
// the mark, says that they are cavalry's, with what they hold. A cache is never flushed: emptying a
// table deletes its items by their keys, from 1 up until none of many in a row is there. So only
// tables whose key is the row's number can be emptied.
#pragma once

#include <memory>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "drivers/core/admin.h"

namespace cavalry::drivers::memcached {

StatusOr<std::unique_ptr<Admin>> NewMemcachedAdmin(const Settings& settings);

}  // namespace cavalry::drivers::memcached
