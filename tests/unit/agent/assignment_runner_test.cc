#include "agent/assignment_runner.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/wire/status_codec.h"
#include "tests/unit/agent/fake_driver.h"
#include "tests/unit/agent/fake_load_run.h"
#include "tests/unit/agent/messages.h"

namespace cavalry::agent {
namespace {

using run::FakeLoad;

// What the runner sends, with what was so at that moment.
class Inbox {
 public:
  AssignmentRunner::Send Sender(const AssignmentRunner* runner) {
    return [this, runner](v1::FromAgent message) {
      bool load_alive;
      {
        FakeLoad& fake = FakeLoad::Get();
        const std::lock_guard lock(fake.mutex);
        load_alive = fake.alive;
      }
      const std::lock_guard lock(mutex_);
      idle_.push_back(runner->idle());
      load_alive_.push_back(load_alive);
      messages_.push_back(std::move(message));
      changed_.notify_all();
    };
  }
  std::vector<v1::FromAgent> Wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return messages_.size() >= count; });
    return messages_;
  }
  bool idle_at(std::size_t message) {
    const std::lock_guard lock(mutex_);
    return idle_[message];
  }
  bool load_alive_at(std::size_t message) {
    const std::lock_guard lock(mutex_);
    return load_alive_[message];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<v1::FromAgent> messages_;
  std::vector<bool> idle_, load_alive_;
};

class AssignmentRunnerTest : public testing::Test {
 protected:
  AssignmentRunnerTest()
      : assignment_(With(BaseAssignment(), R"pb(
          operations {
            name: "find"
            read { table: "stock" }
          }
          script { steps { operation: "find" } }
        )pb")) {
    fake_.Reset();
    drivers::FakeServer::Get().Reset();
  }

