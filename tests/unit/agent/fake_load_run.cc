#include "tests/unit/agent/fake_load_run.h"

#include <chrono>

namespace cavalry::run {

FakeLoad& FakeLoad::Get() {
  static FakeLoad load;
  return load;
}

void FakeLoad::Reset() {
  const std::lock_guard lock(mutex);
  events.clear();
  orders.clear();
  start_at = 0;
  create_error = absl::OkStatus();
  alive = false;
  recycled = 0;
  end_on_stop = true;
}

void FakeLoad::Push(LoadEvent event) {
  const std::lock_guard lock(mutex);
  events.push_back(std::move(event));
  changed.notify_all();
}

std::vector<std::string> FakeLoad::WaitForOrders(std::size_t count) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return orders.size() >= count; });
  return orders;
}

struct LoadRun::Impl {
  explicit Impl(const LoadPlan& of) : plan(of) {}
  const LoadPlan& plan;
};

LoadRun::LoadRun(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

StatusOr<std::unique_ptr<LoadRun>> LoadRun::Create(const LoadPlan& plan) {
  FakeLoad& fake = FakeLoad::Get();
  const std::lock_guard lock(fake.mutex);
  if (!fake.create_error.ok()) return fake.create_error;
  fake.alive = true;
  return std::unique_ptr<LoadRun>(new LoadRun(std::make_unique<Impl>(plan)));
}

LoadRun::~LoadRun() {
  FakeLoad& fake = FakeLoad::Get();
  const std::lock_guard lock(fake.mutex);
  fake.alive = false;
  fake.orders.push_back("destroyed");
  fake.changed.notify_all();
}

LoadEvent LoadRun::Next(Nanos deadline) {
  FakeLoad& fake = FakeLoad::Get();
  std::unique_lock lock(fake.mutex);
  const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(deadline)};
  if (!fake.changed.wait_until(lock, until, [&] { return !fake.events.empty(); })) return {};
  LoadEvent event = std::move(fake.events.front());
  fake.events.pop_front();
  return event;
}

void LoadRun::StartAt(Nanos instant) {
  FakeLoad& fake = FakeLoad::Get();
  const std::lock_guard lock(fake.mutex);
  fake.start_at = instant;
  fake.orders.push_back("start");
  fake.changed.notify_all();
}

void LoadRun::Stop(StopKind kind) {
  FakeLoad& fake = FakeLoad::Get();
  const std::lock_guard lock(fake.mutex);
  fake.orders.push_back(kind == StopKind::kNow ? "now" : "drain");
  if (fake.end_on_stop) {
    FinishedEvent finished;
    finished.workers.resize(1);
    finished.workers[0].operations.resize(impl_->plan.operations.size());
    fake.events.push_back(std::move(finished));
  }
  fake.changed.notify_all();
}

void LoadRun::Recycle(std::uint32_t, std::unique_ptr<stats::IntervalRecorder>) {
  FakeLoad& fake = FakeLoad::Get();
  const std::lock_guard lock(fake.mutex);
  ++fake.recycled;
}

}  // namespace cavalry::run
