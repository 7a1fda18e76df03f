#include "agent/plan.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "agent/target_plan.h"
#include "tests/unit/agent/messages.h"

namespace cavalry::agent {
namespace {

constexpr char kReadStock[] = R"pb(
  operations {
    name: "find"
    read {
      table: "stock"
      keys { uniform {} }
    }
  }
  script { steps { operation: "find" } }
)pb";

std::string ErrorOf(const v1::Assignment& assignment) {
  const auto plan = MakeLoadPlan(assignment, 2, run::LoopKind::kAuto);
  return plan.ok() ? "ok" : StatusText(plan.status());
}

TEST(Settings, FollowTheMessageByReflection) {
  auto options = Parse<v1::Mysql>(R"pb(
    host: "db1"
    port: 3307
    transport: TRANSPORT_UNIX
    password { value: "secret" }
    database: "test"
    statements: STATEMENTS_PREPARED
  )pb");
  Settings settings = ToSettings(options);
  ASSERT_EQ(settings.all().size(), 6U);
  EXPECT_EQ(settings.all()[0].name, "host");
  EXPECT_EQ(settings.all()[0].value, "db1");
  EXPECT_EQ(settings.Number("port", 0), 3307U);
  EXPECT_EQ(settings.Text("transport", ""), "unix");
  EXPECT_EQ(settings.Text("statements", ""), "prepared");
  EXPECT_FALSE(settings.Has("socket"));
  for (const Setting& setting : settings.all()) {
    EXPECT_EQ(setting.secret, setting.name == "password");
    EXPECT_EQ(setting.from, "");
  }
  options.mutable_password()->set_from("other");
  options.set_transport(static_cast<v1::Transport>(77));  // a newer coordinator's
  settings = ToSettings(options);
  EXPECT_EQ(settings.Text("password", "?"), "");
  bool found = false;
  for (const Setting& setting : settings.all()) found = found || setting.from == "other";
  EXPECT_TRUE(found);
}

TEST(TargetPlan, TakesTheOwnersDatabase) {
  v1::Assignment assignment = BaseAssignment();
  assignment.mutable_workload()->mutable_targets(1)->mutable_handlersocket()->clear_database();
  const auto plan = MakeTargetPlan(assignment.workload(), "hs");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->owner, "sql");
  EXPECT_EQ(plan->settings.Text("database", ""), "test");
  EXPECT_EQ(plan->driver->kind(), "handlersocket");
}

TEST(TargetPlan, RefusesOwnersInACircle) {
  v1::Assignment assignment = BaseAssignment();
  v1::Workload* workload = assignment.mutable_workload();
  workload->mutable_targets(0)->set_tables_of("hs");
  workload->mutable_targets(0)->mutable_mysql()->clear_database();
  workload->mutable_targets(1)->mutable_handlersocket()->clear_database();
  EXPECT_FALSE(MakeTargetPlan(*workload, "sql").ok());
  EXPECT_FALSE(MakeTargetPlan(*workload, "hs").ok());
  workload->mutable_targets(1)->set_tables_of("nobody");
  EXPECT_FALSE(MakeTargetPlan(*workload, "hs").ok());
}

TEST(TargetPlan, NamesWhatIsMissing) {
  v1::Assignment assignment = BaseAssignment();
  EXPECT_NE(StatusText(MakeTargetPlan(assignment.workload(), "db9").status()).find("db9"),
            std::string::npos);
  assignment.mutable_workload()->mutable_targets(0)->clear_kind();
  EXPECT_FALSE(MakeTargetPlan(assignment.workload(), "sql").ok());
}

StatusOr<load::ColumnRule> Rule(const std::string& text, const std::string& type) {
  return MakeColumnRule(Parse<v1::ValueRule>(text), *ParseColumnType(type), "id");
}

TEST(ColumnRule, ParsesPatterns) {
  const auto rule = Rule(R"pb(pattern: "a{id:09}{{b}}{version}}")pb", "varchar(25)");
  ASSERT_TRUE(rule.ok());
  using Insert = load::PatternPiece::Insert;
  ASSERT_EQ(rule->pattern.size(), 3U);
  EXPECT_EQ(rule->pattern[0].literal, "a");
  EXPECT_EQ(rule->pattern[0].insert, Insert::kKey);
  EXPECT_EQ(rule->pattern[0].width, 9U);
  EXPECT_EQ(rule->pattern[1].literal, "{b}");
  EXPECT_EQ(rule->pattern[1].insert, Insert::kVersion);
  EXPECT_EQ(rule->pattern[1].width, 0U);
  EXPECT_EQ(rule->pattern[2].literal, "}");
  EXPECT_EQ(rule->pattern[2].insert, Insert::kNothing);
}

