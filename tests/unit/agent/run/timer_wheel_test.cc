#include "agent/run/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/base/random.h"

namespace cavalry::run {
namespace {

constexpr Nanos kTick = 65'536;

class Alarm final : public Timer {
 public:
  void OnTimer(Nanos now) override { rang.push_back(now); }
  Nanos deadline = 0;
  Nanos set_at = 0;
  std::vector<Nanos> rang;
};

// Goes from alarm to alarm, as a loop does that sleeps exactly.
void RunUntil(TimerWheel* wheel, Nanos end) {
  while (wheel->next() <= end) wheel->Advance(wheel->next());
}

TEST(TimerWheelTest, NeverEarlyAndLateByAFifteenthAtMost) {
  constexpr Nanos kStart = 123'456'789'012;
  TimerWheel wheel(kStart);
  RandomStream random(1, 2, 3);
  std::vector<std::unique_ptr<Alarm>> alarms;
  for (int i = 0; i < 2000; ++i) {
    auto alarm = std::make_unique<Alarm>();
    // From microseconds to hours.
    const Nanos distance = static_cast<Nanos>(random.Below(std::uint64_t{1} << random.Below(44)));
    alarm->set_at = kStart;
    alarm->deadline = kStart + distance;
    wheel.Set(alarm.get(), alarm->deadline, alarm->set_at);
    alarms.push_back(std::move(alarm));
  }
  RunUntil(&wheel, INT64_MAX - 1);
  for (const auto& alarm : alarms) {
    ASSERT_EQ(alarm->rang.size(), 1u);
    const Nanos distance = alarm->deadline - alarm->set_at;
    EXPECT_GE(alarm->rang[0], alarm->deadline);
    EXPECT_LE(alarm->rang[0] - alarm->deadline, std::max(distance / 15, kTick) + kTick);
  }
  EXPECT_EQ(wheel.next(), INT64_MAX);
}

TEST(TimerWheelTest, SetAtAnyTimeOfTheWheel) {
  TimerWheel wheel(0);
  RandomStream random(4, 5, 6);
  std::vector<std::unique_ptr<Alarm>> alarms;
  Nanos now = 0;
  for (int i = 0; i < 5000; ++i) {
    now += static_cast<Nanos>(random.Below(3 * kMillisecond));
    RunUntil(&wheel, now);
    wheel.Advance(now);
    auto alarm = std::make_unique<Alarm>();
    alarm->set_at = now;
    alarm->deadline = now + static_cast<Nanos>(random.Below(500 * kMillisecond));
    wheel.Set(alarm.get(), alarm->deadline, alarm->set_at);
    alarms.push_back(std::move(alarm));
  }
  RunUntil(&wheel, INT64_MAX - 1);
  for (const auto& alarm : alarms) {
    ASSERT_EQ(alarm->rang.size(), 1u);
    EXPECT_GE(alarm->rang[0], alarm->deadline);
    EXPECT_LE(alarm->rang[0] - alarm->deadline,
              std::max((alarm->deadline - alarm->set_at) / 15, kTick) + kTick);
  }
}

TEST(TimerWheelTest, ALateAdvanceRingsAllThatAreDue) {
  TimerWheel wheel(0);
  Alarm soon, later, much_later;
  wheel.Set(&soon, kMillisecond, 0);
  wheel.Set(&later, kSecond, 0);
  wheel.Set(&much_later, 1000 * kSecond, 0);
  wheel.Advance(10 * kSecond);
  EXPECT_EQ(soon.rang.size(), 1u);
  EXPECT_EQ(later.rang.size(), 1u);
  EXPECT_TRUE(much_later.rang.empty());
  EXPECT_TRUE(much_later.set());
}

TEST(TimerWheelTest, CancelledAndDestroyedTimersDoNotRing) {
  TimerWheel wheel(0);
  Alarm cancelled;
  wheel.Set(&cancelled, kMillisecond, 0);
  {
    Alarm destroyed;
    wheel.Set(&destroyed, kMillisecond, 0);
  }
  cancelled.Cancel();
  EXPECT_FALSE(cancelled.set());
  RunUntil(&wheel, kSecond);
  EXPECT_TRUE(cancelled.rang.empty());
  EXPECT_EQ(wheel.next(), INT64_MAX);
}

TEST(TimerWheelTest, SettingAnewMovesTheDeadline) {
  TimerWheel wheel(0);
  Alarm alarm;
  wheel.Set(&alarm, kMillisecond, 0);
  wheel.Set(&alarm, kSecond, 0);
  RunUntil(&wheel, 900 * kMillisecond);
  EXPECT_TRUE(alarm.rang.empty());
  RunUntil(&wheel, 2 * kSecond);
  EXPECT_EQ(alarm.rang.size(), 1u);
}

// Sets itself again and cancels another while ringing.
class Meddler final : public Timer {
 public:
  Meddler(TimerWheel* wheel, Timer* victim) : wheel_(wheel), victim_(victim) {}
  void OnTimer(Nanos now) override {
    victim_->Cancel();
    if (++times < 3) wheel_->Set(this, now + kMillisecond, now);
  }
  int times = 0;

 private:
  TimerWheel* wheel_;
  Timer* victim_;
};

TEST(TimerWheelTest, TimersMayBeSetAndCancelledWhileRinging) {
  TimerWheel wheel(0);
  Alarm victim;
  Meddler meddler(&wheel, &victim);
  wheel.Set(&meddler, kMillisecond, 0);
  wheel.Set(&victim, kMillisecond, 0);
  RunUntil(&wheel, kSecond);
  EXPECT_EQ(meddler.times, 3);
  EXPECT_TRUE(victim.rang.empty());
}

}  // namespace
}  // namespace cavalry::run
