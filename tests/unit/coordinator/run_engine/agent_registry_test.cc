#include "coordinator/agent_registry.h"

#include <gtest/gtest.h>

#include <map>

namespace cavalry::coordinator {
namespace {

// Keeps what is sent instead of sending it.
class FakeLink final : public ControlLink {
 public:
  void Send(StreamId stream, const v1::ToAgent& message) override {
    sent[stream].push_back(message);
  }
  void Close(StreamId stream, bool) override { closed.push_back(stream); }

  std::map<StreamId, std::vector<v1::ToAgent>> sent;
  std::vector<StreamId> closed;
};

class AgentRegistryTest : public ::testing::Test {
 protected:
  AgentRegistry::Options Options(std::size_t agents) {
    AgentRegistry::Options options;
    options.run_id = "run-1";
    options.version = "1.0";
    options.agents = agents;
    options.clock = [this] { return now_; };
    return options;
  }

  void Deliver(AgentRegistry* registry, StreamId stream, const v1::FromAgent& message) {
    ControlEvent event;
    event.stream = stream;
    event.kind = ControlEvent::Kind::kMessage;
    event.at = now_;
    event.message = message;
    registry->OnEvent(std::move(event));
  }
  void Open(AgentRegistry* registry, StreamId stream) {
    ControlEvent event;
    event.stream = stream;
    event.at = now_;
    registry->OnEvent(std::move(event));
  }
  void Closed(AgentRegistry* registry, StreamId stream, const std::string& reason) {
    ControlEvent event;
    event.stream = stream;
    event.kind = ControlEvent::Kind::kClosed;
    event.at = now_;
    event.reason = reason;
    registry->OnEvent(std::move(event));
  }
  void SayHello(AgentRegistry* registry, StreamId stream, const std::string& name,
                const std::string& version = "1.0", const std::string& token = "") {
    v1::FromAgent message;
    v1::Hello* hello = message.mutable_hello();
    hello->set_name(name);
    hello->set_host("host");
    hello->set_version(version);
    hello->set_workers(1);
    hello->set_max_open_files(1024);
    hello->set_local_token(token);
    Deliver(registry, stream, message);
  }
  // Answers probes until none is asked for; the agent's clock is 1 s ahead.
  void AnswerProbes(AgentRegistry* registry, StreamId stream) {
    for (std::size_t i = 0; i < link_.sent[stream].size(); ++i) {
      const v1::ToAgent probe = link_.sent[stream][i];
      if (!probe.has_clock_probe()) continue;
      now_ += 100 * kMicrosecond;
      v1::FromAgent message;
      message.mutable_clock_reply()->set_probe_sent_ns(probe.clock_probe().sent_ns());
      message.mutable_clock_reply()->set_received_ns(now_ - 50 * kMicrosecond + kSecond);
      message.mutable_clock_reply()->set_sent_ns(now_ - 50 * kMicrosecond + kSecond);
      Deliver(registry, stream, message);
    }
  }
  void Join(AgentRegistry* registry, StreamId stream, const std::string& name) {
    Open(registry, stream);
    SayHello(registry, stream, name);
    AnswerProbes(registry, stream);
    link_.sent[stream].clear();
  }
  template <typename Event>
  std::vector<Event> Take(AgentRegistry* registry) {
    std::vector<Event> taken;
    for (AgentEvent& event : registry->TakeEvents()) {
      if (auto* wanted = std::get_if<Event>(&event)) taken.push_back(std::move(*wanted));
    }
    return taken;
  }

  Nanos now_ = 1000 * kSecond;
  FakeLink link_;
};

TEST_F(AgentRegistryTest, TakesAnAgentInWhenItsClockIsKnown) {
  AgentRegistry registry(Options(1), &link_);
  Open(&registry, 7);
  SayHello(&registry, 7, "gen1");
  ASSERT_FALSE(link_.sent[7].empty());
  const v1::ToAgent welcome = link_.sent[7].front();
  EXPECT_EQ(welcome.run_id(), "run-1");
  EXPECT_EQ(welcome.welcome().status().code(), 0);
  EXPECT_EQ(welcome.welcome().agent(), "gen1");
  EXPECT_EQ(welcome.welcome().lease_ns(), 10 * std::uint64_t{kSecond});
  EXPECT_TRUE(registry.TakeEvents().empty());
  AnswerProbes(&registry, 7);
  const auto ready = Take<AgentReady>(&registry);
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0].member.name, "gen1");
  EXPECT_EQ(ready[0].member.clock_offset, kSecond);
  EXPECT_EQ(ready[0].member.clock_rtt, 100 * kMicrosecond);
}

TEST_F(AgentRegistryTest, MakesNamesUniqueAndClean) {
  AgentRegistry registry(Options(3), &link_);
  Join(&registry, 1, "gen");
  Join(&registry, 2, "gen");
  Join(&registry, 3, "a b\n/c");
  const auto ready = Take<AgentReady>(&registry);
  ASSERT_EQ(ready.size(), 3U);
  EXPECT_EQ(ready[0].member.name, "gen");
  EXPECT_EQ(ready[1].member.name, "gen-2");
  EXPECT_EQ(ready[2].member.name, "a_b__c");
}

