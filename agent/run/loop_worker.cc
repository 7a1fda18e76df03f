#include "agent/run/loop_worker.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace cavalry::run {
namespace {

// A farewell has its own, shorter deadline; this one only bounds the loop.
constexpr Nanos kCloseBound = 3 * kSecond;

}  // namespace

void LoopWorker::Run() {
  PrepareThread(shared_.plan.realtime);
  const auto* pollable = std::get_if<std::unique_ptr<drivers::PollableFactory>>(&shared_.clients);
  LoopOptions options;
  options.kind = shared_.plan.loop;
  options.streams = session_count_ * 2;
  options.only_watches = pollable != nullptr;
  StatusOr<std::unique_ptr<Loop>> loop = NewLoop(options);
  if (!loop.ok()) {
    shared_.mailbox.Post(ReadyMail{loop.status()});
    return;
  }
  if (pollable != nullptr) (*pollable)->EnterThread();
  context_ = std::make_unique<WorkerContext>(&shared_, index_, *std::move(loop));
  shared_.mailbox.Post(ReadyMail{absl::OkStatus()});
  Main();
  sessions_.clear();
  pool_.reset();
  shared_connections_.reset();
  context_->loop->RemoveWatch(wake_watch_);
  context_.reset();
  if (pollable != nullptr) (*pollable)->LeaveThread();
}

void LoopWorker::Main() {
  WorkerContext& context = *context_;
  wake_watch_ = context.loop->AddWatch(this);
  context.loop->ArmWatch(wake_watch_, shared_.wake_fds[index_].get(), POLLIN, true);
  if (shared_.plan.pool_size) {
    pool_ = std::make_unique<ConnectionPool>(
        &context, std::max(shared_.Share(*shared_.plan.pool_size, index_), 1U),
        shared_.Share(shared_.plan.pool_overflow, index_));
    context.pool = pool_.get();
  }
  const auto* codecs = std::get_if<std::unique_ptr<drivers::CodecFactory>>(&shared_.clients);
  if (codecs != nullptr && (*codecs)->shared_connections() > 0) {
    shared_connections_ = std::make_unique<SharedConnections>(
        &context, **codecs, session_count_ * shared_.plan.pipeline);
    context.shared_connections = shared_connections_.get();
  }
  std::vector<Session*> pooled;
  for (std::uint32_t i = 0; i < session_count_; ++i) {
    sessions_.push_back(std::make_unique<Session>(&context, first_session_ + i));
    sessions_.back()->Start();
    pooled.push_back(sessions_.back().get());
  }
  if (pool_ != nullptr) pool_->Start(pooled);
  if (shared_connections_ != nullptr) shared_connections_->Start({pooled.begin(), pooled.end()});
  BeginArming(&context);
  do {
    Turn();
  } while (GoOn());
  EndMeasure();
  CloseConnections();
  PostResult(std::string(context.loop->name()), {});
}

void LoopWorker::Turn() {
  WorkerContext& context = *context_;
  const Nanos wake_at = std::min(NextInstant(), context.wheel.next());
  if (context.loop->Turn(wake_at, context.yielded.empty())) {
    const Nanos now = MonotonicNow();
    RingDue(now);
    context.wheel.Advance(now);
  }
  ++turns_;
  if (!context.yielded.empty()) {
    context.now = MonotonicNow();
    // Only those that are there now: they may yield again.
    List<SessionSlot> yielded;
    while (!context.yielded.empty()) yielded.PushBack(context.yielded.PopFront());
    while (!yielded.empty()) yielded.PopFront()->OnYielded();
    context.Dispatch();
  }
  context.ResumeReady();
  context.FlushSends();
}

void LoopWorker::OnEvents(short) {
  std::uint64_t count = 0;
  const int fd = shared_.wake_fds[index_].get();
  [[maybe_unused]] const ssize_t got = ::read(fd, &count, sizeof count);
  context_->loop->ArmWatch(wake_watch_, fd, POLLIN, false);
  ReadCommands();
}

void LoopWorker::Dispatch() { context_->Dispatch(); }

void LoopWorker::AbandonSessions(bool farewell) {
  for (const auto& session : sessions_) {
    session->Abandon(MonotonicNow());
    session->Close(farewell);  // so that no answer comes any more
  }
  if (pool_ != nullptr) pool_->Close(farewell);
  if (shared_connections_ != nullptr) shared_connections_->Close(farewell);
}

bool LoopWorker::AllConnected() const {
  if (shared_connections_ != nullptr) return shared_connections_->Settled(UINT32_MAX);
  return Worker::AllConnected();
}

bool LoopWorker::Settled() const {
  if (shared_connections_ != nullptr) return shared_connections_->Settled(kAttemptsAwaited);
  if (pool_ != nullptr) return pool_->Settled(kAttemptsAwaited);
  return std::all_of(sessions_.begin(), sessions_.end(),
                     [](const auto& session) { return session->Settled(kAttemptsAwaited); });
}

std::uint64_t LoopWorker::NeverConnected() const {
  return static_cast<std::uint64_t>(
      std::count_if(sessions_.begin(), sessions_.end(),
                    [](const auto& session) { return session->never_connected(); }));
}

std::string LoopWorker::LastError() const {
  if (pool_ != nullptr) return pool_->last_error();
  if (shared_connections_ != nullptr) return shared_connections_->last_error();
  return sessions_.empty() ? "" : sessions_.front()->last_error();
}

bool LoopWorker::Closed() const {
  return (pool_ == nullptr || pool_->closed()) &&
         (shared_connections_ == nullptr || shared_connections_->closed()) &&
         std::all_of(sessions_.begin(), sessions_.end(),
                     [](const auto& session) { return session->closed(); });
}

void LoopWorker::CloseConnections() {
  WorkerContext& context = *context_;
  const bool farewell = shared_.stop.load() != StopLevel::kQuit;
  for (const auto& session : sessions_) session->Close(farewell);
  if (pool_ != nullptr) pool_->Close(farewell);
  if (shared_connections_ != nullptr) shared_connections_->Close(farewell);
  const Nanos bound = context.now + kCloseBound;
  while (!Closed() && context.now < bound) {
    if (context.loop->Turn(std::min(bound, context.wheel.next()), true)) {
      context.now = MonotonicNow();
      context.wheel.Advance(context.now);
    }
  }
}

}  // namespace cavalry::run
