#include <gtest/gtest.h>

#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"
#include "spec_texts.h"

namespace cavalry::spec {
namespace {

v1::Workload Filled(std::string_view text) {
  v1::Workload workload = MustParse(text).workload;
  ApplyDefaults(&workload);
  return workload;
}

const char* const kSmall =
    "targets: { s: { mysql: { database: d } } }\n"
    "tables: { t: { rows: 100, primary_key: id, columns: { id: { type: int }, a: { type: "
    "varchar(9) }, b: { type: tinyint }, c: { type: bigint }, d: { type: date }, e: { type: text "
    "}, "
    "f: { type: char(1) } } } }\n"
    "operations: { get: read, put: { update: { set: { a: {}, d: {}, b: random_int } } }, del: "
    "delete, add: insert }\n";

TEST(Defaults, AreWrittenAsTheCommentsSay) {
  EXPECT_EQ(WriteSpec(Filled(kSmall)), R"(name: unnamed
targets:
  s:
    tables_of: s
    load: true
    mysql:
      host: 127.0.0.1
      port: 3306
      transport: tcp
      user: root
      database: d
      statements: text
      client: nonblocking
tables:
  t:
    rows: 100
    primary_key: [id]
    columns:
      id: { type: int }
      a:
        type: varchar(9)
        value:
          random_text:
            length: 4..9
            alphabet: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
      b: { type: tinyint, value: { random_int: 0..127 } }
      c: { type: bigint, value: { random_int: 0..2147483647 } }
      d: { type: date }
      e:
        type: text
        value:
          random_text:
            length: 512..1024
            alphabet: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
      f:
        type: char(1)
        value:
          random_text:
            length: 1..1
            alphabet: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
    existing: refuse
    engine: InnoDB
operations:
  get:
    read:
      table: t
      columns: [id, a, b, c, d, e, f]
      keys: { uniform: 1..100 }
      verify: sampled
  put:
    update:
      table: t
      keys: { uniform: 1..100 }
      set:
        a:
          value:
            random_text:
              length: 4..9
              alphabet: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 "
        d: {}
        b: { value: { random_int: 0..127 } }
  del: { delete: { table: t, keys: { sequential: 1..100 } } }
  add: { insert: { table: t, batch: 1, columns: [id, a, b, c, d, e, f] } }
script: { name: script, steps: [{ get: 1 }, { put: 1 }, { del: 1 }, { add: 1 }] }
load:
  sessions: 1
  warmup: 5s
  stop_after: { duration: 30s }
  operation_timeout: 10s
  connect_timeout: 5s
  drain_timeout: 5s
  pipeline: 1
  connect_rate: 2000
  retries: 0
  connections: kept
  think_time: 0s
rounds: 1
order: mirrored
compare: { targets: [s], metric: throughput }
thresholds: ["failed < 1%"]
reset: run
cleanup: keep
audit: { enabled: true, list: 10 }
seed: 42
)");
}

TEST(Defaults, AreIdempotent) {
  v1::Workload once = Filled(kSmall);
  v1::Workload twice = once;
  ApplyDefaults(&twice);
  EXPECT_EQ(once.SerializeAsString(), twice.SerializeAsString());
}

TEST(Defaults, OverrideNothing) {
  for (const std::string& file : ConfigFiles()) {
    SetConfigEnvironment();
    v1::Workload workload = LoadSpec(file)->workload;
    v1::Workload filled = workload;
    ApplyDefaults(&filled);
    // Scalars of `workload` win over those of `filled`: had a default replaced one, it would change
    // back. Lists would double, so their sizes are compared alone.
    EXPECT_EQ(filled.name(), workload.name());
    EXPECT_EQ(filled.targets_size(), workload.targets_size());
    EXPECT_GE(filled.operations_size(), workload.operations_size());  // those that need no listing
    v1::Load merged = filled.load();
    merged.MergeFrom(workload.load());
    EXPECT_EQ(merged.SerializeAsString(), filled.load().SerializeAsString()) << file;
  }
}

TEST(Defaults, OfHandlersocketFollowItsOwner) {
  const v1::Workload workload = Filled(GoodSpec());
  const v1::Handlersocket& options = workload.targets(1).handlersocket();
  EXPECT_EQ(options.database(), "test");
  EXPECT_EQ(options.port(), 9998u);
  EXPECT_EQ(options.write_port(), 9999u);
  EXPECT_EQ(options.write_secret().from(), "sql");
  EXPECT_EQ(OwnerOf(workload.targets(1)), "sql");
  EXPECT_EQ(OwnerOf(workload.targets(0)), "sql");
}

TEST(Defaults, OfScriptAndRounds) {
  EXPECT_EQ(Filled(GoodSpec()).rounds(), 2u);
  EXPECT_EQ(Filled(GoodSpec() + "rounds: 5\n").rounds(), 5u);
  const v1::Workload one = Filled(
      "tables: { t: { rows: 1, primary_key: i, columns: { i: { type: int } } } }\n"
      "operations: { find: read }\n");
  EXPECT_EQ(one.script().name(), "find");
  EXPECT_FALSE(one.audit().enabled());
}

TEST(Defaults, CountLoadedTargetsOnly) {
  const v1::Workload workload = Filled(Changed("    mysql: { database: test }\n",
                                               "    mysql: { database: test }\n    load: false\n"));
  EXPECT_EQ(workload.rounds(), 1u);
  ASSERT_EQ(workload.compare().targets_size(), 1);
  EXPECT_EQ(workload.compare().targets(0), "hs");
  EXPECT_FALSE(IsLoaded(workload.targets(0)));
  EXPECT_TRUE(IsLoaded(workload.targets(1)));
  EXPECT_EQ(TableOwners(workload), std::vector<std::string>{"sql"});
}

TEST(Defaults, OfThresholdsAreSwitchedOffByNaming) {
  EXPECT_EQ(Filled(GoodSpec()).thresholds(1), "failed < 1%");
  EXPECT_EQ(Filled(Changed("p99(find) < 5ms", "failed(find) < 5%")).thresholds_size(), 1);
}

const char* const kTable =
    "tables: { t: { rows: 100, primary_key: id, columns: { id: { type: int }, n: { type: int } } } "
    "}\n";

std::vector<std::string> Names(const v1::Workload& workload) {
  std::vector<std::string> names;
  for (const v1::OperationSpec& operation : workload.operations())
    names.push_back(operation.name());
  return names;
}

TEST(Defaults, OfTransactionsAreBeginCommitAndRollback) {
  const v1::Workload workload = Filled(
      std::string(kTable) +
      "operations: { pause: { sleep: 5ms }, find: read, pay: { update: { set: { n: {} } } } }\n"
      "script: { transaction: [find, pause, pay] }\n");
  // Sleeps behind all others, whose indexes they leave alone.
  EXPECT_EQ(Names(workload),
            (std::vector<std::string>{"find", "pay", "begin", "commit", "rollback", "pause"}));
  std::vector<std::string> steps;
  for (const v1::ScriptStep& step : workload.script().steps()) steps.push_back(step.operation());
  EXPECT_EQ(steps, (std::vector<std::string>{"begin", "find", "pause", "pay", "commit"}));
  EXPECT_EQ(workload.script().transaction_size(), 0);
  EXPECT_TRUE(workload.audit().enabled());
}

TEST(Defaults, OfScriptsAddOnlyWhatIsUsed) {
  EXPECT_EQ(Names(Filled(std::string(kTable) + "operations: { find: read }\n"
                                               "script: [reset_connection, find]\n")),
            (std::vector<std::string>{"find", "reset_connection"}));
  EXPECT_EQ(Names(Filled(std::string(kTable) + "operations: { find: read, back: rollback }\n"
                                               "script: [begin, find, commit]\n")),
            (std::vector<std::string>{"find", "back", "begin", "commit"}));
}

TEST(Defaults, OfAMix) {
  const v1::Workload workload = Filled(
      std::string(kTable) +
      "operations: { find: read, add: insert }\n"
      "script: { mix: { find: 95, buy: { weight: 4, transaction: [find, add] }, add: {} } }\n");
  ASSERT_EQ(workload.script().mix_size(), 3);
  EXPECT_EQ(workload.script().mix(0).steps(0).operation(), "find");
  EXPECT_EQ(workload.script().mix(1).steps_size(), 4);
  EXPECT_EQ(workload.script().mix(1).transaction_size(), 0);
  EXPECT_EQ(workload.script().mix(2).weight(), 1);
  EXPECT_EQ(workload.script().steps_size(), 0);
  EXPECT_EQ(workload.script().name(), "script");
  v1::Workload twice = workload;
  ApplyDefaults(&twice);
  EXPECT_EQ(twice.SerializeAsString(), workload.SerializeAsString());
}

TEST(Defaults, OfStagesAreTheLoadOfTheSpec) {
  const v1::Workload workload = Filled(
      std::string(kTable) +
      "operations: { find: read, add: insert }\n"
      "stages:\n  a: { script: [add], load: { sessions: 7, stop_after: { iterations: 5 } } }\n"
      "  b: { script: { transaction: [find] } }\n"
      "load: { sessions: 3, retries: 2, stop_after: { duration: 60s } }\n");
  EXPECT_FALSE(workload.has_script());
  const v1::Workload a = StageWorkload(workload, 0);
  EXPECT_EQ(a.load().sessions(), 7U);
  EXPECT_EQ(a.load().retries(), 2U);
  EXPECT_FALSE(a.load().stop_after().has_duration());
  EXPECT_EQ(a.load().stop_after().iterations(), 5U);
  EXPECT_EQ(a.script().name(), "add");
  EXPECT_EQ(a.stages_size(), 0);
  const v1::Workload b = StageWorkload(workload, 1);
  EXPECT_EQ(b.load().sessions(), 3U);
  EXPECT_EQ(b.load().stop_after().duration(), 60'000'000'000U);
  EXPECT_EQ(Names(a), Names(b));
  EXPECT_TRUE(ScriptWrites(workload));
  EXPECT_TRUE(ScriptWrites(a));
  EXPECT_FALSE(ScriptWrites(b));
  v1::Workload twice = workload;
  ApplyDefaults(&twice);
  EXPECT_EQ(twice.SerializeAsString(), workload.SerializeAsString());
}

TEST(Defaults, OfKeysAndKinds) {
  const v1::Workload workload =
      Filled(std::string(kTable) +
             "operations:\n"
             "  a: { read: { keys: latest } }\n"
             "  b: { multi_read: { keys: hotspot } }\n"
             "  c: { scan: { keys: exponential } }\n"
             "  d: { increment: { column: n } }\n"
             "  e: { native: { statement: \"SELECT ?\", parameters: [{ keys: uniform }] } }\n");
  EXPECT_EQ(workload.operations(0).read().keys().latest().theta(), 0.99);
  EXPECT_EQ(workload.operations(1).multi_read().count(), 10U);
  EXPECT_EQ(workload.operations(1).multi_read().keys().hotspot().keys_percent(), 20);
  EXPECT_EQ(workload.operations(1).multi_read().keys().hotspot().range().last(), 100U);
  EXPECT_EQ(workload.operations(2).scan().limit(), 100U);
  EXPECT_EQ(workload.operations(2).scan().comparison(), v1::COMPARISON_GE);
  EXPECT_EQ(workload.operations(2).scan().keys().exponential().operations_percent(), 95);
  EXPECT_EQ(workload.operations(3).increment().by(), 1);
  EXPECT_EQ(workload.operations(3).increment().keys().uniform().range().last(), 100U);
  EXPECT_EQ(workload.operations(4).native().parameters(0).table(), "t");
}

TEST(Defaults, OfAutoIncrementLeaveTheKeyOut) {
  const v1::Workload workload = Filled(
      "tables: { t: { primary_key: id, columns: { id: { type: int, auto_increment: true }, n: { "
      "type: boolean } } } }\noperations: { add: insert }\n");
  ASSERT_EQ(workload.operations(0).insert().columns_size(), 1);
  EXPECT_EQ(workload.operations(0).insert().columns(0), "n");
  EXPECT_EQ(workload.tables(0).columns(1).value().random_int().range().last(), 1U);
}

TEST(Queries, OfWhatAScriptDoes) {
  v1::Workload workload = Filled(
      std::string(kTable) +
      "operations: { find: read, some: { multi_read: {} }, inc: { increment: { column: n } }, "
      "sql: { native: SELECT 1 }, ddl: { native: TRUNCATE u }, add: insert }\n"
      "script: { mix: { find: 1, many: { steps: [{ find: 3 }, { inc: 2 }] } } }\n");
  EXPECT_EQ(OperationsOfScript(workload), (std::vector<std::string>{"find", "inc"}));
  EXPECT_EQ(TimesPerIteration(workload, "find"), 3U);
  EXPECT_EQ(TimesPerIteration(workload, "inc"), 2U);
  EXPECT_EQ(TimesPerIteration(workload, "add"), 0U);
  EXPECT_TRUE(ScriptWrites(workload));
  EXPECT_FALSE(HasAuditedWrites(workload));
  EXPECT_FALSE(workload.audit().enabled());
  EXPECT_EQ(PassOperation(workload), nullptr);
  EXPECT_EQ(KindName(workload.operations(1)), "multi_read");
  const auto with = [&](const std::string& steps) {
    v1::Workload other = workload;
    *other.mutable_script() = v1::Script();
    v1::ScriptStep* step = other.mutable_script()->add_steps();
    step->set_operation(steps);
    return other;
  };
  EXPECT_FALSE(ScriptWrites(with("sql")));
  EXPECT_EQ(TablesWritten(with("ddl")), (std::vector<std::string>{"t"}));
  EXPECT_EQ(PassOperation(with("some"))->name(), "some");
  EXPECT_EQ(PassOperation(with("add")), nullptr);
}

TEST(Queries, TablesWritten) {
  v1::Workload workload = Filled(GoodSpec());
  EXPECT_TRUE(ScriptWrites(workload));
  EXPECT_EQ(TablesWritten(workload), (std::vector<std::string>{"orders", "customer"}));
  workload = Filled(Changed("[find, add, pay]", "[find]"));
  EXPECT_FALSE(ScriptWrites(workload));
  EXPECT_FALSE(workload.audit().enabled());
  EXPECT_EQ(DriverOf(workload.targets(0)), "mysql");
  EXPECT_EQ(DriverOf(workload.targets(1)), "handlersocket");
  EXPECT_EQ(DriverOf(v1::Target()), "");
}

}  // namespace
}  // namespace cavalry::spec
