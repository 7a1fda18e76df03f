// What every driver promises (drivers/README.md), held by the programs on the real servers with two
// agents: each logical operation ends in its class, rows come back as they were written whatever
// they hold, totals add up, and every acknowledged write is there.
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "tests/contract/back_end.h"
#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::contract {
namespace {

using e2e::json;

class ContractTest : public e2e::CavalryTest, public testing::WithParamInterface<BackEnd> {
 protected:
  // A spec of the back-end's target "t" and `rest`.
  std::string Spec(const std::string& rest) const {
    const BackEnd& end = GetParam();
    std::string spec = "targets:\n";
    if (!end.owner.empty()) spec += "  " + end.owner + "\n";
    spec += "  t: " + end.target + "\n" + rest;
    const std::string space = "@SPACE@";
    for (std::size_t at = 0; (at = spec.find(space)) != std::string::npos;) {
      spec.replace(at, space.size(), database());
    }
    return spec;
  }

  json RunSpec(const std::string& rest, int exit_status = 0) {
    e2e::CavalryRun run = RunTo(exit_status, Spec(rest), {"--local", "2"});
    json report = run.Report();
    e2e::ExpectIdentities(report, GetParam().name);
    return report;
  }

  static const json& Operation(const json& result, const std::string& name) {
    for (const json& entry : result["by_operation"]) {
      if (entry["operation"] == name) return entry;
    }
    ADD_FAILURE() << "no operation " << name;
    return result;
  }
};

// All kinds of values: every byte, UTF-8 of one to four bytes, NULL and nothing, limits, signs,
// decimals, dates.
constexpr char kAllTypes[] = R"spec(tables:
  all:
    rows: 300
    primary_key: id
    columns:
      id: { type: int }
      tiny: { type: tinyint }
      flag: { type: boolean }
      small: { type: smallint unsigned }
      big: { type: bigint, value: hashed }
      huge: { type: bigint unsigned, value: hashed }
      price: { type: "decimal(9,3)" }
      low: { type: bigint, value: { constant: "-9223372036854775808" } }
      half: { type: double, value: { constant: "-0.5" } }
      bytes: { type: varbinary(300), value: random_text }
      utf8: { type: varchar(60), value: { one_of: [ "a", "é", "€", "𝄞", "aé€𝄞", " tab\tand\nline " ] } }
      nothing: { type: varchar(10), value: { constant: "" } }
      nil: { type: varchar(10), nullable: true, value: always_null }
      body: { type: text, value: { random_text: { length: 1000..4000 } } }
      born: { type: date }
      at: { type: datetime }
)spec";

TEST_P(ContractTest, RowsComeBackAsTheyWereWritten) {
  const json report = RunSpec(std::string(kAllTypes) + R"(operations:
  walk: { read: { keys: sequential, verify: always } }
load: { sessions: 6, warmup: 0s, stop_after: { iterations: 600 } }
)");
  const json& result = e2e::OnlyResult(report);
  EXPECT_EQ(result["ops"]["ok"], 600);
  EXPECT_EQ(result["wrong_answers"], 0);
  EXPECT_GT(result["rows_per_s"], 0);
}

constexpr char kItems[] = R"(tables:
  item:
    rows: 200
    primary_key: id
    columns:
      id: { type: bigint }
      name: { type: varchar(40) }
      revision: { type: bigint, value: new_version }
)";

TEST_P(ContractTest, EachOperationEndsInItsClass) {
  const BackEnd& end = GetParam();
  const json report =
      RunSpec(std::string(kItems) +
              fmt::format(
                  R"(operations:
  get: {{ read: {{ keys: uniform }} }}
{}{}  add: insert
  change: {{ update: {{ keys: {{ same_as: add }}, set: {{ revision: new_version }} }} }}
  drop: {{ delete: {{ keys: {{ same_as: add }} }} }}
  gone: {{ read: {{ keys: {{ same_as: add }}, verify: never }} }}
script: [get, {}{}add, change, drop, gone]
load: {{ sessions: 4, warmup: 0s, stop_after: {{ iterations: 100 }} }}
thresholds: [ "failed == 0" ]
)",
                  end.multi_read ? "  some: { multi_read: { keys: uniform, count: 5 } }\n" : "",
                  end.batch_insert ? "  many: { insert: { batch: 3 } }\n" : "",
                  end.multi_read ? "some, " : "", end.batch_insert ? "many, " : ""));
  const json& result = e2e::OnlyResult(report);
  for (const char* name : {"get", "add", "change", "drop"}) {
    EXPECT_EQ(Operation(result, name)["ops"]["ok"], 100) << name;
  }
  EXPECT_EQ(Operation(result, "gone")["ops"]["miss"], 100);
  if (end.multi_read) {
    EXPECT_EQ(Operation(result, "some")["ops"]["ok"], 100);
  }
  if (end.batch_insert) {
    EXPECT_EQ(Operation(result, "many")["ops"]["ok"], 100);
  }
  const json& audit = result["audit"];
  EXPECT_EQ(audit["acknowledged"], end.batch_insert ? 400 : 100);
  for (const char* fault : {"lost", "stale", "unexpected", "wrong", "unknown"}) {
    EXPECT_EQ(audit[fault], 0) << fault;
  }
}

