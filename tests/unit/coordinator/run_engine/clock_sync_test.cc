#include "coordinator/clock_sync.h"

#include <gtest/gtest.h>

#include <limits>

namespace cavalry::coordinator {
namespace {

// A probe that takes `there` and `back`, answered by a clock that is `offset` ahead.
bool Exchange(ClockSync* clock, Nanos now, Nanos offset, Nanos there, Nanos back) {
  const v1::ClockProbe probe = clock->NextProbe(now);
  v1::ClockReply reply;
  reply.set_probe_sent_ns(probe.sent_ns());
  reply.set_received_ns(now + there + offset);
  reply.set_sent_ns(now + there + offset + kMicrosecond);
  return clock->OnReply(reply, now + there + kMicrosecond + back);
}

TEST(ClockSyncTest, TakesTheBestRoundTrip) {
  ClockSync clock;
  const Nanos offset = 3600 * kSecond;
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(clock.known());
    const Nanos slow = i == 3 ? 50 * kMicrosecond : 5 * kMillisecond;
    ASSERT_TRUE(Exchange(&clock, kSecond + i * kMillisecond * 20, offset, slow, 50 * kMicrosecond));
  }
  EXPECT_TRUE(clock.known());
  EXPECT_EQ(clock.offset(), offset);
  EXPECT_EQ(clock.rtt(), 100 * kMicrosecond);
}

TEST(ClockSyncTest, ErrorIsAtMostHalfTheRoundTrip) {
  ClockSync clock;
  ASSERT_TRUE(
      Exchange(&clock, 100 * kSecond, -5 * kSecond, 900 * kMicrosecond, 100 * kMicrosecond));
  EXPECT_LE(std::abs(clock.offset() + 5 * kSecond), clock.rtt() / 2);
}

TEST(ClockSyncTest, AnOldAnswerGivesWayToANewer) {
  ClockSync clock;
  ASSERT_TRUE(Exchange(&clock, kSecond, 0, 10 * kMicrosecond, 10 * kMicrosecond));
  ASSERT_TRUE(Exchange(&clock, 2 * kSecond, kSecond, 100 * kMicrosecond, 100 * kMicrosecond));
  EXPECT_EQ(clock.offset(), 0);  // ten times worse a second later: not better
  ASSERT_TRUE(Exchange(&clock, 3600 * kSecond, kSecond, 100 * kMicrosecond, 100 * kMicrosecond));
  EXPECT_EQ(clock.offset(), kSecond);
}

TEST(ClockSyncTest, RefusesAnswersThatCannotBe) {
  ClockSync clock;
  const v1::ClockProbe probe = clock.NextProbe(kSecond);
  v1::ClockReply reply;
  reply.set_probe_sent_ns(probe.sent_ns() + 1);
  EXPECT_FALSE(clock.OnReply(reply, kSecond + 1000)) << "another probe's";
  reply.set_probe_sent_ns(probe.sent_ns());
  reply.set_received_ns(std::numeric_limits<std::int64_t>::min());
  reply.set_sent_ns(std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(clock.OnReply(reply, kSecond + 1000)) << "beyond any clock";
  EXPECT_FALSE(clock.awaits_reply());

  clock.NextProbe(2 * kSecond);
  reply.set_probe_sent_ns(2 * kSecond);
  reply.set_received_ns(5000);
  reply.set_sent_ns(4000);
  EXPECT_FALSE(clock.OnReply(reply, 2 * kSecond + 1000)) << "sent before it was received";
  clock.NextProbe(3 * kSecond);
  reply.set_probe_sent_ns(3 * kSecond);
  reply.set_received_ns(4000);
  reply.set_sent_ns(4000 + kSecond);
  EXPECT_FALSE(clock.OnReply(reply, 3 * kSecond + 1000)) << "held longer than it took";
  EXPECT_FALSE(clock.known());
}

}  // namespace
}  // namespace cavalry::coordinator
