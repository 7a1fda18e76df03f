// The driver's options, checks, and the DDL of its tables.
#include "drivers/cassandra/cassandra_driver.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "drivers/cassandra/server_facts.h"
#include "drivers/cassandra/table_check.h"
#include "drivers/cassandra/table_ddl.h"
#include "drivers/cassandra/target_options.h"
#include "tests/unit/drivers/cassandra/test_tables.h"

namespace cavalry::drivers::cassandra {
namespace {

Settings Make(std::vector<std::pair<std::string, std::string>> settings) {
  Settings made;
  if (settings.empty() || settings[0].first != "keyspace") made.Add({"keyspace", "k", false, ""});
  for (auto& [name, value] : settings) made.Add({name, value, false, ""});
  return made;
}

std::vector<std::string> Labels(std::string_view contact_points) {
  const auto options = ReadOptions(Make({{"contact_points", std::string(contact_points)}}));
  if (!options.ok()) return {StatusText(options.status())};
  std::vector<std::string> labels;
  for (const Endpoint& endpoint : options->contact_points) labels.push_back(endpoint.label);
  return labels;
}

TEST(CassandraDriver, Defaults) {
  const auto options = ReadOptions(Make({}));
  ASSERT_TRUE(options.ok());
  ASSERT_EQ(options->contact_points.size(), 1U);
  EXPECT_EQ(options->contact_points[0].label, "127.0.0.1:9042");
  EXPECT_EQ(options->connections, 1U);
  EXPECT_TRUE(options->negotiates);
  EXPECT_EQ(options->codec.version, 5);
  EXPECT_TRUE(options->codec.prepared);
  EXPECT_EQ(options->replication, "{'class': 'SimpleStrategy', 'replication_factor': 1}");
}

TEST(CassandraDriver, ContactPointsAreOneText) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Labels("db1,db2:19042,[::1]:9043,fe80::2"),
            Texts({"db1:9042", "db2:19042", "[::1]:9043", "[fe80::2]:9042"}));
  EXPECT_NE(Labels("db1:x")[0].find("contact_points"), std::string::npos);
  EXPECT_NE(Labels("db1:0")[0].find("\"db1:0\" is no host"), std::string::npos);
  EXPECT_NE(Labels(",")[0].find("contact_points is empty"), std::string::npos);
}

TEST(CassandraDriver, Versions) {
  auto options = ReadOptions(Make({{"protocol_version", "4"}}));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->codec.version, 4);
  EXPECT_FALSE(options->negotiates);
  options = ReadOptions(Make({{"compression", "snappy"}}));
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->codec.version, 4);
  EXPECT_EQ(options->codec.compression, Compression::kSnappy);
  EXPECT_FALSE(ReadOptions(Make({{"protocol_version", "3"}})).ok());
  EXPECT_EQ(ReadOptions(Make({{"compression", "lz4"}}))->codec.compression, Compression::kLz4);
}

TEST(CassandraDriver, WhatCannotBeIsSaid) {
  EXPECT_FALSE(ReadOptions(Make({{"port", "70000"}})).ok());
  EXPECT_FALSE(ReadOptions(Make({{"connections", "0"}})).ok());
  EXPECT_FALSE(ReadOptions(Make({{"keyspace", "my-keyspace"}})).ok());
  EXPECT_FALSE(ReadOptions(Make({{"keyspace", ""}})).ok());
}

TEST(CassandraDriver, ChecksSettingsTablesAndOperations) {
  const Driver& driver = GetDriver();
  TableSchema user = UserTable();
  std::vector<OperationPlan> plans = {MakePlan(OperationKind::kRead, &user, {1})};
  EXPECT_EQ(StatusText(driver.Check(Make({}), plans)), "");
  plans[0].kind = OperationKind::kIncrement;
  EXPECT_FALSE(driver.Check(Make({}), plans).ok());
  plans[0].kind = OperationKind::kRead;
  user.name = "a b";
  EXPECT_FALSE(driver.Check(Make({}), plans).ok());
  EXPECT_FALSE(driver.Check(Make({{"port", "0"}}), {}).ok());
}

