#include "agent/run/load_run.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <optional>
#include <thread>
#include <utility>

#include "agent/run/blocking_worker.h"
#include "agent/run/loop_worker.h"
#include "agent/run/mailbox.h"
#include "agent/run/shared_run.h"

namespace cavalry::run {
namespace {

// How long making the loops may take.
constexpr Nanos kReadyBound = 30 * kSecond;

bool IsBlocking(const SharedRun& shared) {
  return std::holds_alternative<std::unique_ptr<drivers::BlockingFactory>>(shared.clients);
}

// What sessions that share connections cannot have.
Status CheckShared(const LoadPlan& plan, const drivers::CodecFactory& factory,
                   std::uint32_t workers) {
  const std::uint32_t connections = factory.shared_connections();
  if (connections == 0) return absl::OkStatus();
  if (plan.takes_connections()) {
    return InvalidArgument(
        "{}: its sessions share connections, so load.pool and load.connections: per_iteration do "
        "not go with it",
        plan.driver->kind());
  }
  const std::uint64_t sessions = (plan.sessions + workers - 1) / workers;
  const std::uint64_t in_flight = sessions * plan.pipeline;
  // All of them may have to go to one node.
  const std::uint64_t most = std::uint64_t{factory.max_in_flight()} * connections;
  if (in_flight <= most) return absl::OkStatus();
  return InvalidArgument(
      "{}: {} operations may be in flight on the {} connections that a worker has to a node, which "
      "take {}: raise the target's connections, or the agents' workers",
      plan.driver->kind(), in_flight, connections, most);
}

// The client factory and what it needs: addresses of its endpoints.
Status MakeClients(const LoadPlan& plan, SharedRun* shared) {
  drivers::ClientConfig config;
  config.settings = &plan.settings;
  config.operations = &plan.operations;
  config.connect_timeout = plan.connect_timeout;
  config.operation_timeout = plan.operation_timeout;
  CAVALRY_ASSIGN_OR_RETURN(shared->clients, plan.driver->NewClientFactory(config));
  if (const auto* codecs = std::get_if<std::unique_ptr<drivers::CodecFactory>>(&shared->clients)) {
    for (const drivers::Endpoint& endpoint : (*codecs)->endpoints()) {
      CAVALRY_ASSIGN_OR_RETURN(drivers::EndpointAddress address,
                               drivers::ResolveEndpoint(endpoint));
      shared->addresses.push_back(std::move(address));
    }
    return CheckShared(plan, **codecs, shared->workers);
  }
  if (plan.pipeline > 1) {
    return InvalidArgument(
        "{}: cannot have several operations in flight on a session: pipeline "
        "must be 1",
        plan.driver->kind());
  }
  return absl::OkStatus();
}

// What a plan says must fit together, whatever its driver.
Status CheckPlan(const LoadPlan& plan) {
  if (plan.pool_size && plan.connect_per_iteration) {
    return InvalidArgument("load.pool keeps connections: it cannot be used with per_iteration");
  }
  if (plan.pipeline > 1 && (plan.takes_connections() || plan.script.rollback)) {
    return InvalidArgument(
        "load.pipeline must be 1 with transactions, a pool or connections per iteration");
  }
  if (plan.pool_size && *plan.pool_size == 0 && plan.sessions > 0) {
    return InvalidArgument("load.pool: each agent needs one connection at least");
  }
  return absl::OkStatus();
}

}  // namespace

struct LoadRun::Impl {
  Impl(const LoadPlan& plan, std::uint32_t worker_count) : shared(plan, worker_count) {}
  ~Impl();

  Status Start();
  // What the event loop of the caller is told of a mail; nothing when it is not complete yet.
  std::optional<LoadEvent> Take(Mail mail);
  std::optional<LoadEvent> TakeArmed(const ArmedMail& mail);
  std::optional<LoadEvent> TakeFinished(FinishedMail mail);

