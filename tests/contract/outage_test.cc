// A server that is killed in a run of writes: what was acknowledged and is gone is found, what may
// have been done is told apart, and the run ends by itself.
#include <signal.h>

#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::contract {
namespace {

using e2e::json;

class OutageTest : public e2e::CavalryTest {
 protected:
  // deploy/sandbox with these words, on servers of the test's own.
  std::string Sandbox(const std::string& words) {
    e2e::Process sandbox =
        Start({CAVALRY_SOURCE_DIR "/deploy/sandbox", words.substr(0, words.find(' ')), "--dir",
               folder() + "/servers", words.substr(words.find(' ') + 1)});
    EXPECT_EQ(sandbox.Wait(120 * kSecond), 0) << sandbox.out() << sandbox.err();
    return sandbox.out();
  }
  static std::string Exported(const std::string& lines, const std::string& name) {
    const std::size_t at = lines.find(name + "=");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 1;
    return lines.substr(begin, lines.find('\n', begin) - begin);
  }
};

// A cache forgets all when it is killed: every acknowledged write before that is lost, and is
// found.
TEST_F(OutageTest, AKilledCacheLosesWhatItAcknowledged) {
  if (std::getenv("CAVALRY_MEMCACHED_PORT") == nullptr) {
    GTEST_SKIP() << "memcached is not named (deploy/sandbox starts it)";
  }
  Sandbox("start memcached");
  const std::string variables = Sandbox("env memcached");
  const std::string port = Exported(variables, "CAVALRY_MEMCACHED_PORT");
  const auto pid = static_cast<pid_t>(std::stol(Exported(variables, "CAVALRY_MEMCACHED_PID")));
  e2e::CavalryRun run = StartRun(WriteSpec(fmt::format(R"(
targets: {{ cache: {{ memcached: {{ port: {} }} }} }}
tables:
  item: {{ rows: 10, primary_key: id, columns: {{ id: {{ type: bigint }}, name: {{ type: varchar(20) }} }} }}
operations: {{ add: insert }}
load: {{ sessions: 4, warmup: 0s, stop_after: {{ duration: 4s }} }}
thresholds: [ "failed < 100%" ]
)",
                                                       port)),
                                 {"--local", "2"});
  ASSERT_TRUE(run.process().AwaitText("step 1/")) << run.Printed();
  // Some seconds of it have been reported.
  ASSERT_TRUE(run.process().AwaitText("0:02")) << run.Printed();
  kill(pid, SIGKILL);
  Sandbox("start memcached");
  run.Wait();
  const json report = run.Report();
  e2e::ExpectIdentities(report);
  const json& result = report["results"][0];
  EXPECT_GT(result["reconnects"], 0) << run.Printed();
  EXPECT_GT(result["ops"]["ok"], 0);
  EXPECT_GT(result["audit"]["lost"], 0) << run.Printed();
  EXPECT_EQ(result["audit"]["wrong"], 0);
  EXPECT_NE(run.out().find("lost"), std::string::npos);
  Sandbox("stop memcached");
}

}  // namespace
}  // namespace cavalry::contract
