// What the contract's tests know of a back-end: where its server is, and one table of what it can
// and cannot do. A driver joins the suite by a file <kind>_back_ends.cc and a line in back_ends.cc.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "core/base/settings.h"
#include "drivers/core/driver.h"

namespace cavalry::driver_contract {

// What a back-end can do beyond what all can: read, multi_read, insert, update and delete by key.
// What it cannot is tested to be refused by the driver's check, or to end as said here.
struct Capabilities {
  bool scan = true;
  // A scan's rows come in the key's order; else in an order of the server's own.
  bool ordered_scan = true;
  bool increment = true;
  bool native = false;
  bool transactions = false;
  // Changes give the row back as it was before.
  bool returning = false;
  // Values that the server works out from SQL.
  bool server_values = false;
  // An insert of a row that is there is rejected; else it overwrites the row and is ok.
  bool rejects_duplicates = true;
  // An update or delete of a row that is not there is a miss; else it is ok, and the update makes
  // the row.
  bool tells_absent_rows = true;
  // Knows the length of a column: what does not fit is refused. Else it is kept whole.
  bool bounds_texts = true;
  // Drops a table although its key is more than the row's number.
  bool drops_unnumbered = true;
  // Connecting asks the server something, so that a silent one is noticed before operations are.
  bool shakes_hands = true;
};

struct BackEnd {
  std::string name;  // as the tests show it: "mysql_text"
  std::string kind;  // the driver's
  Capabilities can;
  // Environment variables, as `deploy/sandbox env` prints them, without which there is no server.
  std::vector<std::string> needs;
  // The target's options. REQUIRES: nothing that it needs is missing.
  Settings (*settings)() = nullptr;
  // The same with which increments are possible, of a table of a key and a number; null: settings.
  Settings (*increment_settings)() = nullptr;
  // Kind and options of the target that makes and fills the tables; empty: this one.
  std::string owner_kind;
  Settings (*owner_settings)() = nullptr;
  // The option that holds the port which reads (or all operations) go to, and, where writes have
  // another, that one.
  std::string port_option = "port";
  std::string write_port_option;
  // A statement in its own language that gives one row; "": it has none.
  std::string native_statement;
};

// For messages of tests.
inline void PrintTo(const BackEnd& back_end, std::ostream* out) { *out << back_end.name; }

// All of them. Static.
const std::vector<BackEnd>& AllBackEnds();

std::vector<BackEnd> MysqlBackEnds();
std::vector<BackEnd> HandlerSocketBackEnds();
std::vector<BackEnd> MemcachedBackEnds();
std::vector<BackEnd> CassandraBackEnds();

// A variable of the environment, "" when it is not set.
std::string Environment(const std::string& name);
// The settings with one option added or replaced.
Settings With(Settings settings, std::string name, std::string value);

}  // namespace cavalry::driver_contract