TEST_P(ContractTest, RowsThatAreNotThereAreMisses) {
  const BackEnd& end = GetParam();
  // Deleted rows are asked for, changed and deleted once more.
  const json report = RunSpec(std::string(kItems) + R"(operations:
  drop: { delete: { keys: { sequential: 1..50 } } }
  gone: { read: { keys: { same_as: drop }, verify: never } }
  again: { delete: { keys: { same_as: drop } } }
load: { sessions: 1, warmup: 0s, stop_after: { iterations: 50 } }
)");
  const json& result = e2e::OnlyResult(report);
  EXPECT_EQ(Operation(result, "drop")["ops"]["ok"], 50);
  EXPECT_EQ(Operation(result, "gone")["ops"]["miss"], 50);
  EXPECT_EQ(Operation(result, "again")["ops"][end.tells_missing ? "miss" : "ok"], 50);
}

TEST_P(ContractTest, ReadingWhatWasNeverWrittenIsShown) {
  // C40: one key in ten was filled.
  const json report = RunSpec(std::string(kItems) + R"(operations:
  get: { read: { keys: { uniform: 1..200 }, verify: never } }
  drop: { delete: { keys: { sequential: 21..200 } } }
stages:
  empty: { script: [drop], load: { stop_after: { iterations: 180 } } }
  look: { script: [get], load: { stop_after: { iterations: 2000 } } }
load: { sessions: 1, warmup: 0s }
audit: false
)");
  const json& look = report["results"].back();
  EXPECT_NEAR(look["ops"]["miss"].get<double>(), 1800, 100);
  EXPECT_EQ(look["ops"]["miss"].get<int>() + look["ops"]["ok"].get<int>(), 2000);
  EXPECT_EQ(look["service_us"]["count"], look["ops"]["ok"]);
}

TEST_P(ContractTest, TransactionsWhereThereAreAny) {
  if (!GetParam().transactions) {
    e2e::CavalryRun run = RunTo(2, Spec(std::string(kItems) + R"(operations: { add: insert }
script: { transaction: [add] }
load: { stop_after: { iterations: 1 } }
)"));
    EXPECT_NE(run.Printed().find("begin"), std::string::npos) << run.Printed();
    return;
  }
  const json report = RunSpec(std::string(kItems) + R"(operations: { add: insert }
script: { transaction: [{ add: 3 }] }
load: { sessions: 2, warmup: 0s, stop_after: { iterations: 20 } }
)");
  e2e::ExpectCleanAudit(e2e::OnlyResult(report), 60);
}

TEST_P(ContractTest, AServerThatIsNotThereIsNamed) {
  const BackEnd& end = GetParam();
  if (!end.owner.empty() || end.name.find("socket") != std::string::npos ||
      end.name.find("servers") != std::string::npos || end.name.find("mysql") == 0) {
    return;  // their own tests do: a port cannot be put in here
  }
  const std::string port = std::to_string(FreePort());
  std::string spec = Spec(std::string(kItems) + "operations: { get: read }\n");
  const char* const variable = end.name.find("cassandra") == 0 ? "CAVALRY_CASSANDRA_PORT"
                               : end.name.find("tls") != std::string::npos
                                   ? "CAVALRY_MEMCACHED_TLS_PORT"
                                   : "CAVALRY_MEMCACHED_PORT";
  const std::string real = std::getenv(variable);
  spec.replace(spec.find(real), real.size(), port);
  e2e::CavalryRun run = RunTo(1, spec);
  EXPECT_NE(run.Printed().find("127.0.0.1:" + port), std::string::npos) << run.Printed();
  EXPECT_NE(run.Printed().find("refused"), std::string::npos) << run.Printed();
}

INSTANTIATE_TEST_SUITE_P(BackEnds, ContractTest, testing::ValuesIn(AllBackEnds()),
                         [](const auto& one) { return one.param.name; });

// tests/run starts all servers: a suite that has shrunk is a fault.
TEST(Contract, IsHeldWithEveryBackEnd) {
  if (std::getenv("CAVALRY_MEMCACHED_PORT") == nullptr ||
      std::getenv("CAVALRY_CASSANDRA_PORT") == nullptr) {
    GTEST_SKIP() << "memcached or Cassandra is not named (deploy/sandbox starts them)";
  }
  EXPECT_GE(AllBackEnds().size(), 13U);
}

}  // namespace
}  // namespace cavalry::contract
