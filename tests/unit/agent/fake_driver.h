// A back-end in memory, in the place of drivers/registry: a program that links this has the kinds
// "mysql" (owns tables, guards marks as the real one does) and "handlersocket" (does not), and
// neither touches a server.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "drivers/core/driver.h"

namespace cavalry::drivers {

// A row as a server prints it; nothing: NULL.
using FakeRow = std::vector<std::optional<std::string>>;

std::string PrintValue(const Value& value);

struct FakeTable {
  bool marked = false;
  std::uint64_t schema_hash = 0;
  TableMark mark = TableMark::kEmpty;
  std::uint64_t mark_rows = 0;
  std::map<std::uint64_t, FakeRow> rows;
};

// The one server, emptied by Reset() at the start of each test. Its mutex guards it while phases
// run.
class FakeServer {
 public:
  static FakeServer& Get();
  void Reset();

  // How often `change` ("create", "drop", …) was done.
  int Count(std::string_view change);

  std::mutex mutex;
  std::map<std::string, FakeTable> tables;
  std::vector<std::string> changes;  // "create stock", "mark stock", …, in order
  Status connect_error;
  Status check_error;
  int reads_until_error = std::numeric_limits<int>::max();  // batches
  bool comes_back = false;  // so that reads succeed again, at the third attempt to connect
  int connects = 0;
  int inserts_until_error = std::numeric_limits<int>::max();
  std::uint64_t asked_operations = 0;  // by Limits
};

}  // namespace cavalry::drivers
