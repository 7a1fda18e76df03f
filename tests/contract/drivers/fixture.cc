#include "tests/contract/drivers/fixture.h"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "drivers/registry.h"

namespace cavalry::driver_contract {

TestTable::TestTable(std::string name,
                     const std::vector<std::pair<std::string, std::string>>& columns,
                     std::vector<std::uint32_t> key_columns) {
  schema_.name = std::move(name);
  schema_.key_is_number = key_columns.size() == 1;
  schema_.key_columns = std::move(key_columns);
  schema_.engine = "InnoDB";
  schema_.collation = "utf8mb4_bin";
  schema_.schema_hash = 0xc0de;
  for (const auto& [column, type] : columns) {
    const bool nullable = type.ends_with('?');
    auto parsed = ParseColumnType(nullable ? type.substr(0, type.size() - 1) : type);
    EXPECT_TRUE(parsed.ok()) << parsed.status();
    schema_.columns.push_back({column, std::move(parsed).value(), nullable});
  }
}

std::uint32_t TestTable::Plan(OperationKind kind) {
  OperationPlan& plan = plans_.emplace_back();
  plan.index = static_cast<std::uint32_t>(plans_.size() - 1);
  plan.name = fmt::format("{}{}", drivers::OperationKindName(kind), plan.index);
  plan.kind = kind;
  if (!drivers::HasTable(kind)) return plan.index;
  plan.table = &schema_;
  const auto is_key = [&](std::uint32_t column) {
    return std::find(schema_.key_columns.begin(), schema_.key_columns.end(), column) !=
           schema_.key_columns.end();
  };
  if (kind == OperationKind::kDelete) return plan.index;
  for (std::uint32_t i = 0; i < schema_.columns.size(); ++i) {
    const bool changes = kind == OperationKind::kUpdate || kind == OperationKind::kIncrement;
    if (!changes || !is_key(i)) plan.columns.push_back(i);
  }
  return plan.index;
}

void TestTable::PlanTheFour() {
  for (const auto kind : {OperationKind::kRead, OperationKind::kInsert, OperationKind::kUpdate,
                          OperationKind::kDelete}) {
    Plan(kind);
  }
}

Operation TestTable::Make(OperationKind kind, Key key, std::span<const Value> values) const {
  for (const OperationPlan& plan : plans_) {
    if (plan.kind == kind) return {.plan = &plan, .key = key, .values = values};
  }
  ADD_FAILURE() << "no " << drivers::OperationKindName(kind) << " was planned";
  return {};
}

void ContractTest::SetUp() {
  for (const std::string& name : back_end().needs) {
    if (Environment(name).empty()) {
      GTEST_SKIP() << name << " is not set: no server of " << back_end().kind
                   << " to test against (deploy/sandbox starts one)";
    }
  }
  driver_ = drivers::FindDriver(back_end().kind);
  ASSERT_NE(driver_, nullptr);
  const bool owns = back_end().owner_kind.empty();
  ASSERT_EQ(driver_->owns_tables(), owns);
  const drivers::Driver* const owner = owns ? driver_ : drivers::FindDriver(back_end().owner_kind);
  auto admin = owner->NewAdmin(owns ? back_end().settings() : back_end().owner_settings());
  ASSERT_TRUE(admin.ok()) << admin.status();
  admin_ = std::move(*admin);
  const Status connected = admin_->Connect();
  ASSERT_TRUE(connected.ok()) << connected;
}

void ContractTest::TearDown() {
  // A table that a connection still looks at may not be dropped (HandlerSocket).
  clients_.clear();
  for (TestTable& table : tables_) {
    const Status dropped = admin_->Drop(table.schema());
    const bool drops = can().drops_unnumbered || table.schema().key_is_number;
    EXPECT_EQ(dropped.ok(), drops) << dropped;
  }
}

TestTable& ContractTest::NewTable(const std::vector<std::pair<std::string, std::string>>& columns,
                                  std::vector<std::uint32_t> key_columns) {
  static int tables = 0;
  TestTable& table = tables_.emplace_back(fmt::format("contract_{}_{}", getpid(), ++tables),
                                          columns, std::move(key_columns));
  const Status created = admin_->Create(table.schema());
  EXPECT_TRUE(created.ok()) << created;
  return table;
}

Client& ContractTest::NewClient(TestTable& table) { return NewClient(table, ServerSettings()); }

Client& ContractTest::NewClient(TestTable& table, Settings settings, Timeouts timeouts) {
  auto client = Client::Make(driver(), std::move(settings), table.plans(), timeouts);
  // GoogleTest tells it; there is nothing to go on with.
  if (!client.ok()) throw std::runtime_error(StatusText(client.status()));
  const Status connected = (*client)->Connect();
  EXPECT_TRUE(connected.ok()) << connected;
  return *clients_.emplace_back(std::move(*client));
}

std::string ContractTest::Refusal(const TestTable& table) const {
  return StatusText(driver().Check(ServerSettings(), table.plans()));
}

}  // namespace cavalry::driver_contract
