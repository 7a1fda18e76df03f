// Counts what the whole program allocates, so this is a test program of its own.
#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "agent/load/iteration.h"

namespace {

std::atomic<long> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  std::abort();
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace cavalry::load {
namespace {

TEST(Iteration, AllocatesNothingAfterTheFirst) {
  drivers::TableSchema table;
  table.rows = 100;
  std::vector<std::uint32_t> columns;
  for (const char* type : {"int", "decimal(15,2)", "varchar(100)", "char(9)", "text", "date",
                           "datetime", "varbinary(20)", "json", "double"}) {
    columns.push_back(static_cast<std::uint32_t>(columns.size()));
    table.columns.push_back({"c", *ParseColumnType(type), false});
  }
  std::vector<drivers::OperationPlan> plans(5);
  std::vector<OperationRecipe> recipes(5);
  KeySequenceOptions options;
  options.order = KeyOrder::kZipf;
  options.last = 100;
  for (std::uint32_t i = 0; i < 5; ++i) {
    plans[i] = {"", i, drivers::OperationKind::kRead, &table, columns};
    recipes[i].plan = &plans[i];
    recipes[i].keys.emplace(options);
    recipes[i].values.emplace(table, columns, std::vector<ColumnRule>(columns.size()), 42);
    recipes[i].verification = Verification::kAlways;
    recipes[i].checked = columns;
  }
  plans[1].kind = drivers::OperationKind::kInsert;
  plans[1].batch = 7;
  plans[2].kind = drivers::OperationKind::kUpdate;
  recipes[2].key_values.emplace(table, columns, std::vector<ColumnRule>(columns.size()), 42);
  plans[3].kind = drivers::OperationKind::kMultiRead;
  plans[3].batch = 20;
  options.per_iteration = 20;
  recipes[3].keys.emplace(options);
  plans[4].kind = drivers::OperationKind::kNative;
  recipes[4].parameters.push_back(
      {std::nullopt, std::nullopt, nullptr, RowGenerator(table, {4}, {ColumnRule()}, 42)});
  const ScriptPlan script{{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}};
  IterationState state(5);
  RowChecker checker;
  const std::vector<drivers::Field> fields(columns.size(), {false, "1"});
  long before = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    if (number == 1) before = allocations;
    for (std::size_t step = 0; step < 5; ++step) {
      const PreparedOperation prepared = state.Prepare(recipes, script, step, number, 0, 1, 1);
      if (!prepared.verify) continue;
      checker.Expect(recipes[0], prepared.key);
      checker.OnRow(fields);
    }
  }
  EXPECT_EQ(allocations - before, 0);
  EXPECT_GT(before, 0);
}

}  // namespace
}  // namespace cavalry::load
