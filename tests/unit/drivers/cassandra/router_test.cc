// Which nodes operations go to, and in which order others are tried.
#include "drivers/cassandra/cassandra_router.h"

#include <array>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/cassandra/cassandra_factory.h"
#include "drivers/cassandra/murmur3.h"
#include "tests/unit/drivers/cassandra/test_tables.h"

namespace cavalry::drivers::cassandra {
namespace {

using Order = std::vector<std::size_t>;

Order OrderOf(Router* router, const Operation& operation) {
  Order order;
  for (std::size_t one = router->First(operation); one != Router::kNone; one = router->Next()) {
    order.push_back(one);
  }
  EXPECT_EQ(router->Next(), Router::kNone);
  return order;
}

class CassandraRouterTest : public testing::Test {
 protected:
  CassandraRouterTest() : user_(UserTable()) {
    operations_ = {MakePlan(OperationKind::kRead, &user_, {1}),
                   MakePlan(OperationKind::kNative, nullptr),
                   MakePlan(OperationKind::kUpdate, &user_, {1})};
    operations_[1].statement = "SELECT 1";
    for (std::uint32_t i = 0; i < operations_.size(); ++i) operations_[i].index = i;
    // The token of int 1 is -4069959284402364209, of int 2 -3248873570005575792.
    nodes_ = {{"10.0.0.1", 9042, {"a", "r", {-4'000'000'000'000'000'000}}},
              {"10.1.0.1", 9043, {"b", "r", {0}}},
              {"10.0.0.2", 9042, {"a", "r", {-3'000'000'000'000'000'000}}},
              {"10.0.0.3", 9042, {"a", "r", {4'000'000'000'000'000'000}}}};
  }

  CassandraFactory::Found Found() const {
    CassandraFactory::Found found;
    found.topology.nodes = nodes_;
    found.topology.partitioner = "Murmur3Partitioner";
    found.topology.replication = {Replication::Strategy::kNetwork, 0, {{"a", 2}, {"b", 1}}};
    found.datacenter = "a";
    return found;
  }
  Operation Read(std::int64_t id) {
    return {&operations_[0], Key(Value::Integer(id)), {}, nullptr};
  }

  const TableSchema user_;
  std::vector<OperationPlan> operations_;
  std::vector<Node> nodes_;
  TargetOptions options_;
};

TEST_F(CassandraRouterTest, EndpointsAreTheNodesOfTheDatacenter) {
  options_.connections = 3;
  const CassandraFactory factory(options_, Found(), operations_);
  std::vector<std::string> labels;
  for (const Endpoint& endpoint : factory.endpoints()) labels.push_back(endpoint.label);
  EXPECT_EQ(labels, std::vector<std::string>({"10.0.0.1:9042", "10.0.0.2:9042", "10.0.0.3:9042"}));
  EXPECT_EQ(factory.EndpointsOf(operations_[0]), Order({0, 1, 2}));
  EXPECT_EQ(factory.shared_connections(), 3U);
  EXPECT_TRUE(factory.endpoints_are_nodes());
  EXPECT_EQ(factory.max_in_flight(), 32'768U);
}

TEST_F(CassandraRouterTest, ReplicasTakeTurnsAndOthersComeAfterThem) {
  const CassandraFactory factory(options_, Found(), operations_);
  const auto router = factory.NewRouter();
  // Replicas of 1: nodes 0 and 1 of the datacenter, of 2: nodes 1 and 2.
  EXPECT_EQ(OrderOf(router.get(), Read(1)), Order({0, 1, 2}));
  EXPECT_EQ(OrderOf(router.get(), Read(1)), Order({1, 0, 2}));
  EXPECT_EQ(OrderOf(router.get(), Read(1)), Order({0, 1, 2}));
  EXPECT_EQ(OrderOf(router.get(), Read(2)), Order({2, 1, 0}));
  EXPECT_EQ(OrderOf(router.get(), Read(2)), Order({1, 2, 0}));
}

TEST_F(CassandraRouterTest, EachOperationHasItsOwnTurns) {
  const CassandraFactory factory(options_, Found(), operations_);
  const auto router = factory.NewRouter();
  const Value name = Value::Text("x");
  const Operation update{&operations_[2], Key(Value::Integer(1)), {&name, 1}, nullptr};
  std::set<std::size_t> reads, updates;
  for (int i = 0; i < 4; ++i) {
    reads.insert(router->First(Read(1)));
    updates.insert(router->First(update));
  }
  EXPECT_EQ(reads, std::set<std::size_t>({0, 1}));
  EXPECT_EQ(updates, std::set<std::size_t>({0, 1}));
}

TEST_F(CassandraRouterTest, WorkersBeginElsewhere) {
  const CassandraFactory factory(options_, Found(), operations_);
  const auto first = factory.NewRouter();
  const auto second = factory.NewRouter();
  EXPECT_EQ(first->First(Read(1)), 0U);
  EXPECT_EQ(second->First(Read(1)), 1U);
}

TEST_F(CassandraRouterTest, WithoutAKeyAllNodesTakeTurns) {
  const CassandraFactory factory(options_, Found(), operations_);
  const auto router = factory.NewRouter();
  const Operation native{&operations_[1], {}, {}, nullptr};
  EXPECT_EQ(OrderOf(router.get(), native), Order({0, 1, 2}));
  EXPECT_EQ(OrderOf(router.get(), native), Order({1, 2, 0}));
  EXPECT_EQ(OrderOf(router.get(), native), Order({2, 0, 1}));
  // A null part is not routed, nor one that the column cannot hold.
  EXPECT_EQ(OrderOf(router.get(), {&operations_[0], Key(Value::Null()), {}, nullptr}).size(), 3U);
  EXPECT_EQ(OrderOf(router.get(), Read(INT64_MAX)).size(), 3U);
}

TEST_F(CassandraRouterTest, AnotherPartitionerIsNotRouted) {
  CassandraFactory::Found found = Found();
  found.topology.partitioner = "RandomPartitioner";
  const CassandraFactory factory(options_, std::move(found), operations_);
  const auto router = factory.NewRouter();
  EXPECT_EQ(OrderOf(router.get(), Read(1)), Order({0, 1, 2}));
  EXPECT_EQ(OrderOf(router.get(), Read(1)), Order({1, 2, 0}));
}

TEST(CassandraRouter, HashesThePartsOfAKeyTogether) {
  TableSchema table;
  table.name = "t";
  table.columns = {MakeColumn("b", "varchar(9)"), MakeColumn("a", "int")};
  table.key_columns = {1};
  const OperationPlan operation = MakePlan(OperationKind::kInsert, &table, {0, 1});
  // As a table that is used as it is could be: both are the partition key, bound in another order.
  std::vector<StatementPlan> plans = {PlanStatement({}, operation)};
  plans[0].routing = {1, 0};
  const std::int64_t token = 6516349416904725244;  // (int 1, text a)
  const TokenRing ring({{"a", "r", {token - 1}}, {"a", "r", {token}}, {"a", "r", {token + 1}}},
                       {Replication::Strategy::kSimple, 1, {}}, "a");
  CassandraRouter router(plans, &ring, 3, 0);
  const std::array<Value, 2> row = {Value::Text("a"), Value::Integer(1)};
  EXPECT_EQ(router.First({&operation, {}, row, nullptr}), 1U);
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
