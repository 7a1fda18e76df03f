#include "agent/run/part_recorder.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

namespace cavalry::run {
namespace {

constexpr Nanos kOrigin = 100 * kSecond;

class PartRecorderTest : public testing::Test {
 protected:
  void End(Outcome outcome, Nanos start, Nanos end) {
    drivers::OpResult result;
    result.outcome = outcome;
    part_.EndOperation(0, result, end - start, end);
  }
  std::vector<IntervalEvent> Delivered() {
    std::vector<IntervalEvent> events;
    while (std::optional<Mail> mail = mailbox_.Take(0)) {
      events.push_back(std::get<IntervalEvent>(*std::move(mail)));
    }
    return events;
  }

  Mailbox mailbox_{1};
  PartRecorder part_{Part::kMeasure, 0, {1}, true, {"a", "b"}, &mailbox_};
};

TEST_F(PartRecorderTest, AttemptedAtIssueEndedAtTheEnd) {
  part_.Open(kOrigin);
  const Nanos start = kOrigin + 900 * kMillisecond;
  const Nanos end = kOrigin + 1100 * kMillisecond;
  part_.BeginIteration();
  part_.BeginOperation(0, start);
  End(Outcome::kOk, start, end);
  part_.EndIteration(true, end - start);
  part_.Finish(end + kMillisecond);
  const std::vector<IntervalEvent> events = Delivered();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].index, 0u);
  EXPECT_EQ(events[0].recorder->operations[0].counters.attempted, 1u);
  EXPECT_EQ(events[0].recorder->operations[0].counters.ended(), 0u);
  EXPECT_EQ(events[0].recorder->in_flight, 1u);
  EXPECT_EQ(events[0].recorder->iterations_in_flight, 1u);
  EXPECT_EQ(events[1].index, 1u);
  EXPECT_EQ(events[1].recorder->operations[0].counters[Outcome::kOk], 1u);
  EXPECT_EQ(events[1].recorder->in_flight, 0u);
  EXPECT_EQ(events[1].recorder->Response()->max(), 200 * kMillisecond);
  part_.CheckIdentities();
}

TEST_F(PartRecorderTest, AnEndOnTheBoundaryBelongsToTheNextInterval) {
  part_.Open(kOrigin);
  part_.BeginIteration();
  part_.BeginOperation(0, kOrigin);
  End(Outcome::kMiss, kOrigin, kOrigin + kSecond);
  part_.EndIteration(false, 0);
  part_.Finish(kOrigin + kSecond);
  const std::vector<IntervalEvent> events = Delivered();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].recorder->operations[0].counters[Outcome::kMiss], 0u);
  EXPECT_EQ(events[1].recorder->operations[0].counters[Outcome::kMiss], 1u);
  part_.CheckIdentities();
}

TEST_F(PartRecorderTest, SecondsWithoutAnEndHaveIntervalsOfTheirOwn) {
  part_.Open(kOrigin);
  part_.BeginIteration();
  part_.BeginOperation(0, kOrigin);
  End(Outcome::kOk, kOrigin, kOrigin + 3500 * kMillisecond);
  part_.EndIteration(true, 3500 * kMillisecond);
  part_.Finish(kOrigin + 3600 * kMillisecond);
  const std::vector<IntervalEvent> events = Delivered();
  ASSERT_EQ(events.size(), 4u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(events[i].index, i);
    EXPECT_EQ(events[i].recorder->in_flight, 1u);
  }
  part_.CheckIdentities();
}

TEST_F(PartRecorderTest, NothingIsDeliveredAfterTheLastInterval) {
  part_.Open(kOrigin);
  part_.BeginIteration();
  part_.BeginOperation(0, kOrigin);
  part_.Finish(kOrigin + kMillisecond);
  EXPECT_EQ(Delivered().size(), 1u);
  End(Outcome::kOk, kOrigin, kOrigin + 5 * kSecond);
  part_.EndIteration(true, 5 * kSecond);
  part_.Finish(kOrigin + 6 * kSecond);
  EXPECT_TRUE(Delivered().empty());
  EXPECT_EQ(part_.iterations_in_flight(), 0u);
}

TEST_F(PartRecorderTest, ClassesWithoutLatencyHaveNoSample) {
  part_.Open(kOrigin);
  for (const Outcome outcome : {Outcome::kNotSent, Outcome::kAbandoned}) {
    part_.BeginIteration();
    part_.BeginOperation(0, kOrigin);
    End(outcome, kOrigin, kOrigin + kMillisecond);
    part_.EndIteration(false, 0);
  }
  part_.Finish(kOrigin + 2 * kMillisecond);
  part_.CheckIdentities();
  const std::vector<IntervalEvent> events = Delivered();
  EXPECT_EQ(events.at(0).recorder->operations[0].counters.failed(), 2u);
  EXPECT_EQ(events.at(0).recorder->Response(), nullptr);
}

TEST_F(PartRecorderTest, LostCountsAreNoticed) {
  part_.Open(kOrigin);
  part_.BeginIteration();
  EXPECT_DEATH(part_.CheckIdentities(), "iterations_in_flight_ == 0");
}

TEST_F(PartRecorderTest, RecordersAreUsedAgain) {
  part_.Open(kOrigin);
  part_.CloseDue(kOrigin + kSecond);
  std::vector<IntervalEvent> events = Delivered();
  const stats::IntervalRecorder* const first = events.at(0).recorder.get();
  mailbox_.ReturnRecorder(std::move(events[0].recorder));
  part_.CloseDue(kOrigin + 2 * kSecond);
  EXPECT_EQ(&part_.interval(), first);
  part_.Finish(kOrigin + 2 * kSecond);
}

}  // namespace
}  // namespace cavalry::run
