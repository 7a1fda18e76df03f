// Apache Cassandra over CQL's native protocol: sessions share connections to every node of a
// datacenter, operations go to a node that holds their row.
#pragma once

#include "drivers/core/driver.h"

namespace cavalry::drivers::cassandra {

const Driver& GetDriver();

}  // namespace cavalry::drivers::cassandra
