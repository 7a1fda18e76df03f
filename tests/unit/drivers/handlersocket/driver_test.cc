#include "drivers/handlersocket/handlersocket_driver.h"

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "tests/unit/drivers/handlersocket/conversation.h"

namespace cavalry::drivers::handlersocket {
namespace {

Settings SettingsOf(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Settings settings;
  for (const auto& [name, value] : pairs) settings.Add({.name = name, .value = value});
  return settings;
}

std::unique_ptr<CodecFactory> FactoryOf(const Settings& settings,
                                        const std::vector<OperationPlan>& operations) {
  ClientConfig config;
  config.settings = &settings;
  config.operations = &operations;
  auto factory = GetDriver().NewClientFactory(config);
  EXPECT_TRUE(factory.ok()) << StatusText(factory.status());
  return std::get<std::unique_ptr<CodecFactory>>(std::move(*factory));
}

std::string CheckText(const Settings& settings, const std::vector<OperationPlan>& operations) {
  return StatusText(GetDriver().Check(settings, operations));
}

TEST(Driver, SaysWhatItCan) {
  const Driver& driver = GetDriver();
  EXPECT_EQ(driver.kind(), "handlersocket");
  EXPECT_EQ(driver.operations().size(), 7U);
  EXPECT_TRUE(driver.pipelines());
  EXPECT_FALSE(driver.owns_tables());
  EXPECT_EQ(driver.files_per_session(), 2U);
  EXPECT_FALSE(driver.NewAdmin(Settings()).ok());
}

TEST(Factory, HasOnlyTheEndpointsThatOperationsUse) {
  const Settings settings = SettingsOf({{"database", "test"}});
  SamplePlans plans;
  Operation operation;

  const auto both = FactoryOf(settings, plans.all());
  ASSERT_EQ(both->endpoints().size(), 2U);
  EXPECT_EQ(both->endpoints()[0].host, "127.0.0.1");
  EXPECT_EQ(both->endpoints()[0].port, 9998);
  EXPECT_EQ(both->endpoints()[0].label, "127.0.0.1:9998 (handlersocket read)");
  EXPECT_EQ(both->endpoints()[1].port, 9999);
  EXPECT_EQ(both->endpoints()[1].label, "127.0.0.1:9999 (handlersocket write)");
  for (const OperationPlan& plan : plans.all()) {
    operation.plan = &plan;
    EXPECT_EQ(both->NewRouter()->First(operation), plan.kind == OperationKind::kRead ? 0U : 1U);
    EXPECT_EQ(both->EndpointsOf(plan),
              std::vector<std::size_t>{plan.kind == OperationKind::kRead ? 0U : 1U});
  }

  SamplePlans reads;
  reads.all().resize(1);
  const auto reading = FactoryOf(settings, reads.all());
  ASSERT_EQ(reading->endpoints().size(), 1U);
  EXPECT_EQ(reading->endpoints()[0].port, 9998);

  SamplePlans writes;
  writes.all().erase(writes.all().begin());
  writes.all().resize(2);
  for (std::uint32_t i = 0; i < 2; ++i) writes.all()[i].index = i;
  const auto writing = FactoryOf(settings, writes.all());
  ASSERT_EQ(writing->endpoints().size(), 1U);
  EXPECT_EQ(writing->endpoints()[0].port, 9999);
  operation.plan = &writes.all()[1];
  EXPECT_EQ(writing->NewRouter()->First(operation), 0U);
}

TEST(Factory, TakesItsSettings) {
  const Settings settings = SettingsOf({{"host", "::1"},
                                        {"port", "19998"},
                                        {"write_port", "19999"},
                                        {"secret", "rd"},
                                        {"write_secret", "wr"},
                                        {"database", "shop"}});
  SamplePlans plans;
  const auto factory = FactoryOf(settings, plans.all());
  EXPECT_EQ(factory->endpoints()[0].label, "[::1]:19998 (handlersocket read)");
  EXPECT_EQ(factory->endpoints()[1].label, "[::1]:19999 (handlersocket write)");
  for (const std::size_t endpoint : {0, 1}) {
    const auto codec = factory->NewCodec(endpoint);
    ByteBuffer out;
    codec->Start(out);
    const std::string begin = endpoint == 0 ? "A\t1\trd\nP\t0\tshop\t" : "A\t1\twr\nP\t0\tshop\t";
    EXPECT_EQ(out.view().substr(0, begin.size()), begin);
  }
}

TEST(Factory, TheWriteSecretIsByDefaultTheSecret) {
  const Settings settings = SettingsOf({{"secret", "same"}, {"database", "test"}});
  SamplePlans plans;
  const auto factory = FactoryOf(settings, plans.all());
  const auto codec = factory->NewCodec(1);
  ByteBuffer out;
  codec->Start(out);
  EXPECT_EQ(out.view().substr(0, 9), "A\t1\tsame\n");
}

TEST(Factory, NeedsADatabase) {
  SamplePlans plans;
  const Settings settings;
  ClientConfig config;
  config.settings = &settings;
  config.operations = &plans.all();
  const auto factory = GetDriver().NewClientFactory(config);
  EXPECT_FALSE(factory.ok());
  EXPECT_NE(StatusText(factory.status()).find("tables_of"), std::string::npos);
}

TEST(Check, AcceptsWhatCanBeSent) {
  SamplePlans plans;
  EXPECT_EQ(CheckText(SettingsOf({{"database", "test"}}), plans.all()), "");
  EXPECT_EQ(CheckText(Settings(), plans.all()), "");
  // C27: the read port for writes is the server's to refuse.
  EXPECT_EQ(CheckText(SettingsOf({{"write_port", "9998"}}), plans.all()), "");
}

TEST(Check, RefusesNamesThatCannotBeSent) {
  {
    SamplePlans plans;
    plans.table().name = "two\nlines";
    EXPECT_NE(CheckText(Settings(), plans.all()).find("table \"two\nlines\""), std::string::npos);
  }
  {
    SamplePlans plans;
    plans.table().columns[1].name = "a,b";
    const std::string text = CheckText(Settings(), plans.all());
    EXPECT_NE(text.find("operation find: column \"a,b\" holds a comma"), std::string::npos) << text;
  }
  {
    SamplePlans plans;
    plans.table().columns[2].name = "a\tb";
    EXPECT_NE(CheckText(Settings(), plans.all()).find("column \"a\tb\""), std::string::npos);
  }
  {
    // Only a delete: its key column is sent too.
    SamplePlans plans;
    plans.table().columns[0].name = "k\x01";
    std::vector<OperationPlan> deletes = {plans.all()[SamplePlans::kDrop]};
    EXPECT_NE(CheckText(Settings(), deletes), "");
  }
  SamplePlans plans;
  EXPECT_NE(CheckText(SettingsOf({{"database", "a\tb"}}), plans.all()).find("database"),
            std::string::npos);
  plans.table().name.clear();
  EXPECT_NE(CheckText(Settings(), plans.all()), "");
}

TEST(Check, RefusesPlansThatItCannotDo) {
  {
    SamplePlans plans;
    plans.all()[SamplePlans::kFind].columns.clear();
    EXPECT_NE(CheckText(Settings(), plans.all()).find("operation find"), std::string::npos);
  }
  {
    SamplePlans plans;
    plans.all()[SamplePlans::kGet].columns = {99};
    EXPECT_NE(CheckText(Settings(), plans.all()).find("operation get"), std::string::npos);
  }
}

TEST(Check, RefusesSettingsThatCannotBe) {
  SamplePlans plans;
  EXPECT_NE(CheckText(SettingsOf({{"port", "0"}}), plans.all()).find("port: 0"), std::string::npos);
  EXPECT_NE(CheckText(SettingsOf({{"write_port", "65536"}}), plans.all()).find("write_port: 65536"),
            std::string::npos);
  EXPECT_NE(CheckText(SettingsOf({{"host", ""}}), plans.all()), "");
  const std::string text = CheckText(SettingsOf({{"secret", "top\n"}}), plans.all());
  EXPECT_NE(text.find("secret holds a control character"), std::string::npos);
  EXPECT_EQ(text.find("top"), std::string::npos) << "a secret is never shown";
}

TEST(Warnings, OfTablesOfOthers) {
  SamplePlans plans;
  EXPECT_TRUE(GetDriver().Warnings(Settings(), plans.all()).empty());
  plans.table().use_as_is = true;
  const auto warnings = GetDriver().Warnings(Settings(), plans.all());
  // One for each operation, one more for the three writes.
  ASSERT_EQ(warnings.size(), 5U + 3U);
  EXPECT_EQ(
      warnings[0],
      "operation find: make sure that customer is no view: HandlerSocket ends the whole server "
      "when it opens one");
  EXPECT_EQ(warnings[2].substr(0, 43), "operation add: HandlerSocket runs no trigge");
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
