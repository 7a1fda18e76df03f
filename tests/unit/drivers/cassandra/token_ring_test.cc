// Tokens of partition keys and the nodes that hold them.
#include "drivers/cassandra/token_ring.h"

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/cassandra/murmur3.h"

namespace cavalry::drivers::cassandra {
namespace {

using std::string_view_literals::operator""sv;

TEST(Murmur3Token, IsAsTheServersPartitionerMakesIt) {
  EXPECT_EQ(Murmur3Token("\0\0\0\0"sv), -3485513579396041028);
  EXPECT_EQ(Murmur3Token("\0\0\0\1"sv), -4069959284402364209);
  EXPECT_EQ(Murmur3Token("\0\0\0\2"sv), -3248873570005575792);
  EXPECT_EQ(Murmur3Token("\x00\x02\x49\xef"sv), -6219019144868101258);  // int 149999
  EXPECT_EQ(Murmur3Token("\0\0\0\0\0\0\0\1"sv), 6292367497774912474);
  EXPECT_EQ(Murmur3Token("key"), -6847573755651342660);
}

TEST(Murmur3Token, ExtendsBytesOfTheTailWithTheirSign) {
  EXPECT_EQ(Murmur3Token(std::string(9, '\xff')), 8434364767658694854);
}

TEST(Murmur3Token, OfTheEmptyKeyIsTheSmallest) {
  EXPECT_EQ(Murmur3Token(""), std::numeric_limits<std::int64_t>::min());
}

TEST(Murmur3Token, OfSeveralPartsIsThatOfThePartsWithTheirLengths) {
  ByteBuffer key;
  ASSERT_TRUE(AppendKeyPart("\0\0\0\1"sv, key));
  ASSERT_TRUE(AppendKeyPart("a", key));
  EXPECT_EQ(key.view(), "\0\4\0\0\0\1\0\0\1a\0"sv);
  EXPECT_EQ(Murmur3Token(key.view()), 6516349416904725244);
  EXPECT_FALSE(AppendKeyPart(std::string(65'536, 'x'), key));
  EXPECT_EQ(key.size(), 11U);
}

using Nodes = std::vector<std::uint32_t>;

Nodes Replicas(const TokenRing& ring, std::int64_t token) {
  const auto replicas = ring.ReplicasOf(token);
  return {replicas.begin(), replicas.end()};
}

Replication Simple(std::uint32_t factor) { return {Replication::Strategy::kSimple, factor, {}}; }

Replication Network(std::vector<std::pair<std::string, std::uint32_t>> factors) {
  return {Replication::Strategy::kNetwork, 0, std::move(factors)};
}

TEST(TokenRing, TheOwnerHasTheFirstTokenThatIsNotBelow) {
  const std::vector<RingNode> nodes = {{"a", "r", {-100, 50}}, {"a", "r", {0}}, {"a", "r", {100}}};
  const TokenRing ring(nodes, Simple(1), "a");
  EXPECT_EQ(Replicas(ring, -101), Nodes({0}));
  EXPECT_EQ(Replicas(ring, -100), Nodes({0}));
  EXPECT_EQ(Replicas(ring, -99), Nodes({1}));
  EXPECT_EQ(Replicas(ring, 50), Nodes({0}));
  EXPECT_EQ(Replicas(ring, 51), Nodes({2}));
  // Behind the last token comes the first.
  EXPECT_EQ(Replicas(ring, 101), Nodes({0}));
  EXPECT_EQ(Replicas(ring, std::numeric_limits<std::int64_t>::max()), Nodes({0}));
  EXPECT_EQ(Replicas(ring, std::numeric_limits<std::int64_t>::min()), Nodes({0}));
}

TEST(TokenRing, SimpleTakesTheNextDistinctNodes) {
  const std::vector<RingNode> nodes = {
      {"a", "r", {0, 10, 50}}, {"a", "r", {20}}, {"a", "r", {30, 40}}};
  const TokenRing ring(nodes, Simple(2), "a");
  EXPECT_EQ(Replicas(ring, 0), Nodes({0, 1}));
  EXPECT_EQ(Replicas(ring, 5), Nodes({0, 1}));
  EXPECT_EQ(Replicas(ring, 20), Nodes({1, 2}));
  EXPECT_EQ(Replicas(ring, 40), Nodes({2, 0}));
  EXPECT_EQ(Replicas(ring, 45), Nodes({0, 1}));
  EXPECT_EQ(Replicas(TokenRing(nodes, Simple(9), "a"), 20), Nodes({1, 2, 0}));
}

TEST(TokenRing, SimpleCountsNodesOfEveryDatacenterButKeepsOursOnly) {
  const std::vector<RingNode> nodes = {{"a", "r", {0}}, {"b", "r", {10}}, {"a", "r", {20}}};
  const TokenRing ring(nodes, Simple(2), "a");
  EXPECT_EQ(Replicas(ring, 0), Nodes({0}));
  EXPECT_EQ(Replicas(ring, 10), Nodes({2}));
  EXPECT_EQ(Replicas(ring, 20), Nodes({2, 0}));
}

TEST(TokenRing, NetworkTakesNewRacksFirst) {
  const std::vector<RingNode> nodes = {
      {"a", "r1", {0}}, {"a", "r1", {10}}, {"a", "r2", {20}}, {"a", "r3", {30}}};
  EXPECT_EQ(Replicas(TokenRing(nodes, Network({{"a", 2}}), "a"), 0), Nodes({0, 2}));
  EXPECT_EQ(Replicas(TokenRing(nodes, Network({{"a", 3}}), "a"), 0), Nodes({0, 2, 3}));
  EXPECT_EQ(Replicas(TokenRing(nodes, Network({{"a", 3}}), "a"), 30), Nodes({3, 0, 2}));
}

TEST(TokenRing, NetworkRepeatsARackOnlyWhenThereAreTooFew) {
  const std::vector<RingNode> nodes = {
      {"a", "r1", {0}}, {"a", "r1", {10}}, {"a", "r1", {20}}, {"a", "r2", {30}}};
  // Three replicas in two racks: one may repeat.
  EXPECT_EQ(Replicas(TokenRing(nodes, Network({{"a", 3}}), "a"), 0), Nodes({0, 1, 3}));
  EXPECT_EQ(Replicas(TokenRing(nodes, Network({{"a", 2}}), "a"), 0), Nodes({0, 3}));
  EXPECT_EQ(Replicas(TokenRing(nodes, Network({{"a", 9}}), "a"), 20), Nodes({2, 3, 0, 1}));
}

TEST(TokenRing, NetworkSkipsOtherDatacenters) {
  const std::vector<RingNode> nodes = {
      {"a", "r1", {0}}, {"b", "r1", {5}}, {"a", "r1", {10}}, {"b", "r1", {15}}};
  const Replication replication = Network({{"b", 1}, {"a", 2}});
  EXPECT_EQ(Replicas(TokenRing(nodes, replication, "a"), 1), Nodes({2, 0}));
  EXPECT_EQ(Replicas(TokenRing(nodes, replication, "b"), 1), Nodes({1}));
  EXPECT_EQ(Replicas(TokenRing(nodes, replication, "c"), 1), Nodes());
}

TEST(TokenRing, KnowsNothingWithoutTokensOrStrategy) {
  EXPECT_TRUE(TokenRing({}, Simple(1), "a").ReplicasOf(0).empty());
  EXPECT_TRUE(TokenRing({{"a", "r", {0}}}, {}, "a").ReplicasOf(0).empty());
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
