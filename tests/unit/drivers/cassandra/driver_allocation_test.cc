// After warm-up neither the router nor a statement's text allocates.
#include <array>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/cassandra/cassandra_router.h"
#include "tests/unit/drivers/cassandra/test_tables.h"

namespace {

std::size_t allocations = 0;

}  // namespace

// Not inlined: a compiler that sees through only one of the pair warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace cavalry::drivers::cassandra {
namespace {

TEST(CassandraAllocation, RoutingAndTextsAllocateNothing) {
  const TableSchema lines = LinesTable();
  const OperationPlan operation = MakePlan(OperationKind::kUpdate, &lines, {3});
  const std::vector<StatementPlan> plans = {PlanStatement({}, operation)};
  std::vector<RingNode> nodes(3);
  for (std::int64_t i = 0; i < 24; ++i) {
    nodes[static_cast<std::size_t>(i % 3)].tokens.push_back((i - 12) * 700'000'000'000'000'000);
  }
  const TokenRing ring(nodes, {Replication::Strategy::kSimple, 2, {}}, "");
  CassandraRouter router(plans, &ring, 3, 0);
  ByteBuffer out;
  const std::array<Value, 1> paid = {Value::Integer(1)};
  std::array<std::size_t, 3> given{};
  std::size_t before = 0;
  for (std::int64_t i = 0; i < 3'000; ++i) {
    if (i == 10) before = allocations;
    const std::array<Value, 3> key = {Value::Integer(i), Value::Integer(2), Value::Text("it's x")};
    const Operation update{&operation, Key(key), paid, nullptr};
    std::size_t tried = 0;
    for (std::size_t one = router.First(update); one != Router::kNone; one = router.Next()) {
      if (tried++ == 0) ++given[one];
    }
    ASSERT_EQ(tried, 3U);
    out.Clear();
    ASSERT_TRUE(AppendText(plans[0], update, out));
  }
  EXPECT_EQ(allocations, before);
  for (const std::size_t count : given) EXPECT_GT(count, 500U);
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
