// What the contract's tests share: a back-end, tables of the test's own on its server, and clients.
// Tests skip aloud when the environment names no server of the kind.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/core/driver.h"
#include "tests/contract/drivers/back_end.h"
#include "tests/contract/drivers/client.h"

namespace cavalry::driver_contract {

using drivers::Key;
using drivers::Operation;
using drivers::OperationKind;
using drivers::OperationPlan;
using drivers::Value;

// A table and the operations planned on it. The first column is the key unless told otherwise; the
// plans must all be made before a client is.
class TestTable {
 public:
  // Name and type of each column; "type?" is nullable.
  TestTable(std::string name, const std::vector<std::pair<std::string, std::string>>& columns,
            std::vector<std::uint32_t> key_columns = {0});

  // One more operation; by default with all columns that the kind can have. The position in
  // plans().
  std::uint32_t Plan(OperationKind kind);
  // Read, insert, update and delete.
  void PlanTheFour();
  OperationPlan& plan(std::uint32_t index) { return plans_[index]; }
  const std::vector<OperationPlan>& plans() const { return plans_; }
  drivers::TableSchema& schema() { return schema_; }

  // The operation of the first plan of the kind. What it points to must live until it is done.
  Operation Make(OperationKind kind, Key key = Key(Value::Null()),
                 std::span<const Value> values = {}) const;
  Operation Read(Key key) const { return Make(OperationKind::kRead, key); }
  Operation Read(std::int64_t key) const { return Read(Value::Integer(key)); }
  Operation Insert(std::span<const Value> row) const {
    return Make(OperationKind::kInsert, Value::Null(), row);
  }
  Operation Update(std::int64_t key, std::span<const Value> values) const {
    return Make(OperationKind::kUpdate, Value::Integer(key), values);
  }
  Operation Delete(std::int64_t key) const {
    return Make(OperationKind::kDelete, Value::Integer(key));
  }

 private:
  drivers::TableSchema schema_;
  std::vector<OperationPlan> plans_;
};

class ContractTest : public testing::TestWithParam<BackEnd> {
 protected:
  void SetUp() override;
  // Drops the test's tables, after its clients are gone.
  void TearDown() override;

  const BackEnd& back_end() const { return GetParam(); }
  const Capabilities& can() const { return GetParam().can; }
  const drivers::Driver& driver() const { return *driver_; }

  // The table, which is made on the server; a name of its own.
  TestTable& NewTable(const std::vector<std::pair<std::string, std::string>>& columns,
                      std::vector<std::uint32_t> key_columns = {0});
  // A connected client for the table's plans.
  Client& NewClient(TestTable& table);
  // The same with these settings.
  Client& NewClient(TestTable& table, Settings settings, Timeouts timeouts = {});
  // Why the driver refuses the table's plans; "": it does not.
  std::string Refusal(const TestTable& table) const;
  Settings ServerSettings() const { return back_end().settings(); }

 private:
  const drivers::Driver* driver_ = nullptr;
  std::unique_ptr<drivers::Admin> admin_;
  std::deque<TestTable> tables_;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace cavalry::driver_contract

// Instantiates the suite once per back-end.
#define CAVALRY_CONTRACT(suite)                                                        \
  INSTANTIATE_TEST_SUITE_P(Every, suite,                                               \
                           testing::ValuesIn(cavalry::driver_contract::AllBackEnds()), \
                           [](const auto& param) { return param.param.name; })
