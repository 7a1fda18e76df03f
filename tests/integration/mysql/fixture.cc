#include "tests/integration/mysql/fixture.h"

#include <poll.h>

#include <cstdlib>

#include "drivers/mysql/mysql_driver.h"

namespace cavalry::drivers::mysql {
namespace {

// Far above what any answer takes; a hang fails instead of filling ctest's own limit.
constexpr int kHangMillis = 20'000;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

void RowCollector::OnRow(std::span<const Field> fields) {
  Row& row = rows.emplace_back();
  for (const Field& field : fields) {
    row.push_back(field.is_null ? std::nullopt : std::optional<std::string>(field.text));
  }
}

OpResult Drive(PollableClient* client, PollStep step) {
  while (!step.done) {
    pollfd waiting{step.wait.fd, step.wait.events, 0};
    const int timeout =
        step.wait.timeout > 0 ? static_cast<int>(step.wait.timeout / kMillisecond) : kHangMillis;
    const int ready = poll(&waiting, 1, timeout);
    if (ready == 0 && step.wait.timeout == 0) {
      ADD_FAILURE() << "the client waits for events " << step.wait.events << " that never come";
      return {.outcome = Outcome::kTimeout};
    }
    step = client->Continue(waiting.revents, ready == 0);
  }
  return step.result;
}

Result RunOperation(PollableClient* client, const OperationPlan& plan, Value key,
                    std::span<const Value> values, RowVisitor* rows) {
  Operation operation;
  operation.plan = &plan;
  operation.key = key;
  operation.values = values;
  operation.rows = rows;
  return Result(Drive(client, client->Start(operation)));
}

TestTable::TestTable(std::string name,
                     const std::vector<std::pair<std::string, std::string>>& columns) {
  schema.name = std::move(name);
  schema.engine = "InnoDB";
  schema.schema_hash = 0xc0ffee;
  for (const auto& [column, type] : columns) {
    const bool nullable = type.ends_with("?");
    auto parsed = ParseColumnType(nullable ? type.substr(0, type.size() - 1) : type);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    schema.columns.push_back({column, std::move(parsed).value(), nullable});
  }
  const std::vector<OperationKind> kinds = {OperationKind::kRead, OperationKind::kInsert,
                                            OperationKind::kUpdate, OperationKind::kDelete};
  for (const OperationKind kind : kinds) {
    OperationPlan& plan = plans.emplace_back();
    plan.name = std::string(OperationKindName(kind));
    plan.index = static_cast<std::uint32_t>(plans.size() - 1);
    plan.kind = kind;
    plan.table = &schema;
    if (kind == OperationKind::kDelete) continue;
    const std::uint32_t first = kind == OperationKind::kUpdate ? 1 : 0;
    for (std::uint32_t i = first; i < schema.columns.size(); ++i) plan.columns.push_back(i);
  }
}

Sessions::Sessions(Settings settings, const std::vector<OperationPlan>& plans,
                   Nanos connect_timeout)
    : settings_(std::move(settings)), plans_(plans) {
  ClientConfig config;
  config.settings = &settings_;
  config.operations = &plans_;
  config.connect_timeout = connect_timeout;
  auto factory = GetDriver().NewClientFactory(config);
  EXPECT_TRUE(factory.ok()) << factory.status();
  if (factory.ok()) factory_ = std::get<std::unique_ptr<PollableFactory>>(std::move(*factory));
}

std::unique_ptr<PollableClient> Sessions::New() { return factory_->NewClient(); }

void MysqlTest::SetUp() {
  if (Environment("CAVALRY_MARIADB_PORT").empty()) {
    GTEST_SKIP()
        << "no server: CAVALRY_MARIADB_PORT is not set; run it by tests/run integration, or "
           "after eval \"$(deploy/sandbox env mariadb)\"";
  }
  auto address = ReadServerAddress(ServerSettings());
  ASSERT_TRUE(address.ok()) << address.status();
  InitializeLibrary();
  connection_ = std::make_unique<AdminConnection>(*address);
  const Status connected = connection_->Connect();
  ASSERT_TRUE(connected.ok()) << connected;
}

Settings MysqlTest::ServerSettings(std::string_view transport, std::string_view statements) {
  Settings settings;
  settings.Add({"host", Environment("CAVALRY_MARIADB_HOST")});
  settings.Add({"port", Environment("CAVALRY_MARIADB_PORT")});
  settings.Add({"transport", std::string(transport)});
  settings.Add({"socket", Environment("CAVALRY_MARIADB_SOCKET")});
  settings.Add({"user", Environment("CAVALRY_MARIADB_USER")});
  settings.Add({"password", Environment("CAVALRY_MARIADB_PASSWORD"), true});
  settings.Add({"database", Environment("CAVALRY_MARIADB_DATABASE")});
  settings.Add({"statements", std::string(statements)});
  return settings;
}

Settings MysqlTest::With(Settings settings, std::string_view name, std::string_view value) {
  for (Setting& setting : settings.all()) {
    if (setting.name == name) setting.value = value;
  }
  return settings;
}

std::unique_ptr<Admin> MysqlTest::NewAdmin() {
  auto admin = GetDriver().NewAdmin(ServerSettings());
  EXPECT_TRUE(admin.ok()) << admin.status();
  const Status connected = (*admin)->Connect();
  EXPECT_TRUE(connected.ok()) << connected;
  return std::move(*admin);
}

void MysqlTest::Sql(std::string_view statement) {
  const Status status = connection_->Execute(statement);
  ASSERT_TRUE(status.ok()) << status;
}

void MysqlTest::RootSql(std::string_view statement) {
  const auto address =
      ReadServerAddress(With(With(ServerSettings("unix"), "user", "root"), "password", ""));
  ASSERT_TRUE(address.ok()) << address.status();
  AdminConnection root(*address);
  const Status connected = root.Connect();
  ASSERT_TRUE(connected.ok()) << connected;
  const Status done = root.Execute(statement);
  ASSERT_TRUE(done.ok()) << done;
}

std::string MysqlTest::SqlText(std::string_view statement) {
  auto text = connection_->QueryText(statement);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.ok() ? text->value_or("NULL") : "";
}

std::string MysqlTest::WaitForText(std::string_view statement) {
  const Nanos end = MonotonicNow() + kHangMillis * kMillisecond;
  while (MonotonicNow() < end) {
    const std::string text = SqlText(statement);
    if (text != "NULL") return text;
  }
  ADD_FAILURE() << "still nothing: " << statement;
  return "0";
}

void MysqlTest::Recreate(const TestTable& table) {
  Sql("DROP TABLE IF EXISTS " + QuotedName(table.schema.name));
  const Status created = NewAdmin()->Create(table.schema);
  ASSERT_TRUE(created.ok()) << created;
}

}  // namespace cavalry::drivers::mysql
