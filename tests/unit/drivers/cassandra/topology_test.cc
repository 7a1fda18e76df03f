// What is read of a cluster: rows as servers give them.
#include "drivers/cassandra/topology.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace cavalry::drivers::cassandra {
namespace {

// A set or map as it goes on the wire.
std::string Collection(std::uint32_t count, const std::vector<std::string>& elements) {
  std::string bytes;
  const auto add = [&](std::size_t number) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<char>(number >> shift & 0xff));
    }
  };
  add(count);
  for (const std::string& element : elements) {
    add(element.size());
    bytes += element;
  }
  return bytes;
}

const std::string kTokens = Collection(2, {"-9223372036854775808", "42"});
const Field kNull{true, {}};
Field Text(std::string_view text) { return {false, text}; }

using PeerRow = std::array<Field, 7>;
PeerRow Peer() {
  return {Text("10.0.0.2"), Text("192.168.0.2"), Text("dc1"),  Text("rack1"),
          Text(kTokens),    Text("64050948"),    Text("19042")};
}

TEST(Topology, APeerHasTheAddressForClients) {
  const PeerRow row = Peer();
  const auto node = ParsePeer(row, 9042);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->host, "192.168.0.2");
  EXPECT_EQ(node->port, 19042);
  EXPECT_EQ(node->ring.datacenter, "dc1");
  EXPECT_EQ(node->ring.rack, "rack1");
  EXPECT_EQ(node->ring.tokens, std::vector<std::int64_t>({INT64_MIN, 42}));
}

TEST(Topology, APeerThatListensEverywhereIsReachedWhereOtherNodesReachIt) {
  for (const Field& address : {kNull, Text("0.0.0.0"), Text("0:0:0:0:0:0:0:0"), Text("")}) {
    PeerRow row = Peer();
    row[1] = address;
    const auto node = ParsePeer(row, 9042);
    ASSERT_TRUE(node);
    EXPECT_EQ(node->host, "10.0.0.2");
  }
}

TEST(Topology, WithoutAPortTheDefaultIsTaken) {
  PeerRow row = Peer();
  EXPECT_EQ(ParsePeer(std::span(row).first(6), 9042)->port, 9042);
  for (const Field& port : {kNull, Text("0"), Text("70000"), Text("x")}) {
    row[6] = port;
    EXPECT_EQ(ParsePeer(row, 9042)->port, 9042);
  }
}

TEST(Topology, APeerOnItsWayInOrOutIsSkipped) {
  for (const std::size_t missing : {2, 3, 4, 5}) {
    PeerRow row = Peer();
    row[missing] = kNull;
    EXPECT_FALSE(ParsePeer(row, 9042)) << missing;
  }
  PeerRow row = Peer();
  row[0] = row[1] = kNull;
  EXPECT_FALSE(ParsePeer(row, 9042));
  EXPECT_FALSE(ParsePeer(std::span(row).first(5), 9042));
}

TEST(Topology, TheNodeThatAnswersIsWhereItWasAsked) {
  const Endpoint asked = MakeEndpoint("db1", 19042);
  std::array<Field, 7> row = {
      Text("test"),   Text("5.0.6"), Text("org.apache.cassandra.dht.Murmur3Partitioner"),
      Text("dc1"),    Text("r1"),    Text(kTokens),
      Text("0.0.0.0")};
  Topology topology;
  auto node = ParseLocal(row, asked, &topology);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->host, "db1");
  EXPECT_EQ(node->port, 19042);
  EXPECT_EQ(node->ring.tokens.size(), 2U);
  EXPECT_EQ(topology.cluster_name, "test");
  EXPECT_EQ(topology.release_version, "5.0.6");
  EXPECT_TRUE(topology.routes());
  row[6] = Text("10.0.0.1");
  row[5] = kNull;  // it joins
  row[2] = Text("org.apache.cassandra.dht.RandomPartitioner");
  node = ParseLocal(row, asked, &topology);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->host, "10.0.0.1");
  EXPECT_TRUE(node->ring.tokens.empty());
  EXPECT_FALSE(topology.routes());
  EXPECT_FALSE(ParseLocal(std::span(row).first(6), asked, &topology));
}

TEST(Topology, ReplicationIsAMap) {
  Replication replication = ParseReplication(Collection(
      2, {"class", "org.apache.cassandra.locator.SimpleStrategy", "replication_factor", "3"}));
  EXPECT_EQ(replication.strategy, Replication::Strategy::kSimple);
  EXPECT_EQ(replication.factor, 3U);
  replication = ParseReplication(Collection(
      3,
      {"dc1", "3", "class", "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc2", "3/1"}));
  EXPECT_EQ(replication.strategy, Replication::Strategy::kNetwork);
  ASSERT_EQ(replication.factors.size(), 2U);
  EXPECT_EQ(replication.factors[0], std::make_pair(std::string("dc1"), 3U));
  EXPECT_EQ(replication.factors[1], std::make_pair(std::string("dc2"), 2U));
  EXPECT_EQ(ParseReplication(Collection(1, {"class", "LocalStrategy"})).strategy,
            Replication::Strategy::kNone);
  EXPECT_EQ(ParseReplication("garbage").strategy, Replication::Strategy::kNone);
}

TEST(Topology, ACollectionIsCutNowhereElse) {
  const std::string bytes = Collection(2, {"", "abc"});
  const auto elements = ParseCollection(bytes);
  ASSERT_TRUE(elements);
  EXPECT_EQ(*elements, std::vector<std::string_view>({"", "abc"}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseCollection(std::string_view(bytes).substr(0, size))) << size;
  }
  // More elements, or longer ones, than there can be.
  EXPECT_FALSE(ParseCollection(Collection(0x7fffffff, {"a"})));
  EXPECT_FALSE(ParseCollection(std::string("\0\0\0\1\xff\xff\xff\xff", 8)));
}

TEST(Topology, ReleasesAreCompared) {
  EXPECT_EQ(MajorVersion("5.0.6"), 5U);
  EXPECT_EQ(MajorVersion("3.11.17"), 3U);
  EXPECT_EQ(MajorVersion("4"), 4U);
  EXPECT_EQ(MajorVersion("x"), 0U);
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
