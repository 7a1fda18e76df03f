// Schema work of a cassandra target: see drivers/core/admin.h. A table is cavalry's own when its
// comment is a mark (drivers/core/table_mark.h); every call that changes a table looks at the
// comment first and refuses a table without one. The keyspace is made with the first table, so that
// a check changes nothing. Rows are read back at a consistency level at which every write that was
// acknowledged must be seen (AuditLevel).
#pragma once

#include <memory>

#include "drivers/cassandra/target_options.h"
#include "drivers/core/admin.h"
#include "drivers/core/tls_codec.h"

namespace cavalry::drivers::cassandra {

// `tls` is null without tls.
std::unique_ptr<Admin> NewCassandraAdmin(TargetOptions options,
                                         std::shared_ptr<const TlsContext> tls);

}  // namespace cavalry::drivers::cassandra
