// How a cluster is found from its contact points, and how rows are written and read back.
#include "drivers/cassandra/cluster.h"

#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/cassandra/table_rows.h"
#include "tests/unit/drivers/cassandra/stub_node.h"
#include "tests/unit/drivers/cassandra/test_tables.h"

namespace cavalry::drivers::cassandra {
namespace {

TargetOptions Options(std::vector<std::uint16_t> ports) {
  Settings settings;
  settings.Add({"keyspace", "k", false, ""});
  TargetOptions options = ReadOptions(settings).value();
  options.contact_points.clear();
  for (const std::uint16_t port : ports) {
    options.contact_points.push_back(MakeEndpoint("127.0.0.1", port));
  }
  return options;
}

StatusOr<Cluster> Open(const TargetOptions& options) {
  return OpenCluster(options, {options.codec, nullptr, 10 * kSecond, 10 * kSecond});
}

TEST(Cluster, FallsBackToTheVersionThatTheServerSpeaks) {
  const StubNode node({});
  const auto cluster = Open(Options({node.port()}));
  ASSERT_TRUE(cluster.ok()) << StatusText(cluster.status());
  EXPECT_EQ(cluster->connect.codec.version, 4);
  EXPECT_EQ(node.connections(), 2U);
  EXPECT_EQ(cluster->datacenter, "dc1");
  EXPECT_EQ(cluster->topology.release_version, "5.0.6");
  ASSERT_EQ(cluster->topology.nodes.size(), 1U);
  EXPECT_EQ(cluster->topology.nodes[0].port, node.port());
  EXPECT_FALSE(cluster->topology.has_keyspace);
}

TEST(Cluster, AVersionThatIsAskedForIsNotChanged) {
  const StubNode node({});
  TargetOptions options = Options({node.port()});
  options.negotiates = false;
  const auto cluster = Open(options);
  ASSERT_FALSE(cluster.ok());
  EXPECT_NE(StatusText(cluster.status()).find("0x000A"), std::string::npos)
      << StatusText(cluster.status());
  EXPECT_EQ(node.connections(), 1U);
}

TEST(Cluster, AContactPointThatIsDownIsPassedOver) {
  std::uint16_t closed = 0;
  {
    const StubNode gone({});
    closed = gone.port();
  }
  const StubNode node({});
  const auto cluster = Open(Options({closed, node.port()}));
  ASSERT_TRUE(cluster.ok()) << StatusText(cluster.status());
  EXPECT_EQ(cluster->session->endpoint().port, node.port());
}

TEST(Cluster, TheSessionGoesToTheDatacenterThatIsAskedFor) {
  StubNodeOptions there;
  there.datacenter = "dc2";
  const StubNode other(there);
  StubNodeOptions here;
  here.peers = {{"127.0.0.1", std::to_string(other.port()), "dc2"}};
  const StubNode contact(here);
  TargetOptions options = Options({contact.port()});
  options.datacenter = "dc2";
  auto cluster = Open(options);
  ASSERT_TRUE(cluster.ok()) << StatusText(cluster.status());
  EXPECT_EQ(cluster->session->endpoint().port, other.port());
  EXPECT_EQ(cluster->topology.nodes[0].ring.datacenter, "dc2");
  options.datacenter = "dc3";
  cluster = Open(options);
  ASSERT_FALSE(cluster.ok());
  EXPECT_NE(StatusText(cluster.status()).find("is to be one of dc1, dc2"), std::string::npos)
      << StatusText(cluster.status());
}

TEST(Cluster, NodesDisagreeOnTheSchemaUntilAllHaveIt) {
  StubNodeOptions options;
  options.answer = [](std::string_view cql, std::size_t asked) -> std::optional<StubAnswer> {
    if (cql.find("schema_version") == std::string_view::npos) return std::nullopt;
    const bool is_local = cql.find("system.local") != std::string_view::npos;
    return StubAnswer{1, {{is_local || asked > 0 ? "new" : "old"}}, 0, {}};
  };
  const StubNode node(std::move(options));
  const auto cluster = Open(Options({node.port()}));
  ASSERT_TRUE(cluster.ok()) << StatusText(cluster.status());
  EXPECT_EQ(ReadSchemaVersions(cluster->session.get()).value(),
            std::vector<std::string>({"new", "old"}));
  EXPECT_EQ(ReadSchemaVersions(cluster->session.get()).value(), std::vector<std::string>({"new"}));
}

class TableRowsTest : public testing::Test {
 protected:
  TableRowsTest() {
    table_.name = "t";
    table_.columns = {MakeColumn("id", "int")};
    statements_.keyspace = "k";
    statements_.write = Consistency::kQuorum;
  }

