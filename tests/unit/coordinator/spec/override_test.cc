#include "coordinator/spec/override.h"

#include <gtest/gtest.h>

#include "coordinator/spec/spec_check.h"
#include "spec_texts.h"

namespace cavalry::spec {
namespace {

// The error of --set, or the field's new text.
std::string SetError(std::string_view assignment) {
  SpecDocument document = MustParse(GoodSpec());
  const std::string before = document.workload.SerializeAsString();
  const auto positions_before = document.positions.size();
  const Status status = ApplyAssignment(&document, assignment);
  if (status.ok()) return "ok";
  EXPECT_EQ(document.workload.SerializeAsString(), before) << "changed in spite of an error";
  EXPECT_EQ(document.positions.size(), positions_before);
  return StatusText(status);
}

v1::Workload With(std::string_view assignment) {
  SpecDocument document = MustParse(GoodSpec());
  const Status status = ApplyAssignment(&document, assignment);
  EXPECT_TRUE(status.ok()) << StatusText(status);
  return document.workload;
}

TEST(Override, SetsScalarsOfEveryKind) {
  EXPECT_EQ(With("load.sessions=64").load().sessions(), 64u);
  EXPECT_EQ(With("load.warmup=250ms").load().warmup(), 250'000'000u);
  EXPECT_EQ(With("targets.sql.mysql.statements=prepared").targets(0).mysql().statements(),
            v1::STATEMENTS_PREPARED);
  EXPECT_EQ(With("tables.customer.rows=2k").tables(0).rows(), 2'000u);
  EXPECT_EQ(With("name=a b c").name(), "a b c");
  EXPECT_FALSE(With("audit=false").audit().enabled());
}

TEST(Override, CreatesMessagesOnTheWay) {
  EXPECT_EQ(With("compare.metric=p99").compare().metric(), v1::METRIC_P99);
  EXPECT_EQ(With("load.stop_after.iterations=5").load().stop_after().iterations(), 5u);
}

TEST(Override, ReplacesWholeValues) {
  EXPECT_EQ(With("thresholds=[a, b]").thresholds_size(), 2);
  EXPECT_EQ(With("script=[drop]").script().ShortDebugString(), R"(steps { operation: "drop" })");
  EXPECT_EQ(
      With("operations.find.read.keys={ zipf: 0.5 }").operations(0).read().keys().zipf().theta(),
      0.5);
  EXPECT_EQ(With("load={ sessions: 3 }").load().ShortDebugString(), "sessions: 3");
  EXPECT_EQ(With("tables.orders={ rows: 5 }").tables(1).ShortDebugString(),
            R"(name: "orders" rows: 5)");
}

TEST(Override, SetsElements) {
  EXPECT_EQ(With("thresholds[0]=failed < 2%").thresholds(0), "failed < 2%");
  EXPECT_EQ(With("script.steps[1]={ add: 3 }").script().steps(1).repeat(), 3u);
  EXPECT_EQ(With("script.steps[2].repeat=2").script().steps(2).ShortDebugString(),
            R"(operation: "pay" repeat: 2)");
}

TEST(Override, SetsElementsOfNumbers) {
  SpecDocument document = MustParse("operations: { f: { scan: { in: [1, 2] } } }");
  EXPECT_TRUE(ApplyOverride(&document, "operations.f.scan.in[1]", "7").ok());
  EXPECT_EQ(document.workload.operations(0).scan().in(1), 7U);
  EXPECT_FALSE(ApplyOverride(&document, "operations.f.scan.in[1]", "x").ok());
}

TEST(Override, AddsWhatIsNoMoreThanAShortForm) {
  const v1::Workload swept = With("sweep.load.sessions=[1, 16]");
  EXPECT_EQ(swept.sweep(0).ShortDebugString(), R"(path: "load.sessions" values: "1" values: "16")");
  EXPECT_EQ(
      With("operations.pay.update.set.price={ constant: 5 }").operations(2).update().set_size(), 2);
}

TEST(Override, TakesThePlaceOfAnAxis) {
  SpecDocument document =
      MustParse(GoodSpec() + "sweep: { load.sessions: [1, 16], seed: [1, 2] }\n");
  ASSERT_TRUE(ApplyOverride(&document, "load.sessions", "64").ok());
  ASSERT_EQ(document.workload.sweep_size(), 1);
  EXPECT_EQ(document.workload.sweep(0).path(), "seed");
}

TEST(Override, LongestNameWins) {
  SpecDocument document =
      MustParse("targets: { a: { mysql: {} }, a.b: { mysql: {} }, a.b.mysql: { mysql: {} } }");
  ASSERT_TRUE(ApplyOverride(&document, "targets.a.b.mysql.mysql.host", "x").ok());
  EXPECT_EQ(document.workload.targets(2).mysql().host(), "x");
  ASSERT_TRUE(ApplyOverride(&document, "targets.a.mysql.host", "y").ok());
  EXPECT_EQ(document.workload.targets(0).mysql().host(), "y");
}

TEST(Override, ReportsAsTheLoaderDoes) {
  EXPECT_EQ(SetError("load.sessions=many"),
            "--set load.sessions: \"many\" is not a count; write 150000, 150_000 or 20k");
  EXPECT_EQ(SetError("load.warmup=60"),
            "--set load.warmup: duration \"60\" lacks a unit; write 60s or 60ms");
  EXPECT_EQ(SetError("load={ sesions: 1 }"),
            "--set load: unknown key 'sesions'; did you mean 'sessions'?");
  EXPECT_EQ(SetError("load={ warmup: 1 }"),
            "--set load: load.warmup: duration \"1\" lacks a unit; write 1s or 1ms");
  EXPECT_EQ(SetError("load.sessions="),
            "--set load.sessions: has no value; it must be a whole number");
  EXPECT_EQ(SetError("load.sessions=[1"),
            "--set load.sessions: not valid YAML: end of sequence flow not found");
  EXPECT_EQ(SetError("thresholds[0]=[a, b]"), "--set thresholds[0]: must be one value");
}

TEST(Override, NamesTheNearestPath) {
  EXPECT_EQ(SetError("load.sesions=1"),
            "--set load.sesions: no such key; did you mean 'load.sessions'?");
  EXPECT_EQ(SetError("lod.sessions=1"), "--set lod.sessions: no such key; did you mean 'load'?");
  EXPECT_EQ(SetError("targets.sq.mysql.port=1"),
            "--set targets.sq.mysql.port: no such key; did you mean 'targets.sql'?");
  EXPECT_EQ(SetError("tables.customers.rows=1"),
            "--set tables.customers.rows: no such key; did you mean 'tables.customer'?");
  EXPECT_EQ(SetError("targets.sql.name=x"),
            "--set targets.sql.name: no such key; keys here: targets.sql.tables_of, "
            "targets.sql.load, targets.sql.mysql, targets.sql.handlersocket, "
            "targets.sql.memcached, targets.sql.cassandra");
}

TEST(Override, RefusesWhatLeadsNowhere) {
  EXPECT_EQ(SetError("load.sessions.x=1"),
            "--set load.sessions.x: 'load.sessions' is a whole number and has no keys");
  EXPECT_EQ(SetError("load[0]=1"), "--set load[0]: 'load' is not a list");
  EXPECT_EQ(SetError("thresholds[7]=x"),
            "--set thresholds[7]: no such element; 'thresholds' has 1, from thresholds[0]");
  EXPECT_EQ(SetError("thresholds.x=x"),
            "--set thresholds.x: no such element; 'thresholds' has 1, from thresholds[0]");
  EXPECT_EQ(SetError("targets.hs.mysql.port=1"),
            "--set targets.hs.mysql.port: the spec says 'handlersocket' there, not 'mysql'");
  EXPECT_EQ(SetError("load.sessions"),
            "--set load.sessions: no KEY=VALUE; write it like --set load.sessions=64");
  EXPECT_EQ(SetError("=5"), "--set =5: no KEY=VALUE; write it like --set load.sessions=64");
  EXPECT_EQ(SetError("load.=5"),
            "--set load.: no such key; keys here: load.sessions, load.warmup, load.stop_after, "
            "load.operation_timeout, load.connect_timeout, load.drain_timeout, load.pipeline, "
            "load.connect_rate, load.retries, load.connections, load.pool, load.think_time");
}

TEST(Override, LaterChecksNameTheOption) {
  SpecDocument document = MustParse(GoodSpec());
  ASSERT_TRUE(ApplyAssignment(&document, "load.sessions=0").ok());
  ASSERT_TRUE(ApplyAssignment(&document, "script=[find, serach]").ok());
  EXPECT_EQ(StatusText(CheckSpec(document)),
            "--set script: script.steps[1].operation: no operation 'serach'; there are: find, add, "
            "pay, drop\n"
            "--set load.sessions: must be at least 1");
}

}  // namespace
}  // namespace cavalry::spec