TEST(CassandraDriver, WarnsOncePerTableAndPerOperation) {
  TableSchema user = UserTable();
  user.indexes = {{"by_name", {1}, false}};
  const std::vector<OperationPlan> plans = {MakePlan(OperationKind::kRead, &user, {1}),
                                            MakePlan(OperationKind::kDelete, &user)};
  EXPECT_EQ(GetDriver().Warnings(Make({}), plans).size(), 2U);
  EXPECT_EQ(GetDriver().Warnings(Make({{"conditional", "true"}}), plans).size(), 1U);
}

TEST(CassandraDriver, ANodeThatIsNotThereIsNamed) {
  const Settings settings = Make({{"contact_points", "127.0.0.1:1,127.0.0.2:1"}});
  const std::vector<OperationPlan> plans;
  ClientConfig config;
  config.settings = &settings;
  config.operations = &plans;
  const auto factory = GetDriver().NewClientFactory(config);
  ASSERT_FALSE(factory.ok());
  const std::string text = StatusText(factory.status());
  EXPECT_NE(text.find("127.0.0.1:1: "), std::string::npos) << text;
  EXPECT_NE(text.find("127.0.0.2:1: "), std::string::npos) << text;
}

TEST(CassandraDdl, Tables) {
  EXPECT_EQ(CreateTable("shop", LinesTable(), "it's ours", "compression = {'enabled': false}"),
            "CREATE TABLE shop.\"Lines\" (item text, \"order\" bigint, line int, paid boolean, "
            "PRIMARY KEY (\"order\", line, item)) WITH comment = 'it''s ours' AND compression = "
            "{'enabled': false}");
  EXPECT_EQ(CreateTable("Shop", UserTable(), "", ""),
            "CREATE TABLE \"Shop\".user (id int, name text, \"Age\" int, born date, PRIMARY KEY "
            "(id)) WITH comment = ''");
  EXPECT_EQ(CreateKeyspace("shop", "{'class': 'X'}"),
            "CREATE KEYSPACE IF NOT EXISTS shop WITH replication = {'class': 'X'}");
}

TEST(CassandraTableCheck, NamesEveryFault) {
  const TableSchema lines = LinesTable();
  std::vector<ActualColumn> actual = {{"paid", "boolean", "regular", -1},
                                      {"item", "text", "clustering", 1},
                                      {"line", "int", "clustering", 0},
                                      {"order", "bigint", "partition_key", 0},
                                      {"more", "text", "regular", -1}};
  EXPECT_EQ(StatusText(CheckActualColumns(lines, actual)), "");
  actual[0].type = "int";
  actual[1].name = "thing";
  const std::string text = StatusText(CheckActualColumns(lines, actual));
  EXPECT_NE(text.find("no column \"item\""), std::string::npos) << text;
  EXPECT_NE(text.find("column \"paid\" is int, not boolean"), std::string::npos) << text;
  EXPECT_NE(text.find("its primary key is ((order), line, thing), not ((order), line, item)"),
            std::string::npos)
      << text;
  EXPECT_NE(StatusText(CheckActualColumns(lines, {})).find("does not exist"), std::string::npos);
}

TEST(CassandraTableCheck, APartitionKeyOfSeveralColumnsIsAnother) {
  const TableSchema lines = LinesTable();
  const std::vector<ActualColumn> actual = {{"paid", "boolean", "regular", -1},
                                            {"item", "text", "clustering", 0},
                                            {"line", "int", "partition_key", 1},
                                            {"order", "bigint", "partition_key", 0}};
  EXPECT_NE(StatusText(CheckActualColumns(lines, actual)).find("((order, line), item)"),
            std::string::npos);
}

TEST(CassandraFacts, DataSizes) {
  EXPECT_EQ(ParseDataSize("16MiB"), 16U << 20);
  EXPECT_EQ(ParseDataSize("50KiB"), 51'200U);
  EXPECT_EQ(ParseDataSize("7B"), 7U);
  EXPECT_FALSE(ParseDataSize("16"));
  EXPECT_FALSE(ParseDataSize("null"));
  EXPECT_FALSE(ParseDataSize("18446744073709551615GiB"));
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
