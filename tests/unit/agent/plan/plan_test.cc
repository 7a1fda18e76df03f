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

TEST(Settings, FlattenMessagesInMessages) {
  const Settings settings = ToSettings(Parse<v1::Mysql>(R"pb(
    database: "test"
    tls { ca: "/ca.pem" verify: false }
    client: MYSQL_CLIENT_BLOCKING
  )pb"));
  EXPECT_EQ(settings.Text("tls", ""), "true");
  EXPECT_EQ(settings.Text("tls.ca", ""), "/ca.pem");
  EXPECT_EQ(settings.Text("tls.verify", ""), "false");
  EXPECT_FALSE(settings.Has("tls.key"));
  EXPECT_EQ(settings.Text("client", ""), "blocking");
  EXPECT_FALSE(ToSettings(Parse<v1::Mysql>("")).Has("tls"));
  EXPECT_TRUE(ToSettings(Parse<v1::Mysql>("tls {}")).Has("tls"));
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
  return MakeColumnRule(Parse<v1::ValueRule>(text), *ParseColumnType(type), {"id"});
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
    EXPECT_FALSE(MakeColumnRule(rule, *ParseColumnType("varchar(25)"), {"id"}).ok()) << pattern;
  }
  v1::ValueRule widest;
  widest.set_pattern("{id:255}");
  EXPECT_TRUE(MakeColumnRule(widest, *ParseColumnType("varchar(255)"), {"id"}).ok());
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

TEST(TablePlan, NeedsAKeyAmongItsColumns) {
  v1::Table table = BaseAssignment().workload().tables(0);
  ASSERT_TRUE(MakeTablePlan(table, 1).ok());
  EXPECT_TRUE(MakeTablePlan(table, 1)->schema->key_is_number);
  table.set_primary_key(0, "other");
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  table.set_primary_key(0, "id");
  table.mutable_columns(0)->set_type("tinyint");
  EXPECT_TRUE(MakeTablePlan(table, 1).ok());
  table.set_rows(128);  // keys end at 127
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  table.mutable_columns(0)->set_type("bigint unsigned");
  table.set_rows(load::kMaxKey + 1);
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
}

TEST(TablePlan, KeysFollowFromTheRowsNumber) {
  v1::Table table = BaseAssignment().workload().tables(0);
  table.set_primary_key(0, "name");
  table.mutable_columns(3)->mutable_value()->set_pattern("Item#{key:09}");
  auto plan = MakeTablePlan(table, 1);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_FALSE(plan->schema->key_is_number);
  EXPECT_EQ(plan->schema->key_columns, (std::vector<std::uint32_t>{3}));
  table.add_primary_key("id");
  plan = MakeTablePlan(table, 1);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_FALSE(plan->schema->key_is_number);
  EXPECT_EQ(plan->schema->key_columns, (std::vector<std::uint32_t>{3, 0}));
  EXPECT_EQ(plan->rules[0].kind, load::RuleKind::kKey);
  table.add_primary_key("id");
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  table.clear_primary_key();
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  // The number itself, said as a rule.
  table.add_primary_key("id");
  table.mutable_columns(0)->mutable_value()->set_pattern("{key}");
  EXPECT_TRUE(MakeTablePlan(table, 1)->schema->key_is_number);
  table.mutable_columns(0)->mutable_value()->mutable_hashed();
  EXPECT_FALSE(MakeTablePlan(table, 1)->schema->key_is_number);
  table.mutable_columns(0)->mutable_value()->set_server("uuid_short()");
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
}

TEST(TablePlan, TakesOptionsIndexesAndDefaults) {
  v1::Table table = BaseAssignment().workload().tables(0);
  table.MergeFrom(Parse<v1::Table>(R"pb(
    charset: "latin1"
    collation: "latin1_bin"
    row_format: "COMPRESSED"
    partition_by: "HASH(id)"
    indexes { name: "by_qty" columns: "qty" columns: "id" unique: true }
    columns {
      name: "at"
      type: "datetime"
      value { server: "now()" }
    }
    columns { name: "n" type: "int" default: "0" }
  )pb"));
  table.mutable_columns(0)->set_auto_increment(true);
  auto plan = MakeTablePlan(table, 1);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  const drivers::TableSchema& schema = *plan->schema;
  EXPECT_EQ(schema.charset, "latin1");
  EXPECT_EQ(schema.collation, "latin1_bin");
  EXPECT_EQ(schema.row_format, "COMPRESSED");
  EXPECT_EQ(schema.partition_by, "HASH(id)");
  ASSERT_EQ(schema.indexes.size(), 1U);
  EXPECT_EQ(schema.indexes[0].columns, (std::vector<std::uint32_t>{1, 0}));
  EXPECT_TRUE(schema.indexes[0].unique);
  EXPECT_TRUE(schema.columns[0].auto_increment);
  EXPECT_EQ(schema.columns[4].server_sql, "now()");
  EXPECT_EQ(schema.columns[5].default_sql, "0");
  table.mutable_columns(1)->set_auto_increment(true);
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
  table.mutable_columns(1)->clear_auto_increment();
  table.mutable_indexes(0)->add_columns("nothing");
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
}

TEST(TablePlan, PatternsTakeNumbersOfColumnsWhateverTheirOrder) {
  v1::Table table = BaseAssignment().workload().tables(0);
  table.mutable_columns(2)->mutable_value()->set_pattern("{qty+10}-{digits:3}");
  const auto plan = MakeTablePlan(table, 1);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  const load::PatternPiece& piece = plan->rules[2].pattern[0];
  EXPECT_EQ(piece.insert, load::PatternPiece::Insert::kColumn);
  EXPECT_EQ(piece.column, 1U);
  EXPECT_EQ(piece.plus, 10U);
  EXPECT_EQ(piece.rule->high, 9U);
  table.mutable_columns(2)->mutable_value()->set_pattern("{name}");
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());  // no number
  table.mutable_columns(2)->mutable_value()->set_pattern("{note}");
  EXPECT_FALSE(MakeTablePlan(table, 1).ok());
}

TEST(TablePlan, NamesTheFileThatCannotBeRead) {
  v1::Table table = BaseAssignment().workload().tables(0);
  table.set_rows_from("/nonexistent/stock.tbl");
  const std::string error = StatusText(MakeTablePlan(table, 1).status());
  EXPECT_NE(error.find("stock: /nonexistent/stock.tbl"), std::string::npos) << error;
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

TEST(LoadPlan, TakesHowConnectionsAreUsed) {
  v1::Assignment assignment = With(BaseAssignment(), kReadStock);
  auto plan = MakeLoadPlan(assignment, 1, run::LoopKind::kAuto);
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE((*plan)->connect_per_iteration);
  EXPECT_FALSE((*plan)->pool_size);
  EXPECT_FALSE((*plan)->blocking_threads);
  EXPECT_EQ((*plan)->retries, 0U);
  assignment.set_pool_size(3);
  assignment.set_pool_overflow(2);
  assignment.set_trace(5);
  v1::Load* load = assignment.mutable_workload()->mutable_load();
  load->set_retries(4);
  load->set_think_time(7);
  load->set_connections(v1::CONNECTION_USE_PER_ITERATION);
  assignment.mutable_workload()->mutable_targets(0)->mutable_mysql()->set_threads(2);
  plan = MakeLoadPlan(assignment, 1, run::LoopKind::kAuto);
  ASSERT_TRUE(plan.ok()) << StatusText(plan.status());
  EXPECT_TRUE((*plan)->connect_per_iteration);
  EXPECT_EQ((*plan)->pool_size, 3U);
  EXPECT_EQ((*plan)->pool_overflow, 2U);
  EXPECT_EQ((*plan)->trace, 5U);
  EXPECT_EQ((*plan)->retries, 4U);
  EXPECT_EQ((*plan)->think_time, 7);
  EXPECT_EQ((*plan)->blocking_threads, 2U);
  load->set_retries(4'000'000);
  EXPECT_NE(ErrorOf(assignment), "ok");
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

drivers::OperationPlan Operation(const std::string& text) {
  const auto set =
      MakeOperationSet(With(BaseAssignment(), "operations { name: 'a' " + text + " }").workload());
  EXPECT_TRUE(set.ok()) << text << StatusText(set.status());
  return set.ok() ? set->operations.at(0) : drivers::OperationPlan();
}

std::string OperationError(const std::string& text) {
  return StatusText(
      MakeOperationSet(With(BaseAssignment(), "operations { name: 'a' " + text + " }").workload())
          .status());
}

using Columns = std::vector<std::uint32_t>;

TEST(OperationSet, MakesMultiReadsAndScans) {
  const auto read = Operation("multi_read { table: 'stock' columns: 'qty' count: 7 }");
  EXPECT_EQ(read.kind, drivers::OperationKind::kMultiRead);
  EXPECT_EQ(read.batch, 7U);
  EXPECT_EQ(read.columns, (Columns{1}));
  EXPECT_EQ(Operation("multi_read { table: 'stock' }").batch, 10U);
  const auto scan = Operation(
      "scan { table: 'stock' comparison: COMPARISON_LT limit: 5 offset: 2 in: 10 in: 20 filters { "
      "column: 'qty' value: '3' comparison: COMPARISON_NE ends_scan: true } filters { column: "
      "'note' } }");
  EXPECT_EQ(scan.kind, drivers::OperationKind::kScan);
  EXPECT_EQ(scan.columns, (Columns{0, 1, 2, 3}));
  EXPECT_EQ(scan.scan.columns, (Columns{0}));
  EXPECT_EQ(scan.scan.comparison, drivers::Comparison::kLess);
  EXPECT_EQ(scan.scan.limit, 5U);
  EXPECT_EQ(scan.scan.offset, 2U);
  EXPECT_EQ(scan.scan.in, (std::vector<std::uint64_t>{10, 20}));
  ASSERT_EQ(scan.scan.filters.size(), 2U);
  EXPECT_EQ(scan.scan.filters[0].comparison, drivers::Comparison::kNotEqual);
  EXPECT_EQ(scan.scan.filters[0].value, "3");
  EXPECT_TRUE(scan.scan.filters[0].ends_scan);
  EXPECT_FALSE(scan.scan.filters[0].is_null);
  EXPECT_TRUE(scan.scan.filters[1].is_null);
  EXPECT_NE(OperationError("multi_read { table: 'stock' count: 0 }"), "");
  EXPECT_NE(OperationError("multi_read { table: 'stock' count: 4000000 }"), "");
  EXPECT_NE(OperationError("scan { table: 'stock' index: 'x' }"), "");
  EXPECT_NE(OperationError("scan { table: 'stock' parts: 2 }"), "");
  EXPECT_NE(OperationError("scan { table: 'stock' limit: 0 }"), "");
  EXPECT_NE(OperationError("scan { table: 'stock' comparison: COMPARISON_NE }"), "");
  EXPECT_NE(OperationError("scan { table: 'stock' filters { column: 'qty' comparison: "
                           "COMPARISON_LT } }"),
            "");
}

TEST(OperationSet, ScansOtherIndexes) {
  v1::Workload workload =
      With(BaseAssignment(),
           "operations { name: 'a' scan { table: 'stock' index: 'by' parts: 1 } }")
          .workload();
  v1::Index* index = workload.mutable_tables(0)->add_indexes();
  index->set_name("by");
  index->add_columns("qty");
  index->add_columns("note");
  const auto set = MakeOperationSet(workload);
  ASSERT_TRUE(set.ok()) << StatusText(set.status());
  EXPECT_EQ(set->operations[0].scan.index, "by");
  EXPECT_EQ(set->operations[0].scan.columns, (Columns{1}));
}

TEST(OperationSet, MakesWritesOfEveryKind) {
  const auto insert = Operation("insert { table: 'stock' batch: 5 columns: ['id', 'qty'] }");
  EXPECT_EQ(insert.batch, 5U);
  EXPECT_EQ(insert.columns, (Columns{0, 1}));
  EXPECT_TRUE(insert.server_values.empty());
  EXPECT_NE(OperationError("insert { table: 'stock' columns: 'qty' }"), "");  // no key
  EXPECT_NE(OperationError("insert { table: 'stock' columns: ['id', 'id'] }"), "");
  EXPECT_NE(OperationError("insert { table: 'stock' batch: 0 }"), "");
  const auto update = Operation(
      "update { table: 'stock' set { column: 'qty' value { server: 'qty + 2' } } set { column: "
      "'note' } returning: true }");
  EXPECT_EQ(update.server_values, (std::vector<std::string>{"qty + 2", ""}));
  EXPECT_TRUE(update.returning);
  const auto add = Operation("increment { table: 'stock' column: 'qty' by: -3 returning: true }");
  EXPECT_EQ(add.kind, drivers::OperationKind::kIncrement);
  EXPECT_EQ(add.columns, (Columns{1}));
  EXPECT_EQ(add.amount, -3);
  EXPECT_TRUE(add.returning);
  EXPECT_NE(OperationError("increment { table: 'stock' column: 'note' }"), "");
  EXPECT_NE(OperationError("increment { table: 'stock' column: 'id' }"), "");
  EXPECT_NE(OperationError("increment { table: 'stock' }"), "");
  EXPECT_TRUE(Operation("delete { table: 'stock' returning: true }").returning);
}

TEST(OperationSet, MakesOperationsWithoutTables) {
  EXPECT_EQ(Operation("begin {}").kind, drivers::OperationKind::kBegin);
  EXPECT_EQ(Operation("begin {}").table, nullptr);
  EXPECT_EQ(Operation("commit {}").kind, drivers::OperationKind::kCommit);
  EXPECT_EQ(Operation("rollback {}").kind, drivers::OperationKind::kRollback);
  EXPECT_EQ(Operation("reset_connection {}").kind, drivers::OperationKind::kResetConnection);
  EXPECT_EQ(Operation("change_user {}").kind, drivers::OperationKind::kChangeUser);
  const auto native =
      Operation("native { statement: 'SELECT ?' parameters { value { constant: 'x' } } }");
  EXPECT_EQ(native.statement, "SELECT ?");
  EXPECT_EQ(native.parameters, 1U);
  EXPECT_NE(OperationError("native {}"), "");
}

TEST(OperationSet, UpdatesThatReplaceRowsWriteAllColumns) {
  const auto set =
      MakeOperationSet(With(BaseAssignment(),
                            "operations { name: 'a' update { table: 'stock' set { column: 'note' "
                            "value { server: 'now()' } } } }")
                           .workload(),
                       true);
  ASSERT_TRUE(set.ok()) << StatusText(set.status());
  EXPECT_EQ(set->operations[0].columns, (Columns{2, 1, 3}));
  EXPECT_EQ(set->operations[0].server_values, (std::vector<std::string>{"now()", "", ""}));
}

TEST(OperationSet, LeavesSleepsOut) {
  const auto set = MakeOperationSet(With(BaseAssignment(), R"pb(
                                      operations {
                                        name: "a"
                                        begin {}
                                      }
                                      operations {
                                        name: "b"
                                        sleep { duration: 5 }
                                      }
                                    )pb")
                                        .workload());
  ASSERT_TRUE(set.ok());
  EXPECT_EQ(set->operations.size(), 1U);
  // In between they would shift the indexes of others.
  EXPECT_NE(OperationError("sleep { duration: 5 } } operations { name: 'b' begin {}"), "");
}

}  // namespace
}  // namespace cavalry::agent
