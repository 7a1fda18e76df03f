// Agents that are lost, late, of another version, faulty or hostile; ports and disks that are not
// there.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "core/base/unique_fd.h"
#include "core/wire/status_codec.h"
#include "tests/cluster/cluster_fixture.h"

namespace cavalry::testing {
namespace {

class FaultTest : public ClusterTest {
 protected:
  // Sends one interval after the start, then does `then`.
  static FakeAgent::Options ThenAfterStart(const std::string& name,
                                           std::function<void(FakeAgent*)> then) {
    FakeAgent::Options options;
    options.name = name;
    options.override = [then = std::move(then)](FakeAgent* agent, const v1::ToAgent& message) {
      if (!message.has_start_at() || message.step_id() != 1) return false;
      agent->SendIntervals(1, 1, 1, 100);
      then(agent);
      return true;
    };
    return options;
  }
  bool Status(const std::string& part) const {
    return StatusText(end().status).find(part) != std::string::npos;
  }
};

TEST_F(FaultTest, AKilledAgentIsLostAndTheOthersGoOn) {
  Plan(MakeWorkload(), {"sql", "hs"}, 2);
  AddAgent("gen1");
  AddAgent(ThenAfterStart("gen2", [](FakeAgent* agent) { agent->Kill(); }));
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_PARTIAL);
  ASSERT_EQ(run().steps().size(), 2U);
  EXPECT_EQ(run().steps()[0].end, v1::STEP_END_PARTIAL);
  EXPECT_TRUE(run().steps()[0].lost_agent);
  EXPECT_TRUE(run().steps()[1].complete());
  EXPECT_EQ(run().steps()[1].agents.size(), 1U);
  const report::Report report = MakeReport();
  EXPECT_EQ(report.exit_status, 4);
  EXPECT_NE(report::RenderText(report, "").find("gen2"), std::string::npos);
}

TEST_F(FaultTest, ASilentAgentIsLost) {
  Plan(MakeWorkload(), {"sql"}, 2).registry.lost_after = 1500 * kMillisecond;
  FakeAgent::Options slow;
  slow.name = "gen1";
  slow.reports = false;  // until the other is lost
  FakeAgent* other = AddAgent(slow);
  AddAgent(ThenAfterStart("gen2", [](FakeAgent* agent) { agent->Mute(); }));
  Start();
  ASSERT_TRUE(TurnUntil([&] {
    const auto& agents = run().agents();
    return std::any_of(agents.begin(), agents.end(), [](const auto& a) { return a.lost; });
  }));
  EXPECT_FALSE(session_->engine().ended());
  ASSERT_TRUE(other->Await([](const v1::ToAgent& m) { return m.has_start_at(); }));
  other->SendReport(1, 3, 100);
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_PARTIAL);
  for (const report::AgentView& agent : run().agents()) {
    EXPECT_EQ(agent.lost, agent.name == "gen2");
    EXPECT_EQ(agent.lost_reason, agent.lost ? "silent for 1.5 s" : "");
  }
}

TEST_F(FaultTest, AllLostFails) {
  Plan(MakeWorkload(), {"sql"}, 1);
  AddAgent(ThenAfterStart("gen1", [](FakeAgent* agent) { agent->Kill(); }));
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_FAILED);
  EXPECT_TRUE(Status("every agent is lost; gen1:")) << end().status;
  EXPECT_EQ(MakeReport().exit_status, 1);
}

TEST_F(FaultTest, AnAgentThatNeverArmsIsLeftBehind) {
  v1::Workload workload = MakeWorkload();
  workload.mutable_load()->set_connect_timeout(std::uint64_t{kMillisecond});
  Plan(workload, {"sql"}, 2).plan.deadlines.arm_slack = kSecond;
  AddAgent("gen1");
  FakeAgent::Options late;
  late.name = "late";
  late.override = [](FakeAgent*, const v1::ToAgent& message) { return message.has_assignment(); };
  FakeAgent* agent = AddAgent(late);
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_PARTIAL);
  EXPECT_EQ(OkOfStep(0), 300U);
  EXPECT_TRUE(agent->AwaitEnd()) << "it was cut off";
}

TEST_F(FaultTest, AnotherVersionIsRefusedAndTheRunWaitsForARightOne) {
  Plan(MakeWorkload(), {"sql"}, 1);
  FakeAgent::Options old;
  old.version = "0.0.1";
  FakeAgent* refused = AddAgent(old);
  Start();
  ASSERT_TRUE(TurnUntil([&] { return !refused->Received().empty(); }));
  const auto welcome = refused->Await([](const v1::ToAgent& m) { return m.has_welcome(); });
  ASSERT_TRUE(welcome);
  EXPECT_NE(welcome->welcome().status().text().find("version 0.0.1"), std::string::npos);
  EXPECT_TRUE(refused->AwaitEnd());
  EXPECT_FALSE(session_->engine().ended());
  AddAgent("right");
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_COMPLETE) << end().status;
}

TEST_F(FaultTest, ARefusedPhaseFailsTheRunWithItsText) {
  Plan(MakeWorkload(), {"sql"}, 1);
  FakeAgent::Options options;
  options.override = [](FakeAgent* agent, const v1::ToAgent& message) {
    if (message.run_phase().phase() != v1::PHASE_RESET) return false;
    v1::Status status;
    wire::ToMessage(FailedPrecondition("sql: reset would empty shop.orders; use 'existing: use'"),
                    &status);
    agent->SendPhaseDone(message, status);
    return true;
  };
  AddAgent(options);
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_FAILED);
  EXPECT_TRUE(Status("sql: reset would empty shop.orders")) << end().status;
  EXPECT_EQ(MakeReport().exit_status, 1);
}

