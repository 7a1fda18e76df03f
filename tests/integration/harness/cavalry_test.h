// What the end-to-end tests share: a database and a folder of a test's own, specs, and the two
// programs run as a person runs them. Tests skip aloud when the environment names no server.
//
// The programs are found in CAVALRY_BIN, else in the build's bin/.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/integration/harness/process.h"
#include "tests/integration/harness/server.h"

namespace cavalry::e2e {

using nlohmann::json;

// One `cavalry run` that has ended, or that goes on.
class CavalryRun {
 public:
  CavalryRun(Process process, std::string out_directory)
      : process_(std::move(process)), out_directory_(std::move(out_directory)) {}

  Process& process() { return process_; }
  int Wait(Nanos patience = kPatience) { return process_.Wait(patience); }
  std::string out() const { return process_.out(); }
  std::string err() const { return process_.err(); }
  // Both, for messages of tests.
  std::string Printed() const { return "--- out\n" + out() + "--- err\n" + err(); }

  // The results directory; "" if there is none.
  std::string Directory() const;
  // Its report.json; a report that is missing or is not strict JSON (NaN, Infinity) fails the test.
  json Report() const;

 private:
  Process process_;
  std::string out_directory_;
};

class CavalryTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  const Server& server() const { return server_; }
  // As root, in the test's database.
  Sql& sql() { return *sql_; }
  const std::string& database() const { return database_; }
  // A folder of the test's own, removed at its end.
  const std::string& folder() const { return folder_; }

  // A spec's target with the options, which are added or win over the server's: as
  // `SqlTarget("statements: prepared")`.
  std::string SqlTarget(const std::string& options = "") const;
  std::string HsTarget(const std::string& options = "") const;
  // Replaces @SQL@, @PREPARED@ and @HS@ in a spec by the targets above, @SQLOWNER@ by one that is
  // not loaded, and writes it to the folder; the file's path.
  std::string WriteSpec(const std::string& text);

  // Path of a program under test.
  static std::string Program(const std::string& name);
  // Any program, with its output kept in the folder.
  Process Start(std::vector<std::string> arguments, std::vector<std::string> environment = {});
  // `cavalry run SPEC` with results in a folder of this run's own, unless `more` has --out.
  // `before` goes before the program's name, for wrappers.
  CavalryRun StartRun(const std::string& spec_path, std::vector<std::string> more = {},
                      std::vector<std::string> before = {},
                      std::vector<std::string> environment = {});
  // The same to its end, which must come with this exit status.
  CavalryRun RunTo(int exit_status, const std::string& spec_text,
                   std::vector<std::string> more = {});
  Process StartAgent(int port, const std::string& name);
  // Waits until the load is at work: until the query's number has grown by so much.
  void AwaitGrowth(CavalryRun* run, const std::string& number_query, std::int64_t by);

  static int FreePort();
  // Sessions of the test's database that the server has now (beside this test's own).
  std::int64_t ServerSessions();

 private:
  Server server_;
  std::unique_ptr<Sql> sql_;
  std::string database_;
  std::string folder_;
  int processes_ = 0;
};

// The only result of a report; one that has several fails the test.
json OnlyResult(const json& report);

// Design's identities: classes, histograms, seconds, operations and nodes add up. Failures name
// `what`.
void ExpectIdentities(const json& report, const std::string& what = "");

// Percentiles rise, within [min, max].
void ExpectOrdered(const json& summary);

// The result's audit found so many acknowledged writes, and nothing wrong.
void ExpectCleanAudit(const json& result, std::int64_t acknowledged);

// Lines of `text` that contain `part`.
std::vector<std::string> LinesWith(const std::string& text, const std::string& part);

}  // namespace cavalry::e2e
