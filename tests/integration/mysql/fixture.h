// What the tests of the mysql driver share: the server named by the environment
// (CAVALRY_MARIADB_*, as `deploy/sandbox env` prints it), a table, and a loop of one client.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/settings.h"
#include "drivers/core/admin.h"
#include "drivers/core/pollable.h"
#include "drivers/mysql/admin_connection.h"
#include "drivers/mysql/statement.h"

namespace cavalry::drivers::mysql {

// Collects the rows of reads as texts; nothing for NULL.
class RowCollector final : public RowVisitor {
 public:
  using Row = std::vector<std::optional<std::string>>;
  void OnRow(std::span<const Field> fields) override;
  std::vector<Row> rows;
};

// Does what a worker does for one client: waits for exactly what a step asks for. A wait that takes
// longer than a generous bound fails the test and answers kTimeout.
OpResult Drive(PollableClient* client, PollStep step);

// A result that outlives the client's next call.
struct Result {
  explicit Result(const OpResult& result) : op(result), code(result.code), text(result.text) {}
  OpResult op;
  std::string code;
  std::string text;
};

// Starts one operation and drives it to its end.
Result RunOperation(PollableClient* client, const OperationPlan& plan, Value key,
                    std::span<const Value> values = {}, RowVisitor* rows = nullptr);

// A table with its operations: read (0), insert (1), update (2), delete (3).
struct TestTable {
  TestTable(std::string name, const std::vector<std::pair<std::string, std::string>>& columns);
  TableSchema schema;
  std::vector<OperationPlan> plans;
};

// Clients of one factory and what they need to live.
class Sessions {
 public:
  Sessions(Settings settings, const std::vector<OperationPlan>& plans,
           Nanos connect_timeout = 5 * kSecond);
  std::unique_ptr<PollableClient> New();

 private:
  Settings settings_;
  std::vector<OperationPlan> plans_;
  std::unique_ptr<PollableFactory> factory_;
};

class MysqlTest : public ::testing::Test {
 protected:
  // Skips aloud when the environment names no server.
  void SetUp() override;

  // The server's settings, over TCP or its Unix socket.
  static Settings ServerSettings(std::string_view transport = "tcp",
                                 std::string_view statements = "text");
  // The same with one setting replaced.
  static Settings With(Settings settings, std::string_view name, std::string_view value);

  std::unique_ptr<Admin> NewAdmin();
  // SQL beside the driver.
  void Sql(std::string_view statement);
  // The same as root over the Unix socket, which a sandbox allows without a password.
  void RootSql(std::string_view statement);
  std::string SqlText(std::string_view statement);
  // Asks until there is an answer: for what another connection is about to do.
  std::string WaitForText(std::string_view statement);
  AdminConnection& connection() { return *connection_; }

  // Drops the table, of whatever kind, and creates it anew with a mark.
  void Recreate(const TestTable& table);

 private:
  std::unique_ptr<AdminConnection> connection_;
};

}  // namespace cavalry::drivers::mysql