TEST_F(FaultTest, TotalsThatDoNotAddUpAreNotBelieved) {
  Plan(MakeWorkload(), {"sql"}, 2);
  AddAgent("honest");
  AddAgent(ThenAfterStart("liar", [](FakeAgent* agent) { agent->SendReport(1, 1, 101); }));
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_PARTIAL);
  EXPECT_TRUE(Warned("liar"));
  EXPECT_EQ(run().steps()[0].end, v1::STEP_END_PARTIAL);
  EXPECT_EQ(MakeReport().exit_status, 4);
}

TEST_F(FaultTest, TooFewOpenFilesAreRefusedBeforeTheRun) {
  Plan(MakeWorkload(5000), {"sql"}, 1);
  FakeAgent* agent = AddAgent("small");
  Start();
  ASSERT_TRUE(TurnUntil([&] { return !agent->Received().empty(); }));
  const auto welcome = agent->Await([](const v1::ToAgent& m) { return m.has_welcome(); });
  ASSERT_TRUE(welcome);
  EXPECT_NE(welcome->welcome().status().text().find("need 5,064 open files"), std::string::npos);
}

TEST_F(FaultTest, AMessageBeyondTheBoundEndsOnlyItsStream) {
  Plan(MakeWorkload(), {"sql"}, 2);
  AddAgent("gen1");
  AddAgent(ThenAfterStart("huge", [](FakeAgent* agent) {
    v1::FromAgent message;
    message.mutable_log()->set_text(std::string(coordinator::kMaxMessageBytes + 1, 'x'));
    agent->Send(message);
  }));
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_PARTIAL) << end().status;
  EXPECT_EQ(OkOfStep(0), 400U);
}

TEST_F(FaultTest, BytesThatAreNoGrpcHarmNobody) {
  Plan(MakeWorkload(), {"sql"}, 1);
  const UniqueFd raw(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(session_->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(raw.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  std::string noise = "GET / HTTP/1.0\r\n\r\n";
  for (int i = 0; i < 4096; ++i) noise += static_cast<char>(i * 37);
  ASSERT_GT(send(raw.get(), noise.data(), noise.size(), MSG_NOSIGNAL), 0);
  AddAgent("gen1");
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_COMPLETE) << end().status;
}

TEST_F(FaultTest, AnAgentThatSaysHelloTwiceIsLost) {
  Plan(MakeWorkload(), {"sql"}, 2);
  AddAgent("gen1");
  AddAgent(ThenAfterStart("twice", [](FakeAgent* agent) {
    v1::FromAgent message;
    message.mutable_hello()->set_name("twice");
    agent->Send(message);
  }));
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_PARTIAL);
  EXPECT_EQ(OkOfStep(0), 400U);
}

TEST_F(FaultTest, APortInUseIsSaidClearly) {
  const std::string address = "127.0.0.1:" + std::to_string(session_->port());
  const auto second = coordinator::RunSession::Open(address, nullptr);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(StatusText(second.status()).find("the port is in use"), std::string::npos);
  EXPECT_NE(StatusText(second.status()).find("--listen"), std::string::npos);
}

TEST_F(FaultTest, AFullDiskDoesNotEndTheRun) {
  Plan(MakeWorkload(), {"sql"}, 1);
  FakeAgent::Options options;
  options.intervals = 10;
  AddAgent(options);
  // The limit on file sizes stands in for a full disk.
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  struct rlimit small = before;
  small.rlim_cur = 1200;
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Start();
  const bool ended = TurnToEnd();
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_handler);
  ASSERT_TRUE(ended);
  EXPECT_EQ(end().end, v1::RUN_END_COMPLETE) << end().status;
  EXPECT_EQ(OkOfStep(0), 1000U) << "the live report has everything";
  EXPECT_TRUE(Warned("the run goes on"));
  const auto rebuilt = report::RebuildRun(folder_ + "/journal");
  EXPECT_TRUE(rebuilt.ok()) << "what was written can be read: " << rebuilt.status();
}

TEST_F(FaultTest, AFatalErrorEndsTheRunWithWhatWasMeasured) {
  Plan(MakeWorkload(), {"sql", "hs"}, 2);
  FakeAgent::Options patient;
  patient.name = "gen1";
  patient.override = [](FakeAgent* agent, const v1::ToAgent& message) {
    if (message.has_start_at()) {
      agent->SendIntervals(1, 1, 1, 100);
      return true;
    }
    if (!message.has_stop()) return false;
    EXPECT_EQ(message.stop().mode(), v1::STOP_MODE_NOW);
    agent->SendReport(1, 1, 100);
    return true;
  };
  AddAgent(patient);
  AddAgent(ThenAfterStart("gen2", [](FakeAgent* agent) {
    agent->SendReport(1, 1, 100, [](v1::StepReport* report) {
      wire::ToMessage(FailedPrecondition("2 readonly: use the write port"),
                      report->mutable_fatal());
    });
  }));
  Start();
  ASSERT_TRUE(TurnToEnd());
  EXPECT_EQ(end().end, v1::RUN_END_FAILED);
  EXPECT_TRUE(Status("sql on gen2: 2 readonly")) << end().status;
  EXPECT_EQ(OkOfStep(0), 200U);
  EXPECT_EQ(MakeReport().exit_status, 1);
}

}  // namespace
}  // namespace cavalry::testing
