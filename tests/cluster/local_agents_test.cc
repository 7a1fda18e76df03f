// Child processes as local agents: shell scripts stand in for cavalry-agent.
#include "coordinator/local_agents.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace cavalry::coordinator {
namespace {

class LocalAgentsTest : public ::testing::Test {
 protected:
  LocalAgentsTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "cavalry-test-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
  }
  ~LocalAgentsTest() override { std::filesystem::remove_all(folder_); }

  LocalAgents::Options Script(const std::string& body, std::size_t count = 1) {
    const std::string path = folder_ + "/agent";
    std::ofstream(path) << "#!/bin/bash\n" << body << "\n";
    chmod(path.c_str(), 0700);
    LocalAgents::Options options;
    options.count = count;
    options.coordinator = "127.0.0.1:1";
    options.token = "token";
    options.workers = 2;
    options.program = path;
    return options;
  }

  // Polls until `reached`; false after 10 s.
  template <typename Condition>
  bool PollUntil(LocalAgents* agents, Condition reached) {
    const Nanos deadline = MonotonicNow() + 10 * kSecond;
    while (!reached() && MonotonicNow() < deadline) agents->Poll(&lines_);
    return reached();
  }

  std::string folder_;
  std::vector<std::string> lines_;
};

TEST_F(LocalAgentsTest, GetsItsArgumentsAndPassesOnWhatItPrints) {
  auto agents = LocalAgents::Start(Script("echo \"$@\"; echo wrong >&2; exit 3"));
  ASSERT_TRUE(agents.ok()) << agents.status();
  ASSERT_TRUE(PollUntil(&*agents, [&] { return agents->running() == 0; }));
  ASSERT_EQ(lines_.size(), 2U);
  for (const char* argument :
       {"local1: --coordinator 127.0.0.1:1 ", " --name local1 ", " --parent-fd 3 ", " --workers 2 ",
        " --loop auto ", " --log warning ", " --local-token token"}) {
    EXPECT_NE(lines_[0].find(argument), std::string::npos) << argument << " in " << lines_[0];
  }
  const auto exits = agents->TakeExits();
  ASSERT_EQ(exits.size(), 1U);
  EXPECT_EQ(exits[0].how, "ended with status 3");
  EXPECT_NE(exits[0].tail.find("\n  wrong"), std::string::npos);
}

TEST_F(LocalAgentsTest, HasItsOwnProcessGroupAndUsualSignals) {
  auto agents = LocalAgents::Start(Script("ps -o pgid= -p $$; echo $$; kill -INT $$; sleep 60"));
  ASSERT_TRUE(agents.ok());
  ASSERT_TRUE(PollUntil(&*agents, [&] { return agents->running() == 0; }))
      << "SIGINT is not blocked";
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_EQ(std::stoi(lines_[0].substr(8)), std::stoi(lines_[1].substr(8)));
}

TEST_F(LocalAgentsTest, ItsLifeIsTiedToAPipe) {
  auto agents = LocalAgents::Start(Script("read -u 3 line; echo orphaned > " + folder_ + "/end"));
  ASSERT_TRUE(agents.ok());
  EXPECT_EQ(agents->running(), 1U);
  agents->CloseLife();
  ASSERT_TRUE(PollUntil(&*agents, [&] { return agents->running() == 0; }));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/end"));
}

TEST_F(LocalAgentsTest, InheritsNoOtherDescriptor) {
  // 255 is the shell's own, for its script.
  auto agents = LocalAgents::Start(
      Script("for fd in {3..254}; do [ -e /proc/$$/fd/$fd ] && echo $fd; done; exit 0"));
  ASSERT_TRUE(agents.ok());
  ASSERT_TRUE(PollUntil(&*agents, [&] { return agents->running() == 0; }));
  EXPECT_EQ(lines_, std::vector<std::string>{"local1: 3"});
}

TEST_F(LocalAgentsTest, EndKillsWhatDoesNotLeave) {
  auto agents = LocalAgents::Start(Script("trap '' INT TERM; while :; do sleep 60; done", 3));
  ASSERT_TRUE(agents.ok());
  EXPECT_EQ(agents->running(), 3U);
  agents->End(MonotonicNow() + 50 * kMillisecond);
  EXPECT_EQ(agents->running(), 0U);
  for (const LocalAgents::Exit& exit : agents->TakeExits()) {
    EXPECT_EQ(exit.how, "was killed by signal 9 (Killed)");
  }
}

TEST_F(LocalAgentsTest, AMissingProgramIsNamed) {
  LocalAgents::Options options = Script("");
  options.program = "/nonexistent/cavalry-agent";
  const auto agents = LocalAgents::Start(options);
  ASSERT_FALSE(agents.ok());
  EXPECT_NE(StatusText(agents.status()).find("/nonexistent/cavalry-agent"), std::string::npos);
  EXPECT_NE(StatusText(agents.status()).find("must stand beside cavalry"), std::string::npos);
}

}  // namespace
}  // namespace cavalry::coordinator
