#include "core/stats/interval_recorder.h"

#include <gtest/gtest.h>

namespace cavalry::stats {
namespace {

TEST(IntervalRecorderTest, RecordsLatencyOfClassesThatHaveOne) {
  IntervalRecorder recorder(2);
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    recorder.RecordOperation(1, static_cast<Outcome>(i), 1'000);
  }
  const IntervalRecorder::PerOperation& operation = recorder.operations[1];
  EXPECT_EQ(operation.counters.ended(), kOutcomeCount);
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    const IntervalHistogram* histogram = operation.histograms.Get(outcome);
    if (outcome <= Outcome::kBroken) {
      ASSERT_NE(histogram, nullptr) << OutcomeName(outcome);
      EXPECT_EQ(histogram->count(), 1u);
    } else {
      EXPECT_EQ(histogram, nullptr) << OutcomeName(outcome);
    }
  }
  EXPECT_EQ(recorder.operations[0].histograms.Get(Outcome::kOk), nullptr);
  EXPECT_EQ(recorder.TotalOperations().ended(), kOutcomeCount);
}

TEST(IntervalRecorderTest, ClearKeepsHistogramsButShowsNone) {
  IntervalRecorder recorder(1);
  recorder.RecordOperation(0, Outcome::kOk, 1'000);
  recorder.RecordResponse(2'000);
  recorder.RecordConnect(3'000);
  recorder.operations[0].errors.Count("x", Outcome::kRejected, "");
  recorder.iterations.ok = 1;
  recorder.reconnects = recorder.reprepares = recorder.retries = recorder.in_flight = 1;
  const IntervalHistogram* kept = recorder.operations[0].histograms.ok.get();
  recorder.Clear();
  EXPECT_EQ(recorder.operations[0].histograms.ok.get(), kept);
  EXPECT_EQ(recorder.operations[0].histograms.Get(Outcome::kOk), nullptr);
  EXPECT_EQ(recorder.Response(), nullptr);
  EXPECT_EQ(recorder.connect->count(), 0u);
  EXPECT_TRUE(recorder.operations[0].errors.empty());
  EXPECT_EQ(recorder.TotalOperations(), OperationCounters());
  EXPECT_EQ(recorder.iterations, IterationCounters());
  EXPECT_EQ(recorder.reconnects + recorder.reprepares + recorder.retries + recorder.in_flight, 0u);
}

TEST(IntervalRecorderTest, ResponseIsTheOnlyOperationsServiceWhenSaidSo) {
  IntervalRecorder recorder(2, true);
  EXPECT_EQ(recorder.Response(), nullptr);
  recorder.RecordOperation(1, Outcome::kOk, 1'000);
  recorder.RecordResponse(1'000);
  EXPECT_EQ(recorder.response, nullptr);
  EXPECT_EQ(recorder.Response(), recorder.operations[1].histograms.ok.get());
}

TEST(StatsTotalsTest, IsTheSumOfIntervals) {
  StatsTotals totals(2);
  IntervalRecorder recorder(2);
  for (int interval = 0; interval < 3; ++interval) {
    recorder.operations[0].counters.attempted += 2;
    recorder.RecordOperation(0, Outcome::kOk, 1'000 + interval);
    recorder.RecordOperation(0, Outcome::kRejected, 500);
    recorder.operations[0].errors.Count("1213", Outcome::kRejected, "Deadlock");
    recorder.RecordResponse(5'000);
    recorder.RecordConnect(9'000);
    recorder.connect_errors.Count("1040", Outcome::kNotSent, "Too many connections");
    recorder.iterations.Add({.attempted = 2, .ok = 1, .failed = 1});
    recorder.reconnects = 1;
    recorder.reprepares = 2;
    recorder.retries = 3;
    recorder.in_flight = 4;
    recorder.iterations_in_flight = 5;
    totals.Add(recorder);
    recorder.Clear();
  }
  StatsTotals twice(2);
  twice.Add(totals);
  twice.Add(totals);
  for (const auto& [sum, times] : {std::pair(&totals, 1u), {&twice, 2u}}) {
    const StatsTotals::PerOperation& operation = sum->operations[0];
    EXPECT_TRUE(operation.counters.balanced());
    EXPECT_EQ(operation.counters[Outcome::kOk], 3 * times);
    EXPECT_EQ(operation.histograms.Get(Outcome::kOk)->count(), 3 * times);
    EXPECT_EQ(operation.histograms.Get(Outcome::kOk)->max(), 1'002);
    EXPECT_EQ(operation.histograms.Get(Outcome::kRejected)->count(), 3 * times);
    EXPECT_EQ(operation.errors.entries().begin()->second.count, 3 * times);
    EXPECT_EQ(sum->Response()->count(), 3 * times);
    EXPECT_EQ(sum->connect->count(), 3 * times);
    EXPECT_EQ(sum->connect_errors.entries().begin()->second.count, 3 * times);
    EXPECT_TRUE(sum->iterations.balanced());
    EXPECT_EQ(sum->reconnects, 3 * times);
    EXPECT_EQ(sum->reprepares, 6 * times);
    EXPECT_EQ(sum->retries, 9 * times);
    EXPECT_EQ(sum->in_flight, 12 * times);
    EXPECT_EQ(sum->iterations_in_flight, 15 * times);
    EXPECT_EQ(sum->operations[1].histograms.ok, nullptr);
  }
}

TEST(StatsTotalsTest, KeepsResponseIsServiceWhenAllSaySo) {
  StatsTotals totals(1, true);
  IntervalRecorder recorder(1, true);
  recorder.RecordOperation(0, Outcome::kOk, 1'000);
  totals.Add(recorder);
  totals.Add(recorder);
  EXPECT_TRUE(totals.response_is_service);
  EXPECT_EQ(totals.response, nullptr);
  EXPECT_EQ(totals.Response()->count(), 2u);
}

// An agent's message says whether its response is left out; unlike ones must still add up.
TEST(StatsTotalsTest, LosesNoResponseWhenKindsDiffer) {
  IntervalRecorder service(1, true), own(1);
  service.RecordOperation(0, Outcome::kOk, 1'000);
  own.RecordOperation(0, Outcome::kOk, 2'000);
  own.RecordResponse(7'000);
  StatsTotals one(1, true), other(1, false);
  one.Add(service);
  one.Add(own);
  other.Add(own);
  other.Add(service);
  for (const StatsTotals* totals : {&one, &other}) {
    EXPECT_FALSE(totals->response_is_service);
    ASSERT_NE(totals->Response(), nullptr);
    EXPECT_EQ(totals->Response()->count(), 2u);
    EXPECT_EQ(totals->Response()->min(), 1'000);
    EXPECT_EQ(totals->Response()->max(), 7'000);
    EXPECT_EQ(totals->operations[0].histograms.Get(Outcome::kOk)->max(), 2'000);
  }
}

}  // namespace
}  // namespace cavalry::stats
