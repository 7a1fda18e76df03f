#include "core/wire/stats_codec.h"

#include <random>

#include <google/protobuf/stubs/logging.h>
#include <gtest/gtest.h>

namespace cavalry::wire {
namespace {

using stats::IntervalRecorder;
using stats::StatsTotals;

const std::vector<std::string>& Names() {
  static const std::vector<std::string> names = {"find", "pay"};
  return names;
}

// One of everything, with figures that agree.
IntervalRecorder Recorder() {
  IntervalRecorder recorder(2);
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    for (std::size_t n = 0; n <= i; ++n) {
      ++recorder.operations[0].counters.attempted;
      recorder.RecordOperation(0, static_cast<Outcome>(i), static_cast<Nanos>(1'000 * (n + 1)));
    }
  }
  recorder.operations[0].counters.rows = 11;
  recorder.operations[0].counters.bytes = 222;
  recorder.operations[0].counters.wrong_answers = 1;
  recorder.operations[0].counters.CountKeys(40, 31);
  recorder.operations[0].errors.Count("1062", Outcome::kRejected, "Duplicate entry '\xff'", 3);
  recorder.RecordResponse(9'000);
  recorder.iterations = {.attempted = 10, .ok = 1, .failed = 4, .dropped = 3, .abandoned = 2};
  recorder.RecordConnect(70'000);
  recorder.connect_errors.Count("1040", Outcome::kNotSent, "Too many connections");
  recorder.reconnects = 5;
  recorder.reprepares = 6;
  recorder.retries = 7;
  recorder.in_flight = 8;
  recorder.iterations_in_flight = 9;
  return recorder;
}

v1::Stats Message() {
  v1::Stats message;
  ToMessage(Recorder(), Names(), &message);
  return message;
}

TEST(StatsCodecTest, EverythingTravels) {
  const v1::Stats sent = Message();
  v1::Stats received;
  ASSERT_TRUE(received.ParseFromString(sent.SerializeAsString()));
  const StatusOr<StatsTotals> totals = FromMessage(received, Names());
  ASSERT_TRUE(totals.ok()) << StatusText(totals.status());
  const IntervalRecorder recorder = Recorder();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(totals->operations[i].counters, recorder.operations[i].counters);
    for (std::size_t k = 0; k < kOutcomeCount; ++k) {
      const auto outcome = static_cast<Outcome>(k);
      const auto* from = recorder.operations[i].histograms.Get(outcome);
      const auto* to = totals->operations[i].histograms.Get(outcome);
      ASSERT_EQ(from == nullptr, to == nullptr);
      if (from == nullptr) continue;
      EXPECT_EQ(from->count(), to->count());
      EXPECT_EQ(from->sum(), to->sum());
      EXPECT_EQ(from->max(), to->max());
    }
  }
  const auto& [key, entry] = *totals->operations[0].errors.entries().begin();
  EXPECT_EQ(key.first, "1062");
  EXPECT_EQ(entry.outcome, Outcome::kRejected);
  EXPECT_EQ(entry.count, 3u);
  EXPECT_EQ(entry.text, "Duplicate entry '?'");
  EXPECT_EQ(totals->iterations, recorder.iterations);
  EXPECT_EQ(totals->Response()->max(), 9'000);
  EXPECT_EQ(totals->connect->max(), 70'000);
  EXPECT_EQ(totals->connect_errors.entries().size(), 1u);
  EXPECT_EQ(totals->reconnects, 5u);
  EXPECT_EQ(totals->reprepares, 6u);
  EXPECT_EQ(totals->retries, 7u);
  EXPECT_EQ(totals->in_flight, 8u);
  EXPECT_EQ(totals->iterations_in_flight, 9u);

  v1::Stats again;
  ToMessage(*totals, Names(), &again);
  EXPECT_EQ(again.SerializeAsString(), sent.SerializeAsString());
}

TEST(StatsCodecTest, AClearedRecorderSendsNoHistogram) {
  IntervalRecorder recorder = Recorder();
  recorder.Clear();
  v1::Stats message = Message();
  ToMessage(recorder, Names(), &message);
  EXPECT_FALSE(message.has_response());
  EXPECT_FALSE(message.has_connect());
  EXPECT_FALSE(message.operations(0).has_service());
  EXPECT_LT(message.ByteSizeLong(), 64u);
  EXPECT_TRUE(FromMessage(message, Names()).ok());
}

TEST(StatsCodecTest, MemoryIsUsedAgain) {
  StatsTotals totals(2, true);
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(FromMessage(Message(), Names(), &totals).ok());
    v1::Stats again;
    ToMessage(totals, Names(), &again);
    EXPECT_EQ(again.SerializeAsString(), Message().SerializeAsString());
  }
  const stats::LatencyHistogram* kept = totals.operations[0].histograms.ok.get();
  v1::Stats empty;
  ToMessage(IntervalRecorder(2), Names(), &empty);
  ASSERT_TRUE(FromMessage(empty, Names(), &totals).ok());
  EXPECT_EQ(totals.operations[0].histograms.ok.get(), kept);
  EXPECT_EQ(totals.TotalOperations(), stats::OperationCounters());
  EXPECT_EQ(totals.Response(), nullptr);
}

TEST(StatsCodecTest, ResponseIsLeftOutWhenItIsService) {
  IntervalRecorder recorder(2, true);
  recorder.RecordOperation(1, Outcome::kOk, 5'000);
  recorder.iterations.ok = 1;
  v1::Stats message;
  ToMessage(recorder, Names(), &message);
  EXPECT_FALSE(message.has_response());
  const StatusOr<StatsTotals> totals = FromMessage(message, Names());
  ASSERT_TRUE(totals.ok()) << StatusText(totals.status());
  EXPECT_TRUE(totals->response_is_service);
  EXPECT_EQ(totals->Response()->max(), 5'000);
}

// An interval holds the ends of what an earlier one counted as attempted.
TEST(StatsCodecTest, AnIntervalMayEndMoreThanItAttempted) {
  IntervalRecorder recorder(2);
  recorder.RecordOperation(0, Outcome::kRejected, 5'000);
  v1::Stats message;
  ToMessage(recorder, Names(), &message);
  EXPECT_TRUE(FromMessage(message, Names()).ok());
}

TEST(StatsCodecTest, RefusesFiguresThatDoNotAgree) {
  const auto refusal = [](auto change) {
    v1::Stats message = Message();
    change(&message, message.mutable_operations(0));
    const StatusOr<StatsTotals> totals = FromMessage(message, Names());
    EXPECT_FALSE(totals.ok());
    EXPECT_EQ(totals.status().code(), absl::StatusCode::kDataLoss);
    return StatusText(totals.status());
  };
  using S = v1::Stats*;
  using O = v1::OperationStats*;
  EXPECT_EQ(refusal([](S, O o) { o->mutable_ops()->set_ok(7); }),
            "operation \"find\": 7 ok but 1 latencies of them");
  EXPECT_EQ(refusal([](S, O o) { o->clear_broken(); }),
            "operation \"find\": 5 broken but 0 latencies of them");
  EXPECT_NE(refusal([](S, O o) { o->mutable_service()->set_max_ns(1); }).find("ok: histogram"),
            std::string::npos);
  refusal([](S, O o) { o->set_operation("fnid"); });
  refusal([](S s, O) { s->add_operations(); });
  refusal([](S s, O) { s->mutable_operations()->RemoveLast(); });
  refusal([](S, O o) { o->mutable_ops()->set_attempted(~0ULL); });
  refusal([](S, O o) { o->mutable_ops()->set_dropped(~0ULL); });
  refusal([](S s, O) { s->mutable_iterations()->set_ok(2); });
  refusal([](S s, O) { s->mutable_iterations()->set_failed(~0ULL); });
  refusal([](S s, O) { s->clear_response(); });
  refusal([](S s, O) { s->set_response_is_service(true); });
  refusal([](S s, O) { s->mutable_connect()->set_count(5); });
  refusal([](S s, O) { s->set_in_flight(~0ULL); });
  refusal([](S s, O) { s->set_retries(~0ULL); });
  refusal([](S s, O) { s->mutable_connect_errors(0)->set_outcome("lost"); });
  refusal([](S, O o) { o->mutable_errors(0)->set_count(~0ULL); });
  refusal([](S, O o) {
    for (int i = 0; i < 100; ++i) *o->add_errors() = o->errors(0);
  });
  // Response is said to be the service of two operations.
  refusal([](S s, O o) {
    s->clear_response();
    s->set_response_is_service(true);
    *s->mutable_operations(1) = *o;
    s->mutable_operations(1)->set_operation("pay");
    s->mutable_iterations()->set_ok(2);
  });
}

TEST(StatsCodecTest, DamagedMessagesNeverCrash) {
  const google::protobuf::LogSilencer silencer;  // it reports each text that is not UTF-8
  const std::string good = Message().SerializeAsString();
  StatsTotals totals(2);
  std::mt19937 random(8);
  for (int round = 0; round < 10'000; ++round) {
    std::string bytes = good;
    for (unsigned n = 0; n <= random() % 4; ++n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    v1::Stats message;
    if (!message.ParseFromString(bytes)) continue;
    if (!FromMessage(message, Names(), &totals).ok()) continue;
    const stats::LatencyHistogram* response = totals.Response();
    EXPECT_EQ(totals.iterations.ok, response == nullptr ? 0 : response->count());
  }
}

TEST(StatsCodecTest, MoreKeysFoundThanAskedForAreRefused) {
  v1::Stats message = Message();
  message.mutable_operations(0)->set_keys_found(41);
  const StatusOr<StatsTotals> totals = FromMessage(message, Names());
  ASSERT_FALSE(totals.ok());
  EXPECT_NE(StatusText(totals.status()).find("41 keys found of 40"), std::string::npos);
}

}  // namespace
}  // namespace cavalry::wire
