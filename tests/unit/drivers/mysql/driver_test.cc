#include "drivers/mysql/mysql_driver.h"

#include <string>

#include <gtest/gtest.h>

#include "drivers/mysql/server_address.h"

namespace cavalry::drivers::mysql {
namespace {

Settings With(std::initializer_list<Setting> settings) {
  Settings all;
  for (const Setting& setting : settings) all.Add(setting);
  return all;
}

struct Spec {
  TableSchema table;
  std::vector<OperationPlan> plans;
};

std::unique_ptr<Spec> MakeSpec() {
  auto spec = std::make_unique<Spec>();
  spec->table.name = "t";
  spec->table.engine = "InnoDB";
  spec->table.columns = {{"id", *ParseColumnType("int"), false}};
  spec->plans.resize(1);
  spec->plans[0].name = "find";
  spec->plans[0].table = &spec->table;
  spec->plans[0].columns = {0};
  return spec;
}

std::string CheckText(const Settings& settings, const Spec& spec) {
  return StatusText(GetDriver().Check(settings, spec.plans));
}

TEST(MysqlDriver, DescribesItself) {
  EXPECT_EQ(GetDriver().kind(), "mysql");
  EXPECT_EQ(GetDriver().operations().size(), 13u);
  EXPECT_TRUE(GetDriver().owns_tables());
  EXPECT_FALSE(GetDriver().pipelines());
}

TEST(MysqlDriver, ADatabaseIsNeeded) {
  const auto spec = MakeSpec();
  EXPECT_NE(CheckText(Settings(), *spec).find("database"), std::string::npos);
  EXPECT_EQ(CheckText(With({{"database", "test"}}), *spec), "");
  EXPECT_NE(CheckText(With({{"database", std::string(65, 'x')}}), *spec), "");
}

TEST(MysqlDriver, TransportUnixNeedsASocket) {
  const auto spec = MakeSpec();
  EXPECT_NE(CheckText(With({{"database", "test"}, {"transport", "unix"}}), *spec).find("socket:"),
            std::string::npos);
  EXPECT_EQ(CheckText(With({{"database", "test"}, {"transport", "unix"}, {"socket", "/s"}}), *spec),
            "");
  EXPECT_NE(CheckText(With({{"database", "test"},
                            {"transport", "unix"},
                            {"socket", "/" + std::string(200, 'x')}}),
                      *spec),
            "");
}

TEST(MysqlDriver, NamesThatCannotBeSentAreRefused) {
  const Settings settings = With({{"database", "test"}});
  auto spec = MakeSpec();
  spec->table.columns[0].name = std::string(65, 'x');
  EXPECT_NE(CheckText(settings, *spec).find("65 characters"), std::string::npos);
  spec = MakeSpec();
  spec->table.name = "t ";
  EXPECT_NE(CheckText(settings, *spec).find("end with a space"), std::string::npos);
  spec = MakeSpec();
  spec->table.engine = "InnoDB; DROP TABLE x";
  EXPECT_NE(CheckText(settings, *spec).find("engine"), std::string::npos);
}

TEST(MysqlDriver, RefusesWhatSqlCannotDo) {
  const Settings settings = With({{"database", "test"}});
  auto spec = MakeSpec();
  OperationPlan& plan = spec->plans[0];
  plan.kind = OperationKind::kDelete;
  plan.returning = true;
  EXPECT_NE(CheckText(settings, *spec).find("returning"), std::string::npos);
  plan.returning = false;
  plan.kind = OperationKind::kScan;
  plan.scan.columns = {0};
  EXPECT_EQ(CheckText(settings, *spec), "");
  plan.scan.in = {1, 2};
  EXPECT_NE(CheckText(settings, *spec).find("comparison: eq"), std::string::npos);
  plan.scan.in.clear();
  plan.scan.filters = {{0, Comparison::kLess, false, "9", true}};
  EXPECT_NE(CheckText(settings, *spec).find("only handlersocket"), std::string::npos);
  plan.kind = OperationKind::kInsert;
  plan.batch = 70'000;
  EXPECT_NE(CheckText(settings, *spec).find("70000 values"), std::string::npos);
}

TEST(MysqlDriver, NativeStatementsMustFitTheirParameters) {
  const Settings settings = With({{"database", "test"}});
  auto spec = MakeSpec();
  OperationPlan& plan = spec->plans[0];
  plan.kind = OperationKind::kNative;
  plan.table = nullptr;
  plan.statement = "SELECT ?, '?'";
  plan.parameters = 1;
  EXPECT_EQ(CheckText(settings, *spec), "");
  plan.parameters = 2;
  EXPECT_NE(CheckText(settings, *spec).find("1 question marks, but 2 parameters"),
            std::string::npos);
  plan.statement = "SELECT 'x";
  EXPECT_NE(CheckText(settings, *spec).find("does not end"), std::string::npos);
  plan.statement = ";";
  EXPECT_NE(CheckText(settings, *spec).find("empty"), std::string::npos);
}

TEST(MysqlDriver, AKeyNeedsItsCertificate) {
  const auto spec = MakeSpec();
  EXPECT_NE(CheckText(With({{"database", "d"}, {"tls", "true"}, {"tls.key", "/k"}}), *spec)
                .find("cert and key"),
            std::string::npos);
}

TEST(MysqlDriver, WarnsOfSettingsThatTheTransportLeavesUnused) {
  const std::vector<OperationPlan> none;
  EXPECT_TRUE(GetDriver().Warnings(With({{"host", "h"}, {"port", "1"}}), none).empty());
  EXPECT_EQ(GetDriver().Warnings(With({{"socket", "/s"}}), none).size(), 1u);
  EXPECT_EQ(GetDriver()
                .Warnings(With({{"transport", "unix"}, {"socket", "/s"}, {"port", "1"}}), none)
                .size(),
            1u);
}

TEST(ServerAddress, HasDefaultsAndALabel) {
  const auto plain = ReadServerAddress(With({{"database", "d"}}));
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(plain->label, "127.0.0.1:3306");
  EXPECT_EQ(plain->user, "root");
  const auto ipv6 = ReadServerAddress(With({{"database", "d"}, {"host", "::1"}, {"port", "7"}}));
  ASSERT_TRUE(ipv6.ok()) << ipv6.status();
  EXPECT_EQ(ipv6->label, "[::1]:7");
  EXPECT_FALSE(ReadServerAddress(With({{"database", "d"}, {"port", "0"}})).ok());
  EXPECT_FALSE(ReadServerAddress(With({{"database", "d"}, {"port", "65536"}})).ok());
}

TEST(ServerAddress, ResolvesToNumericAddresses) {
  auto address = ReadServerAddress(With({{"database", "d"}, {"host", "localhost"}}));
  ASSERT_TRUE(address.ok()) << address.status();
  const Status resolved = Resolve(&*address);
  ASSERT_TRUE(resolved.ok()) << resolved;
  ASSERT_FALSE(address->candidates.empty());
  for (const std::string& candidate : address->candidates) {
    EXPECT_TRUE(candidate == "127.0.0.1" || candidate == "::1") << candidate;
  }
  // Too long for a name: refused without asking a name server.
  address->host = std::string(300, 'x');
  EXPECT_FALSE(Resolve(&*address).ok());
}

}  // namespace
}  // namespace cavalry::drivers::mysql
