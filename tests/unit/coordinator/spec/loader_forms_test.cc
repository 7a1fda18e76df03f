#include <gtest/gtest.h>

#include <google/protobuf/text_format.h>

#include <cstdlib>

#include "coordinator/spec/spec_loader.h"
#include "spec_texts.h"

namespace cavalry::spec {
namespace {

// The workload as protobuf's text, on one line.
std::string Read(std::string_view text) { return MustParse(text).workload.ShortDebugString(); }

TEST(LoaderForms, KeyedListsKeepTheirOrder) {
  EXPECT_EQ(Read("tables: { b: {}, a: { rows: 20k }, c: {} }"),
            R"(tables { name: "b" } tables { name: "a" rows: 20000 } tables { name: "c" })");
}

TEST(LoaderForms, UnitsAndWords) {
  EXPECT_EQ(Read("load: { sessions: 2k, warmup: 1m30s, stop_after: { duration: 250ms } }\n"
                 "order: blocked\ncompare: { metric: client_cpu }"),
            "load { sessions: 2000 warmup: 90000000000 stop_after { duration: 250000000 } } "
            "order: ORDER_BLOCKED compare { metric: METRIC_CLIENT_CPU }");
}

TEST(LoaderForms, QuotedNumbersAreNumbers) { EXPECT_EQ(Read("rounds: \"3\""), "rounds: 3"); }

TEST(LoaderForms, OneScalarIsAListOfOne) {
  EXPECT_EQ(Read("thresholds: \"p99 < 1s\""), R"(thresholds: "p99 < 1s")");
  EXPECT_EQ(Read("operations: { f: { read: { columns: a } } }"),
            R"(operations { name: "f" read { columns: "a" } })");
}

TEST(LoaderForms, OneofWord) {
  EXPECT_EQ(
      Read("operations: { f: { read: { keys: uniform } }, g: read }"),
      R"(operations { name: "f" read { keys { uniform { } } } } operations { name: "g" read { } })");
}

TEST(LoaderForms, ValueRules) {
  const auto rule = [](std::string_view value) {
    const SpecDocument document =
        MustParse(fmt::format("tables: {{ t: {{ columns: {{ c: {{ value: {} }} }} }} }}", value));
    return document.workload.tables(0).columns(0).value().ShortDebugString();
  };
  EXPECT_EQ(rule("\"#{c:09}\""), R"(pattern: "#{c:09}")");
  EXPECT_EQ(rule("new_version"), "new_version { }");
  EXPECT_EQ(rule("\"new_version\""), R"(pattern: "new_version")");
  EXPECT_EQ(rule("plain"), R"(pattern: "plain")");
  EXPECT_EQ(rule("{ random_int: 0..24 }"), "random_int { range { last: 24 } }");
  EXPECT_EQ(rule("{ random_int: { first: 1, last: 6 } }"),
            "random_int { range { first: 1 last: 6 } }");
  EXPECT_EQ(rule("{ random_int: { range: { first: 1, last: 6 } } }"),
            "random_int { range { first: 1 last: 6 } }");
  EXPECT_EQ(rule("{ random_text: { length: 10..40 } }"),
            "random_text { length { first: 10 last: 40 } }");
  EXPECT_EQ(rule("{ random_text: { length: 7 } }"), "random_text { length { first: 7 last: 7 } }");
  EXPECT_EQ(rule("{ constant: 5 }"), R"(constant: "5")");
  EXPECT_EQ(rule("hashed"), "hashed { }");
  EXPECT_EQ(rule("{ one_of: [a, 5] }"), R"(one_of { values: "a" values: "5" })");
  EXPECT_EQ(rule("{ server: \"now()\" }"), R"x(server: "now()")x");
}

TEST(LoaderForms, SetOfColumns) {
  EXPECT_EQ(Read("operations: { p: { update: { set: { a: new_version, b: { random_int: 1..6 }, "
                 "c: { value: \"x\" }, d: {} } } } }"),
            R"(operations { name: "p" update { set { column: "a" value { new_version { } } } )"
            R"(set { column: "b" value { random_int { range { first: 1 last: 6 } } } } )"
            R"(set { column: "c" value { pattern: "x" } } set { column: "d" } } })");
}

TEST(LoaderForms, Keys) {
  const auto keys = [](std::string_view text) {
    return MustParse(fmt::format("operations: {{ f: {{ read: {{ keys: {} }} }} }}", text))
        .workload.operations(0)
        .read()
        .keys()
        .ShortDebugString();
  };
  EXPECT_EQ(keys("{ sequential: 1..149999 }"), "sequential { range { first: 1 last: 149999 } }");
  EXPECT_EQ(keys("{ sequential: 1..1.5M }"), "sequential { range { first: 1 last: 1500000 } }");
  EXPECT_EQ(keys("{ zipf: 0.99 }"), "zipf { theta: 0.99 }");
  EXPECT_EQ(keys("{ zipf: { clustered: true, range: 5..9 } }"),
            "zipf { range { first: 5 last: 9 } clustered: true }");
  EXPECT_EQ(keys("{ same_as: other }"), R"(same_as: "other")");
  EXPECT_EQ(keys("latest"), "latest { }");
  EXPECT_EQ(keys("{ latest: 0.8 }"), "latest { theta: 0.8 }");
  EXPECT_EQ(keys("{ hotspot: { keys_percent: 5, range: 1..9 } }"),
            "hotspot { keys_percent: 5 range { first: 1 last: 9 } }");
  EXPECT_EQ(keys("exponential"), "exponential { }");
  EXPECT_EQ(keys("{ from_file: /tmp/keys }"), R"(from_file { path: "/tmp/keys" })");
}

TEST(LoaderForms, Scripts) {
  EXPECT_EQ(Read("script: find"), R"(script { steps { operation: "find" } })");
  EXPECT_EQ(Read("script: [ find ]"), R"(script { steps { operation: "find" } })");
  EXPECT_EQ(
      Read("script: { name: x, steps: [ { find: 4 }, pay, { operation: log } ] }"),
      R"(script { name: "x" steps { operation: "find" repeat: 4 } steps { operation: "pay" } )"
      R"(steps { operation: "log" } })");
}

TEST(LoaderForms, MixesAndTransactions) {
  EXPECT_EQ(
      Read("script: { mix: { find: 95, pay: 0.5, buy: { weight: 4, transaction: [a, { b: 2 }] "
           "} } }"),
      R"(script { mix { name: "find" weight: 95 } mix { name: "pay" weight: 0.5 } )"
      R"(mix { name: "buy" weight: 4 transaction { operation: "a" } )"
      R"(transaction { operation: "b" repeat: 2 } } })");
  EXPECT_EQ(Read("script: { transaction: [{ find: 4 }, pay] }"),
            R"(script { transaction { operation: "find" repeat: 4 } )"
            R"(transaction { operation: "pay" } })");
  EXPECT_EQ(Read("stages: { insert: { script: [add], load: { sessions: 2 } } }"),
            R"(stages { name: "insert" script { steps { operation: "add" } } )"
            R"(load { sessions: 2 } })");
}

TEST(LoaderForms, Operations) {
  const auto operation = [](std::string_view text) {
    return MustParse(fmt::format("operations: {{ f: {} }}", text))
        .workload.operations(0)
        .ShortDebugString();
  };
  EXPECT_EQ(operation("{ sleep: 500ms }"), R"(name: "f" sleep { duration: 500000000 })");
  EXPECT_EQ(operation("begin"), R"(name: "f" begin { })");
  EXPECT_EQ(operation("{ change_user: {} }"), R"(name: "f" change_user { })");
  EXPECT_EQ(operation("{ native: \"SELECT 1\" }"), R"(name: "f" native { statement: "SELECT 1" })");
  EXPECT_EQ(
      operation("{ native: { statement: \"SELECT ?\", parameters: [{ value: \"a{key}\" }, { "
                "keys: { uniform: 1..9 }, table: t }] } }"),
      R"(name: "f" native { statement: "SELECT ?" parameters { value { pattern: "a{key}" } } )"
      R"(parameters { keys { uniform { range { first: 1 last: 9 } } } table: "t" } })");
  EXPECT_EQ(operation("{ scan: { in: [10, 20], limit: 2k, comparison: eq, filters: { a: { value: 5 "
                      "}, b: { comparison: ne } } } }"),
            R"(name: "f" scan { comparison: COMPARISON_EQ limit: 2000 filters { column: "a" )"
            R"(value: "5" } filters { column: "b" comparison: COMPARISON_NE } in: 10 in: 20 })");
  EXPECT_EQ(operation("{ increment: { column: n, by: -1 } }"),
            R"(name: "f" increment { column: "n" by: -1 })");
  EXPECT_EQ(operation("{ insert: { batch: 100, columns: [a] } }"),
            R"(name: "f" insert { batch: 100 columns: "a" })");
  EXPECT_EQ(ParseError("operations: { f: { increment: { by: 1.5 } } }"),
            "t.yaml:1:37: operations.f.increment.by: '1.5' is not a whole number");
  EXPECT_EQ(ParseError("operations: { f: { increment: { by: 9223372036854775808 } } }"),
            "t.yaml:1:37: operations.f.increment.by: '9223372036854775808' is out of range: "
            "-9223372036854775808 to 9223372036854775807");
}

TEST(LoaderForms, Tables) {
  EXPECT_EQ(
      Read("tables: { t: { primary_key: id, indexes: { a: [x, y], b: z, c: { columns: [x], "
           "unique: true } } } }"),
      R"(tables { name: "t" primary_key: "id" indexes { name: "a" columns: "x" columns: "y" } )"
      R"(indexes { name: "b" columns: "z" } )"
      R"(indexes { name: "c" columns: "x" unique: true } })");
  EXPECT_EQ(Read("tables: { t: { primary_key: [a, b] } }"),
            R"(tables { name: "t" primary_key: "a" primary_key: "b" })");
}

TEST(LoaderForms, ConditionsAndCommands) {
  EXPECT_EQ(Read("conditions: { cold: { before: [ restart_db, { native: { sql: \"SELECT 1\" } } ], "
                 "warmup: "
                 "0s } }"),
            R"(conditions { name: "cold" before { command: "restart_db" } )"
            R"(before { native { target: "sql" statement: "SELECT 1" } } warmup: 0 })");
  EXPECT_EQ(Read("commands: { a: { run: [ssh, db1], ready_within: 2m }, b: [reboot] }"),
            R"(commands { name: "a" run: "ssh" run: "db1" ready_within: 120000000000 } )"
            R"(commands { name: "b" run: "reboot" })");
  EXPECT_EQ(Read("load: { pool: 8, connections: per_iteration }"),
            "load { connections: CONNECTION_USE_PER_ITERATION pool { size: 8 } }");
  EXPECT_EQ(Read("targets: { s: { mysql: { tls: {} } } }"),
            R"(targets { name: "s" mysql { tls { } } })");
}

TEST(LoaderForms, Sweeps) {
  EXPECT_EQ(Read("sweep: { load.sessions: [1, 16], order: same }"),
            R"(sweep { path: "load.sessions" values: "1" values: "16" } )"
            R"(sweep { path: "order" values: "same" })");
  EXPECT_EQ(Read("sweep: { operations.f.read.keys: [uniform, { zipf: { theta: 0.5 } }] }"),
            R"(sweep { path: "operations.f.read.keys" values: "uniform" )"
            R"(values: "{ zipf: { theta: 0.5 } }" })");
}

TEST(LoaderForms, ShortFlag) {
  EXPECT_EQ(Read("audit: false"), "audit { enabled: false }");
  EXPECT_EQ(Read("audit: { via: sql }"), R"(audit { via: "sql" })");
}

TEST(LoaderForms, Secrets) {
  const auto password = [](std::string_view text) {
    return MustParse(fmt::format("targets: {{ s: {{ mysql: {{ password: {} }} }} }}", text))
        .workload.targets(0)
        .mysql()
        .password()
        .ShortDebugString();
  };
  EXPECT_EQ(password("hunter2"), R"(value: "hunter2")");
  // Not looked up here: the variable's value must not reach spec.yaml.
  EXPECT_EQ(password("{ env: CAVALRY_TEST_UNSET }"), R"(env: "CAVALRY_TEST_UNSET")");
  EXPECT_EQ(password("{ file: /a/b }"), R"(file: "/a/b")");
  EXPECT_EQ(password("\"env\""), R"(value: "env")");
}

TEST(LoaderForms, AnyScalarFromTheEnvironment) {
  setenv("CAVALRY_TEST_NUMBER", "12", 1);
  setenv("CAVALRY_TEST_RANGE", "3..9", 1);
  setenv("CAVALRY_TEST_WORD", "blocked", 1);
  EXPECT_EQ(Read("rounds: { env: CAVALRY_TEST_NUMBER }\norder: { env: CAVALRY_TEST_WORD }"),
            "rounds: 12 order: ORDER_BLOCKED");
  EXPECT_EQ(Read("operations: { f: { read: { keys: { uniform: { env: CAVALRY_TEST_RANGE } } } } }"),
            R"(operations { name: "f" read { keys { uniform { range { first: 3 last: 9 } } } } })");
  EXPECT_EQ(ParseError("load: { warmup: { env: CAVALRY_TEST_NUMBER } }"),
            "t.yaml:1:24: load.warmup: duration \"12\" lacks a unit; write 12s or 12ms");
  EXPECT_EQ(Read("targets: { env: { mysql: {} } }"), R"(targets { name: "env" mysql { } })");
}

TEST(LoaderForms, ByteOrderMarkAndCarriageReturns) {
  EXPECT_EQ(Read("\xef\xbb\xbfrounds: 2\r\nseed: 7\r\n"), "rounds: 2 seed: 7");
}

TEST(LoaderForms, PlacesOfValues) {
  const SpecDocument document = MustParse(
      "targets:\n  sql: { mysql: { port: 1 } }\nthresholds: [a,\n  b]\nscript: [x, { y: 2 }]\n");
  EXPECT_EQ(document.Where("targets.sql.mysql.port"), "t.yaml:2:19");
  EXPECT_EQ(document.Where("targets.sql.mysql.host"), "t.yaml:2:10");
  EXPECT_EQ(document.Where("thresholds[1]"), "t.yaml:4:3");
  EXPECT_EQ(document.Where("script.steps[1]"), "t.yaml:5:13");
  EXPECT_EQ(document.Where("load.sessions"), "t.yaml:1:1");
}

TEST(LoaderForms, NameDefaultsToTheFilesName) {
  SetConfigEnvironment();
  const std::string path = testing::TempDir() + "cavalry_name_test.yaml";
  FILE* file = fopen(path.c_str(), "w");
  ASSERT_NE(file, nullptr);
  fputs("seed: 1\n", file);
  fclose(file);
  EXPECT_EQ(LoadSpec(path)->workload.name(), "cavalry_name_test");
  remove(path.c_str());
}

}  // namespace
}  // namespace cavalry::spec
