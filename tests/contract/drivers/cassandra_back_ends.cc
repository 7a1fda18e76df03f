#include "tests/contract/drivers/back_end.h"

namespace cavalry::driver_contract {
namespace {

Settings Target() {
  Settings settings;
  settings.Add({"contact_points", Environment("CAVALRY_CASSANDRA_HOST")});
  settings.Add({"port", Environment("CAVALRY_CASSANDRA_PORT")});
  settings.Add({"keyspace", "cavalry_contract"});
  return settings;
}
Settings Conditional() { return With(Target(), "conditional", "true"); }

}  // namespace

std::vector<BackEnd> CassandraBackEnds() {
  BackEnd plain;
  plain.name = "cassandra";
  plain.kind = "cassandra";
  // Rows lie in the order of their keys' tokens.
  plain.can.ordered_scan = false;
  plain.can.increment = false;
  plain.can.native = true;
  // A write without a condition looks at nothing before it writes.
  plain.can.rejects_duplicates = false;
  plain.can.tells_absent_rows = false;
  plain.can.bounds_texts = false;
  plain.needs = {"CAVALRY_CASSANDRA_HOST", "CAVALRY_CASSANDRA_PORT"};
  plain.settings = Target;
  plain.native_statement = "SELECT key FROM system.local";
  BackEnd conditional = plain;
  conditional.name = "cassandra_conditional";
  conditional.can.rejects_duplicates = true;
  conditional.can.tells_absent_rows = true;
  conditional.settings = Conditional;
  return {plain, conditional};
}

}  // namespace cavalry::driver_contract
