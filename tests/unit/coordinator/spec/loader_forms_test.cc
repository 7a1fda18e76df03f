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
}

TEST(LoaderForms, Scripts) {
  EXPECT_EQ(Read("script: find"), R"(script { steps { operation: "find" } })");
  EXPECT_EQ(Read("script: [ find ]"), R"(script { steps { operation: "find" } })");
  EXPECT_EQ(
      Read("script: { name: x, steps: [ { find: 4 }, pay, { operation: log } ] }"),
      R"(script { name: "x" steps { operation: "find" repeat: 4 } steps { operation: "pay" } )"
      R"(steps { operation: "log" } })");
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