  static run::IntervalEvent Interval(std::uint32_t index, std::uint64_t ok) {
    run::IntervalEvent event;
    event.index = index;
    event.recorder = std::make_unique<stats::IntervalRecorder>(1, true);
    for (std::uint64_t i = 0; i < ok; ++i) {
      ++event.recorder->operations[0].counters.attempted;
      event.recorder->RecordOperation(0, Outcome::kOk, 1'000);
      ++event.recorder->iterations.attempted;
      ++event.recorder->iterations.ok;
    }
    return event;
  }

  static run::FinishedEvent Finished(std::uint64_t ok) {
    run::FinishedEvent event;
    event.workers.resize(1);
    run::WorkerResult& worker = event.workers[0];
    worker.operations.resize(1);
    worker.operations[0].attempted = ok;
    for (std::uint64_t i = 0; i < ok; ++i) worker.operations[0].Count(Outcome::kOk);
    worker.iterations.attempted = worker.iterations.ok = ok;
    worker.ledger = std::make_unique<load::Ledger>(2);
    return event;
  }

  FakeLoad& fake_ = FakeLoad::Get();
  Inbox inbox_;
  AssignmentRunner runner_{AssignmentOptions{1, run::LoopKind::kAuto, 1'024}};
  v1::Assignment assignment_;
};

TEST_F(AssignmentRunnerTest, RunsAStepFromArmedToReport) {
  runner_.Start(assignment_, inbox_.Sender(&runner_));
  fake_.Push(run::ArmedEvent{4, 0, {}, {}});
  auto messages = inbox_.Wait(1);
  EXPECT_EQ(messages[0].armed().connected(), 4U);
  EXPECT_EQ(messages[0].armed().status().code(), 0);
  EXPECT_FALSE(runner_.idle());
  runner_.StartAt(12'345);
  fake_.WaitForOrders(1);
  fake_.Push(Interval(0, 3));
  fake_.Push(Interval(1, 2));
  fake_.Push(Finished(5));
  messages = inbox_.Wait(4);
  EXPECT_EQ(messages[1].interval().seq(), 1U);
  EXPECT_EQ(messages[2].interval().seq(), 2U);
  EXPECT_EQ(messages[3].step_report().seq(), 3U);
  EXPECT_EQ(messages[3].step_report().totals().operations(0).ops().ok(), 5U);
  EXPECT_EQ(fake_.start_at, 12'345);
  // Whoever reads the report may order the next thing at once, and the connections are closed.
  EXPECT_TRUE(inbox_.idle_at(3));
  EXPECT_FALSE(inbox_.load_alive_at(3));
  EXPECT_TRUE(inbox_.load_alive_at(2));
  EXPECT_EQ(fake_.recycled, 2);
  ASSERT_NE(runner_.ledger()->plan, nullptr);
  EXPECT_EQ(runner_.ledger()->ledgers.size(), 1U);
}

TEST_F(AssignmentRunnerTest, PassesAStopThatComesBeforeTheStart) {
  runner_.Start(assignment_, inbox_.Sender(&runner_));
  runner_.Stop(run::StopKind::kDrain);
  const auto messages = inbox_.Wait(1);
  EXPECT_TRUE(messages[0].has_step_report());
  EXPECT_EQ(fake_.WaitForOrders(2), (std::vector<std::string>{"drain", "destroyed"}));
}

TEST_F(AssignmentRunnerTest, PassesASharperStopButNoMilderOne) {
  fake_.end_on_stop = false;
  runner_.Start(assignment_, inbox_.Sender(&runner_));
  runner_.Stop(run::StopKind::kDrain);
  fake_.WaitForOrders(1);
  runner_.Stop(run::StopKind::kNow);
  fake_.WaitForOrders(2);
  runner_.Stop(run::StopKind::kDrain);
  fake_.Push(Finished(0));
  inbox_.Wait(1);
  EXPECT_EQ(fake_.WaitForOrders(3), (std::vector<std::string>{"drain", "now", "destroyed"}));
}

TEST_F(AssignmentRunnerTest, StartsAtOnceWhenTheInstantHasPassed) {
  for (const Nanos instant : {Nanos{0}, Nanos{-5}, std::numeric_limits<Nanos>::min()}) {
    fake_.Reset();
    runner_.Start(assignment_, inbox_.Sender(&runner_));
    runner_.StartAt(instant);
    fake_.WaitForOrders(1);
    EXPECT_EQ(fake_.start_at, 1);
    runner_.Stop(run::StopKind::kNow);
    fake_.WaitForOrders(3);
  }
}

TEST_F(AssignmentRunnerTest, BoundsAnInstantFarAhead) {
  runner_.Start(assignment_, inbox_.Sender(&runner_));
  runner_.StartAt(std::numeric_limits<Nanos>::max());
  fake_.WaitForOrders(1);
  EXPECT_LE(fake_.start_at, MonotonicNow() + 24 * 3'600 * kSecond);
}

TEST_F(AssignmentRunnerTest, TellsWhyAStepCannotBegin) {
  const auto error = [&](const v1::Assignment& assignment) {
    Inbox inbox;
    runner_.Start(assignment, inbox.Sender(&runner_));
    const auto messages = inbox.Wait(1);
    EXPECT_TRUE(inbox.idle_at(0));
    EXPECT_FALSE(inbox.load_alive_at(0));
    return StatusText(wire::FromMessage(messages[0].armed().status()));
  };
  v1::Assignment bad = assignment_;
  bad.set_target("nobody");
  EXPECT_NE(error(bad).find("nobody"), std::string::npos);
  EXPECT_EQ(runner_.ledger()->plan, nullptr);
  bad = assignment_;
  bad.set_sessions(1'000);
  bad.mutable_workload()->mutable_load()->set_sessions(1'000);
  EXPECT_NE(error(bad).find("ulimit"), std::string::npos);
  fake_.create_error = Unavailable("no loop");
  EXPECT_EQ(error(assignment_), "no loop");
  fake_.create_error = absl::OkStatus();
  fake_.Push(run::ArmedEvent{0, 0, {}, FailedPrecondition("wrong password")});
  EXPECT_EQ(error(assignment_), "wrong password");
  // After all that, a step can begin.
  fake_.Reset();
  runner_.Start(assignment_, inbox_.Sender(&runner_));
  fake_.Push(run::ArmedEvent{4, 0, {}, {}});
  EXPECT_EQ(inbox_.Wait(1)[0].armed().connected(), 4U);
}

TEST_F(AssignmentRunnerTest, ForgetsTheLedgerOfTheStepBefore) {
  runner_.Start(assignment_, inbox_.Sender(&runner_));
  fake_.Push(Finished(0));
  inbox_.Wait(1);
  EXPECT_EQ(runner_.ledger()->ledgers.size(), 1U);
  v1::Assignment bad = assignment_;
  bad.clear_target();
  runner_.Start(bad, inbox_.Sender(&runner_));
  inbox_.Wait(2);
  EXPECT_TRUE(runner_.ledger()->ledgers.empty());
  EXPECT_EQ(runner_.ledger()->plan, nullptr);
}

TEST_F(AssignmentRunnerTest, StopsAtOnceWhenItIsDestroyed) {
  {
    AssignmentRunner runner(AssignmentOptions{});
    runner.Start(assignment_, inbox_.Sender(&runner));
    fake_.Push(run::ArmedEvent{4, 0, {}, {}});
    inbox_.Wait(1);
  }
  EXPECT_EQ(fake_.WaitForOrders(2), (std::vector<std::string>{"now", "destroyed"}));
  // No report of a step that was cut off: it would pass for one that ended as planned.
  EXPECT_EQ(inbox_.Wait(1).size(), 1U);
}

}  // namespace
}  // namespace cavalry::agent
