#include "agent/run/connect_pacer.h"

#include <algorithm>

#include "agent/run/connection.h"

namespace cavalry::run {

Nanos ConnectDistance(const LoadPlan& plan, std::uint32_t workers) {
  const double rate = plan.connect_rate > 0 ? plan.connect_rate : 1;
  return static_cast<Nanos>(static_cast<double>(kSecond) * workers / rate);
}

ConnectPacer::ConnectPacer(TimerWheel* wheel, Nanos distance, Nanos now, std::uint32_t worker,
                           std::uint32_t workers)
    : wheel_(wheel), distance_(distance), next_(now + distance * worker / workers) {}

void ConnectPacer::Queue(Connection* connection, Nanos now) {
  waiting_.push_back(connection);
  if (!set()) wheel_->Set(this, std::max(next_, now), now);
}

void ConnectPacer::Remove(Connection* connection) { std::erase(waiting_, connection); }

void ConnectPacer::OnTimer(Nanos now) {
  next_ = std::max(next_, now - kBurst);
  while (!waiting_.empty() && next_ <= now) {
    Connection* const connection = waiting_.front();
    waiting_.pop_front();
    next_ += distance_;
    connection->BeginAttempt(now);
  }
  if (!waiting_.empty()) wheel_->Set(this, next_, now);
}

}  // namespace cavalry::run