  SharedRun shared;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  std::deque<Mail> early;  // came while the loops were being made
  Nanos asked_start = 0;
  std::uint32_t armed_workers = 0;
  bool armed = false;
  ArmedEvent armed_event;
  std::vector<FinishedMail> finished;
};

LoadRun::Impl::~Impl() {
  shared.RaiseStop(StopLevel::kQuit);
  for (std::thread& thread : threads) thread.join();
}

Status LoadRun::Impl::Start() {
  const LoadPlan& plan = shared.plan;
  for (std::uint32_t i = 0; i < shared.workers; ++i) {
    shared.wake_fds.emplace_back(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!shared.wake_fds.back().valid()) return ErrnoStatus(errno, "make a worker");
  }
  std::uint32_t next = plan.first_session;
  for (std::uint32_t i = 0; i < shared.workers; ++i) {
    const std::uint32_t share = shared.Share(plan.sessions, i);
    if (IsBlocking(shared)) {
      workers.push_back(std::make_unique<BlockingWorker>(&shared, i, next, share));
    } else {
      workers.push_back(std::make_unique<LoopWorker>(&shared, i, next, share));
    }
    next += share;
  }
  for (const auto& worker : workers) threads.emplace_back([&worker] { worker->Run(); });

  Status status;
  const Nanos deadline = MonotonicNow() + kReadyBound;
  for (std::uint32_t ready = 0; ready < shared.workers;) {
    std::optional<Mail> mail = shared.mailbox.Take(deadline);
    if (!mail) return DeadlineExceeded("a worker thread did not start");
    if (const auto* made = std::get_if<ReadyMail>(&*mail)) {
      ++ready;
      if (status.ok()) status = made->status;
    } else {
      early.push_back(*std::move(mail));
    }
  }
  return status;
}

std::optional<LoadEvent> LoadRun::Impl::Take(Mail mail) {
  if (auto* interval = std::get_if<IntervalEvent>(&mail)) return std::move(*interval);
  if (auto* trace = std::get_if<TraceEvent>(&mail)) return std::move(*trace);
  if (auto* one = std::get_if<ArmedMail>(&mail)) return TakeArmed(*one);
  if (auto* one = std::get_if<FinishedMail>(&mail)) return TakeFinished(std::move(*one));
  return std::nullopt;
}

std::optional<LoadEvent> LoadRun::Impl::TakeArmed(const ArmedMail& mail) {
  armed_event.connected += mail.connected;
  armed_event.connecting += mail.connecting;
  armed_event.errors.Add(mail.errors);
  if (armed_event.fatal.ok()) armed_event.fatal = mail.fatal;
  ++armed_workers;
  if (armed || (armed_workers < shared.workers && armed_event.fatal.ok())) return std::nullopt;
  armed = true;
  return std::move(armed_event);
}

std::optional<LoadEvent> LoadRun::Impl::TakeFinished(FinishedMail mail) {
  finished.push_back(std::move(mail));
  if (finished.size() < shared.workers) return std::nullopt;
  std::sort(finished.begin(), finished.end(),
            [](const FinishedMail& a, const FinishedMail& b) { return a.worker < b.worker; });
  FinishedEvent event;
  for (FinishedMail& one : finished) {
    if (one.measured) event.measure_start = shared.start_at.load() + shared.plan.warmup;
    if (one.started != 0) {
      event.start_late = std::max(event.start_late, one.started - asked_start);
    }
    event.workers.push_back(std::move(one.result));
  }
  return event;
}

StatusOr<std::unique_ptr<LoadRun>> LoadRun::Create(const LoadPlan& plan) {
  CAVALRY_RETURN_IF_ERROR(CheckPlan(plan));
  auto impl = std::make_unique<Impl>(plan, std::max(plan.busy_workers(), 1U));
  CAVALRY_RETURN_IF_ERROR(MakeClients(plan, &impl->shared));
  CAVALRY_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<LoadRun>(new LoadRun(std::move(impl)));
}

LoadRun::LoadRun(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LoadRun::~LoadRun() = default;

LoadEvent LoadRun::Next(Nanos deadline) {
  for (;;) {
    std::optional<Mail> mail;
    if (!impl_->early.empty()) {
      mail = std::move(impl_->early.front());
      impl_->early.pop_front();
    } else {
      mail = impl_->shared.mailbox.Take(deadline);
      if (!mail) return std::monostate{};
    }
    if (std::optional<LoadEvent> event = impl_->Take(*std::move(mail))) return *std::move(event);
  }
}

void LoadRun::StartAt(Nanos instant) {
  impl_->asked_start = instant;
  // All workers count their seconds from one instant.
  impl_->shared.start_at.store(std::max(instant, MonotonicNow()));
  impl_->shared.WakeAll();
}

void LoadRun::Stop(StopKind kind) {
  impl_->shared.RaiseStop(kind == StopKind::kDrain ? StopLevel::kDrain : StopLevel::kNow);
}

void LoadRun::Recycle(std::uint32_t, std::unique_ptr<stats::IntervalRecorder> recorder) {
  impl_->shared.mailbox.ReturnRecorder(std::move(recorder));
}

}  // namespace cavalry::run