TEST(ColumnRule, RefusesWhatNoPatternIs) {
  for (const char* pattern : {"{", "a{id", "{other}", "{id:9x}", "{id:256}", "{id:99999999999}",
                              "{id:-1}", "{}", "{:5}"}) {
    v1::ValueRule rule;
    rule.set_pattern(pattern);
    EXPECT_FALSE(MakeColumnRule(rule, *ParseColumnType("varchar(25)"), "id").ok()) << pattern;
  }
  v1::ValueRule widest;
  widest.set_pattern("{id:255}");
  EXPECT_TRUE(MakeColumnRule(widest, *ParseColumnType("varchar(255)"), "id").ok());
}

TEST(ColumnRule, BoundsItsRanges) {
  EXPECT_FALSE(Rule("random_int { range { first: 5 last: 4 } }", "int").ok());
  EXPECT_FALSE(Rule("random_text { length { first: 5 last: 4 } }", "text").ok());
  EXPECT_FALSE(Rule("random_text { length { first: 5 last: 65536 } }", "text").ok());
  EXPECT_FALSE(Rule(R"pb(random_text { alphabet: "\303\244" })pb", "text").ok());
  EXPECT_TRUE(Rule("random_int { range { last: 18446744073709551615 } }", "bigint").ok());
  EXPECT_EQ(Rule("random_int {}", "tinyint")->high, 127U);
  EXPECT_EQ(Rule("random_int {}", "bigint")->high, 2'147'483'647U);
  EXPECT_EQ(Rule("random_int {}", "varchar(20)")->high, 2'147'483'647U);
  EXPECT_EQ(Rule("random_int {}", "decimal(15,2)")->high, 2'147'483'647U);
  EXPECT_EQ(Rule("random_text {}", "varchar(20)")->high, 20U);
  EXPECT_EQ(Rule("random_text {}", "text")->high, 1'024U);
  EXPECT_EQ(Rule("random_text {}", "int")->high, 0U);
}

TEST(TablePlan, NeedsAnIntegerKeyAmongItsColumns) {
  v1::Table table = BaseAssignment().workload().tables(0);
  ASSERT_TRUE(MakeTablePlan(table, 1).ok());
  table.set_primary_key("name");
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  table.set_primary_key("other");
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  table.set_primary_key("id");
  table.mutable_columns(0)->set_type("tinyint");
  EXPECT_TRUE(MakeTablePlan(table, 1).ok());
  table.set_rows(128);  // keys end at 127
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  table.mutable_columns(0)->set_type("bigint unsigned");
  table.set_rows(load::kMaxKey + 1);
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
}

TEST(TablePlan, BoundsColumnsAndRows) {
  v1::Table table = BaseAssignment().workload().tables(0);
  v1::ColumnSpec wide = table.columns(2);
  wide.set_type("text");
  wide.mutable_value()->mutable_random_text()->mutable_length()->set_last(65'535);
  for (int i = 0; i < 300; ++i) *table.add_columns() = wide;
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  table = BaseAssignment().workload().tables(0);
  for (int i = 0; i < 4'096; ++i) *table.add_columns() = table.columns(1);
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
}

TEST(TablePlan, HashesWhatMakesItsRows) {
  v1::Table table = BaseAssignment().workload().tables(0);
  const std::uint64_t hash = MakeTablePlan(table, 1)->schema->schema_hash;
  EXPECT_NE(MakeTablePlan(table, 2)->schema->schema_hash, hash);
  table.set_rows(7);
  table.set_existing(v1::EXISTING_USE);
  EXPECT_EQ(MakeTablePlan(table, 1)->schema->schema_hash, hash);
  table.mutable_columns(2)->mutable_value()->mutable_random_text()->set_alphabet("ab");
  EXPECT_NE(MakeTablePlan(table, 1)->schema->schema_hash, hash);
}

TEST(LoadPlan, TakesNumbersAndTimes) {
  v1::Assignment assignment = With(BaseAssignment(), kReadStock);
  v1::Load* load = assignment.mutable_workload()->mutable_load();
  load->set_operation_timeout(5);
  load->set_warmup(7);
  assignment.mutable_numbers()->set_first(3);
  assignment.mutable_numbers()->set_stride(2);
  const auto plan = MakeLoadPlan(assignment, 0, run::LoopKind::kEpoll);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_EQ((*plan)->operation_timeout, 5);
  EXPECT_EQ((*plan)->warmup, 7);
  EXPECT_EQ((*plan)->duration, kSecond);
  EXPECT_EQ((*plan)->numbers.first, 3U);
  EXPECT_EQ((*plan)->numbers.stride, 2U);
  EXPECT_FALSE((*plan)->numbers.count);
  EXPECT_EQ((*plan)->workers, 1U);
  EXPECT_EQ((*plan)->loop, run::LoopKind::kEpoll);
  EXPECT_TRUE((*plan)->response_is_service());
}

TEST(LoadPlan, RefusesLoadsThatCannotBe) {
  const v1::Assignment good = With(BaseAssignment(), kReadStock);
  ASSERT_EQ(ErrorOf(good), "ok");
  const auto refused = [&](const std::string& what, auto change) {
    v1::Assignment bad = good;
    change(&bad, bad.mutable_workload()->mutable_load());
    EXPECT_NE(ErrorOf(bad), "ok") << what;
  };
  using A = v1::Assignment;
  using L = v1::Load;
  const std::uint64_t most = ~std::uint64_t{0};
  refused("no sessions", [](A* a, L*) { a->clear_sessions(); });
  refused("sessions beyond the total", [](A* a, L*) { a->set_first_session(1); });
  refused("session numbers that wrap", [](A* a, L*) { a->set_first_session(0xffffffff); });
  refused("too many sessions", [](A*, L* load) { load->set_sessions(2'000'000); });
  refused("no end", [](A*, L* load) { load->clear_stop_after(); });
  refused("warm-up of a hundred years", [&](A*, L* load) { load->set_warmup(most); });
  refused("endless drain", [&](A*, L* load) { load->set_drain_timeout(most); });
  refused("endless duration", [&](A*, L* load) { load->mutable_stop_after()->set_duration(most); });
  refused("numbers at the end", [&](A* a, L*) { a->mutable_numbers()->set_first(most); });
  refused("versions at the end", [&](A* a, L*) { a->set_next_version(most); });
  refused("keys at the end", [&](A* a, L*) { a->mutable_next_keys(0)->set_key(most); });
  refused("no such target", [](A* a, L*) { a->set_target("x"); });
  refused("a deep pipeline", [](A* a, L* load) {
    a->set_target("hs");
    load->set_pipeline(4'000'000);
  });
  refused("a counted warm-up without numbers", [](A* a, L* load) {
    a->mutable_numbers()->set_count(5);
    load->set_warmup(1);
  });
}

TEST(LoadPlan, PipelinesWhereTheDriverDoes) {
  v1::Assignment assignment = With(BaseAssignment(), kReadStock);
  assignment.mutable_workload()->mutable_load()->set_pipeline(3);
  for (const auto& [target, pipeline] : {std::pair{"sql", 1U}, {"hs", 3U}}) {
    assignment.set_target(target);
    const auto plan = MakeLoadPlan(assignment, 1, run::LoopKind::kEpoll);
    ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
    EXPECT_EQ((*plan)->pipeline, pipeline) << target;
  }
}

TEST(LoadPlan, CountsWithoutDuration) {
  v1::Assignment assignment = With(BaseAssignment(), kReadStock);
  assignment.mutable_workload()->mutable_load()->clear_stop_after();
  assignment.mutable_numbers()->set_count(0);
  const auto plan = MakeLoadPlan(assignment, 1, run::LoopKind::kAuto);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ((*plan)->numbers.count, 0U);
  EXPECT_FALSE((*plan)->duration);
}

TEST(LoadPlan, KeepsTheConnectRateWithinReason) {
  v1::Assignment assignment = With(BaseAssignment(), kReadStock);
  const auto rate = [&](double wanted) {
    assignment.set_connect_rate(wanted);
    return (*MakeLoadPlan(assignment, 1, run::LoopKind::kAuto))->connect_rate;
  };
  EXPECT_EQ(rate(100), 100);
  for (const double odd : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(rate(odd), run::LoadPlan().connect_rate);
  }
  EXPECT_GE(rate(std::numeric_limits<double>::denorm_min()), 0.001);
  EXPECT_LE(rate(1e300), 1e6);
}

TEST(OperationSet, RefusesWhatNoTableHas) {
  const auto error = [](const std::string& operation) {
    return StatusText(MakeOperationSet(With(BaseAssignment(), operation).workload()).status());
  };
  EXPECT_EQ(error(R"pb(operations {
                         name: "a"
                         read { table: "stock" }
                       })pb"),
            "");
  EXPECT_NE(error(R"pb(operations {
                         name: "a"
                         read { table: "x" }
                       })pb"),
            "");
  EXPECT_NE(error(R"pb(operations { name: "a" })pb"), "");
  EXPECT_NE(error(R"pb(operations {
                         name: "a"
                         read { table: "stock" columns: "x" }
                       })pb"),
            "");
  EXPECT_NE(error(R"pb(operations {
                         name: "a"
                         update { table: "stock" }
                       })pb"),
            "");
  EXPECT_NE(error(R"pb(operations {
                         name: "a"
                         update {
                           table: "stock"
                           set { column: "x" }
                         }
                       })pb"),
            "");
  EXPECT_NE(error(R"pb(operations {
                         name: "a"
                         update {
                           table: "stock"
                           set { column: "id" }
                         }
                       })pb"),
            "");
}

}  // namespace
}  // namespace cavalry::agent