  std::unique_ptr<TableRows> Open(const StubNode& node) {
    ConnectPlan connect;
    connect.codec.version = 4;
    auto rows =
        TableRows::Open(MakeEndpoint("127.0.0.1", node.port()), connect, statements_, table_, {});
    EXPECT_TRUE(rows.ok()) << StatusText(rows.status());
    return rows.ok() ? *std::move(rows) : nullptr;
  }

  TableSchema table_;
  StatementOptions statements_;
};

TEST_F(TableRowsTest, RowsAreReadBackAtALevelThatSeesTheWrites) {
  const StubNode node({});
  const auto rows = Open(node);
  ASSERT_NE(rows, nullptr);
  const std::array<std::uint64_t, 2> keys = {1, 2};
  EXPECT_EQ(StatusText(rows->Read(keys, [](auto, auto) {})), "");
  const auto quorum = static_cast<std::uint16_t>(Consistency::kQuorum);
  EXPECT_EQ(node.Asked("SELECT id FROM k.t"), std::vector<std::uint16_t>({quorum, quorum}));
}

TEST_F(TableRowsTest, ARowThatCannotBeReadBackSaysAtWhichLevelAndWhy) {
  StubNodeOptions options;
  options.answer = [](std::string_view cql, std::size_t) -> std::optional<StubAnswer> {
    if (!cql.starts_with("SELECT id FROM k.t")) return std::nullopt;
    return StubAnswer{0, {}, 0x1001, "too few"};
  };
  const StubNode node(std::move(options));
  const auto rows = Open(node);
  ASSERT_NE(rows, nullptr);
  const std::array<Value, 1> key = {Value::Integer(1)};
  const auto found = rows->ReadOne(key, [](auto) {});
  ASSERT_FALSE(found.ok());
  const std::string text = StatusText(found.status());
  EXPECT_NE(text.find("too few"), std::string::npos) << text;
  EXPECT_NE(text.find("read back at quorum, which sees all that was acknowledged at quorum"),
            std::string::npos)
      << text;
}

TEST_F(TableRowsTest, WhatTheClusterCannotTakeRightNowIsSentAgain) {
  StubNodeOptions options;
  options.answer = [](std::string_view cql, std::size_t asked) -> std::optional<StubAnswer> {
    if (!cql.starts_with("INSERT") || asked >= 2) return std::nullopt;
    return StubAnswer{0, {}, 0x1001, "too much"};
  };
  const StubNode node(std::move(options));
  const auto rows = Open(node);
  ASSERT_NE(rows, nullptr);
  const Value one = Value::Integer(1);
  EXPECT_EQ(StatusText(rows->Insert({&one, 1})), "");
  EXPECT_EQ(node.Asked("INSERT INTO k.t").size(), 3U);
}

TEST_F(TableRowsTest, WhatItNeverTakesIsToldAfterAFewAttempts) {
  StubNodeOptions options;
  options.answer = [](std::string_view cql, std::size_t) -> std::optional<StubAnswer> {
    if (!cql.starts_with("INSERT")) return std::nullopt;
    return StubAnswer{0, {}, 0x1001, "too much"};
  };
  const StubNode node(std::move(options));
  const auto rows = Open(node);
  ASSERT_NE(rows, nullptr);
  const Value one = Value::Integer(1);
  const std::string text = StatusText(rows->Insert({&one, 1}));
  EXPECT_NE(text.find("0x1001 overloaded too much"), std::string::npos) << text;
  EXPECT_EQ(node.Asked("INSERT INTO k.t").size(), 4U);
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
