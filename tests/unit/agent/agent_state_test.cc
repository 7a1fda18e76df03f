#include "agent/agent_state.h"

#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/agent/messages.h"

namespace cavalry::agent {
namespace {

using Activity = AgentState::Activity;
using Verdict = AgentState::Verdict;

v1::ToAgent Message(const std::string& body, const std::string& run = "r1",
                    std::uint64_t step = 3) {
  auto message = Parse<v1::ToAgent>(body);
  message.set_run_id(run);
  message.set_step_id(step);
  return message;
}

// A state in the wanted activity of run r1, step 3.
AgentState In(Activity activity) {
  AgentState state(0);
  if (activity == Activity::kJoining) return state;
  state.OnMessage(Message("welcome { agent: 'a' }", "r1", 0), 0);
  if (activity == Activity::kPhase) state.OnMessage(Message("run_phase {}"), 0);
  if (activity == Activity::kStep) state.OnMessage(Message("assignment {}"), 0);
  if (activity == Activity::kLeft) state.OnMessage(Message("goodbye {}"), 0);
  EXPECT_EQ(state.activity(), activity);
  return state;
}

struct Case {
  const char* body;
  // Verdicts while joining, idle, in a phase, in a step, left: A act, O out of place, S stale.
  const char* verdicts;
};

TEST(AgentState, JudgesEveryMessageInEveryActivity) {
  const std::vector<Case> cases = {
      {"heartbeat {}", "AAAAA"},  {"clock_probe {}", "AAAAA"},
      {"welcome {}", "AOOOO"},    {"run_phase {}", "OAOOO"},
      {"assignment {}", "OAOOO"}, {"goodbye {}", "OAAAO"},
      {"start_at {}", "OSOAO"},   {"ack {}", "OSOAO"},
      {"stop {}", "OSAAO"},       {"", "OOOOO"},
  };
  const Activity activities[] = {Activity::kJoining, Activity::kIdle, Activity::kPhase,
                                 Activity::kStep, Activity::kLeft};
  for (const Case& test : cases) {
    for (int i = 0; i < 5; ++i) {
      AgentState state = In(activities[i]);
      const Verdict verdict = state.OnMessage(Message(test.body), 5);
      const char letter = verdict == Verdict::kAct ? 'A' : verdict == Verdict::kStale ? 'S' : 'O';
      EXPECT_EQ(letter, test.verdicts[i]) << test.body << " in activity " << i;
      EXPECT_EQ(state.stale_count(), letter == 'S' ? 1U : 0U);
    }
  }
}

TEST(AgentState, DropsMessagesOfOtherRunsAndSteps) {
  AgentState state = In(Activity::kStep);
  EXPECT_EQ(state.OnMessage(Message("stop {}", "r1", 2), 0), Verdict::kStale);
  EXPECT_EQ(state.OnMessage(Message("start_at {}", "r1", 4), 0), Verdict::kStale);
  EXPECT_EQ(state.OnMessage(Message("ack {}", "r1", 2), 0), Verdict::kStale);
  EXPECT_EQ(state.OnMessage(Message("goodbye {}", "r0"), 0), Verdict::kStale);
  EXPECT_EQ(state.OnMessage(Message("assignment {}", "r0"), 0), Verdict::kStale);
  EXPECT_EQ(state.stale_count(), 5U);
  EXPECT_EQ(state.activity(), Activity::kStep);
  EXPECT_EQ(state.step_id(), 3U);
}

TEST(AgentState, GoesFromStepToStep) {
  AgentState state = In(Activity::kStep);
  state.OnPhaseDone();  // of no phase
  EXPECT_EQ(state.activity(), Activity::kStep);
  state.OnStepDone();
  EXPECT_EQ(state.activity(), Activity::kIdle);
  EXPECT_EQ(state.OnMessage(Message("ack {}"), 0), Verdict::kOutOfPlace);
  EXPECT_EQ(state.OnMessage(Message("run_phase {}"), 0), Verdict::kAct);
  state.OnStepDone();
  EXPECT_EQ(state.activity(), Activity::kPhase);
  state.OnPhaseDone();
  EXPECT_EQ(state.OnMessage(Message("assignment {}", "r1", 4), 0), Verdict::kAct);
  EXPECT_EQ(state.step_id(), 4U);
  EXPECT_EQ(state.OnMessage(Message("stop {}", "r1", 3), 0), Verdict::kStale);
}

TEST(AgentState, LeavesWhenRefused) {
  AgentState state(0);
  state.OnMessage(Message("welcome { status { code: 9 text: 'no' } }"), 0);
  EXPECT_EQ(state.activity(), Activity::kLeft);
}

TEST(AgentState, TheLeaseEndsWithSilence) {
  AgentState state(100);
  EXPECT_FALSE(state.LeaseExpired(100 + 10 * kSecond));
  EXPECT_TRUE(state.LeaseExpired(101 + 10 * kSecond));
  state.OnMessage(Message("welcome { lease_ns: 2000 }"), 1'000);
  EXPECT_FALSE(state.LeaseExpired(3'000));
  EXPECT_TRUE(state.LeaseExpired(3'001));
  // Anything heard renews it, even what is dropped.
  state.OnMessage(Message("stop {}", "r0"), 4'000);
  EXPECT_FALSE(state.LeaseExpired(6'000));
}

TEST(AgentState, TheLeaseIsNeverEndless) {
  AgentState state(0);
  state.OnMessage(Message("welcome { lease_ns: 18446744073709551615 }"), 0);
  EXPECT_FALSE(state.LeaseExpired(1));
  EXPECT_TRUE(state.LeaseExpired(3'600 * kSecond));
}

}  // namespace
}  // namespace cavalry::agent
