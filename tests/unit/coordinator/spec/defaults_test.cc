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
tables:
  t:
    rows: 100
    primary_key: id
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
  add: { insert: t }
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
    EXPECT_EQ(filled.operations_size(), workload.operations_size());
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
  const v1::Workload workload = Filled(
      Changed("    mysql: { database: test }\n", "    mysql: { database: test }\n    load: false\n"));
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