TEST_F(AgentRegistryTest, RefusesAnotherVersionAndSaysWhy) {
  AgentRegistry registry(Options(1), &link_);
  Open(&registry, 1);
  SayHello(&registry, 1, "old", "0.9");
  ASSERT_EQ(link_.sent[1].size(), 1U);
  EXPECT_NE(link_.sent[1][0].welcome().status().code(), 0);
  EXPECT_NE(link_.sent[1][0].welcome().status().text().find("version 0.9, cavalry is 1.0"),
            std::string::npos);
  EXPECT_EQ(link_.closed, std::vector<StreamId>{1});
  ASSERT_EQ(Take<AgentRefused>(&registry).size(), 1U);
  Join(&registry, 2, "new");
  EXPECT_EQ(Take<AgentReady>(&registry).size(), 1U) << "its place is still free";
}

TEST_F(AgentRegistryTest, RefusesMoreThanTheRunNeeds) {
  AgentRegistry registry(Options(1), &link_);
  Join(&registry, 1, "a");
  Open(&registry, 2);
  SayHello(&registry, 2, "b");
  EXPECT_NE(link_.sent[2][0].welcome().status().text().find("has its 1 agent already"),
            std::string::npos);
}

TEST_F(AgentRegistryTest, LocalRunsTakeOnlyTheirOwn) {
  AgentRegistry::Options options = Options(1);
  options.local_token = "secret";
  AgentRegistry registry(options, &link_);
  Open(&registry, 1);
  SayHello(&registry, 1, "stranger", "1.0", "secreT");
  EXPECT_NE(link_.sent[1][0].welcome().status().code(), 0);
  Open(&registry, 2);
  SayHello(&registry, 2, "local1", "1.0", "secret");
  EXPECT_EQ(link_.sent[2][0].welcome().status().code(), 0);
}

TEST_F(AgentRegistryTest, SilenceAndTheStreamsEndLoseAnAgent) {
  AgentRegistry registry(Options(2), &link_);
  Join(&registry, 1, "a");
  Join(&registry, 2, "b");
  Take<AgentReady>(&registry);
  for (int second = 0; second < 9; ++second) {
    now_ += kSecond;
    v1::FromAgent beat;
    beat.mutable_heartbeat();
    Deliver(&registry, 1, beat);
    registry.OnTime(now_);
  }
  EXPECT_TRUE(Take<AgentGone>(&registry).empty());
  now_ += kSecond;
  registry.OnTime(now_);
  auto gone = Take<AgentGone>(&registry);
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].agent, "b");
  EXPECT_EQ(gone[0].reason, "silent for 10 s");
  Closed(&registry, 2, "closed by the coordinator");
  EXPECT_TRUE(Take<AgentGone>(&registry).empty()) << "told once";
  Closed(&registry, 1, "its connection broke");
  gone = Take<AgentGone>(&registry);
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].agent, "a");
}

TEST_F(AgentRegistryTest, BeatsOnceASecondWithAProbe) {
  AgentRegistry registry(Options(1), &link_);
  Join(&registry, 1, "a");
  for (int tenth = 0; tenth < 30; ++tenth) {
    registry.OnTime(now_);
    now_ += kSecond / 10;
  }
  EXPECT_EQ(link_.sent[1].size(), 6U);
}

TEST_F(AgentRegistryTest, FaultyPeersAreClosed) {
  AgentRegistry registry(Options(4), &link_);
  Open(&registry, 1);
  v1::FromAgent interval;
  interval.mutable_interval();
  Deliver(&registry, 1, interval);  // no hello
  EXPECT_EQ(link_.closed, std::vector<StreamId>{1});

  Join(&registry, 2, "twice");
  Take<AgentReady>(&registry);
  SayHello(&registry, 2, "twice");
  EXPECT_EQ(Take<AgentGone>(&registry).size(), 1U);

  Open(&registry, 3);  // never says anything
  now_ += 10 * kSecond;
  registry.OnTime(now_);
  EXPECT_EQ(link_.closed, (std::vector<StreamId>{1, 2, 3}));
  EXPECT_TRUE(registry.TakeEvents().empty()) << "nobody knew it";
}

TEST_F(AgentRegistryTest, SaysGoodbyeToAll) {
  AgentRegistry registry(Options(2), &link_);
  Join(&registry, 1, "a");
  Join(&registry, 2, "b");
  registry.SayGoodbye("the run is over");
  for (const StreamId stream : {1U, 2U}) {
    ASSERT_EQ(link_.sent[stream].size(), 1U);
    EXPECT_EQ(link_.sent[stream][0].goodbye().reason(), "the run is over");
  }
  EXPECT_EQ(registry.streams(), 2U);
  Closed(&registry, 1, "");
  Closed(&registry, 2, "");
  EXPECT_EQ(registry.streams(), 0U);
}

}  // namespace
}  // namespace cavalry::coordinator
