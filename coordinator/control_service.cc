#include "coordinator/control_service.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>

#include "cavalry/v1/control.grpc.pb.h"
#include "coordinator/listen_address.h"
#include "core/base/unique_fd.h"

namespace cavalry::coordinator {
namespace {

constexpr std::int64_t kShutdownGraceSeconds = 2;
constexpr auto kStreamsGone = std::chrono::seconds(5);

}  // namespace

// What gRPC's threads and the coordinator's share; `mutex` guards all of it, and every stream's own
// state. It is held for moving a pointer, and there are a few messages a second and agent. Not an
// absl::Mutex: ThreadSanitizer does not see what the distribution's Abseil does.
struct ControlService::Shared {
  std::mutex mutex;
  std::condition_variable stream_gone;
  std::map<StreamId, Stream*> streams;
  StreamId next_stream = 1;
  std::vector<ControlEvent> events;
  UniqueFd wake;

  void Post(ControlEvent event) {
    events.push_back(std::move(event));
    const std::uint64_t one = 1;
    // Fails only when the counter is full, and then the descriptor is readable already.
    [[maybe_unused]] const ssize_t written = write(wake.get(), &one, sizeof(one));
  }
};

// One agent's stream. gRPC calls its reactions from its own threads; at most one read and one write
// are outstanding; Finish is called exactly once, when no write is outstanding. Deletes itself when
// done.
class ControlService::Stream final : public grpc::ServerBidiReactor<v1::FromAgent, v1::ToAgent> {
 public:
  Stream(Shared* shared, grpc::CallbackServerContext* context)
      : shared_(shared), context_(context) {
    const std::lock_guard lock(shared_->mutex);
    id_ = shared_->next_stream++;
    if (shared_->streams.size() >= kMaxStreams) {
      status_ = grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "too many agents");
      registered_ = false;
      closing_ = true;
      FinishIfIdle();
      return;
    }
    shared_->streams[id_] = this;
    Post(ControlEvent::Kind::kOpened);
    reading_ = true;
    StartRead(&incoming_);
  }

  void OnReadDone(bool ok) override {
    const Nanos at = MonotonicNow();
    const std::lock_guard lock(shared_->mutex);
    reading_ = false;
    if (!ok) {
      if (reason_.empty()) reason_ = "its stream ended";
      return BeginClosing();
    }
    ControlEvent event;
    event.stream = id_;
    event.kind = ControlEvent::Kind::kMessage;
    event.at = at;
    event.message.Swap(&incoming_);
    shared_->Post(std::move(event));
    ++waiting_events_;
    ReadOn();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(shared_->mutex);
    writing_ = false;
    outgoing_.pop_front();
    if (!ok) {
      if (reason_.empty()) reason_ = "its connection broke";
      BeginClosing();
    }
    WriteOn();
  }

  void OnCancel() override {
    const std::lock_guard lock(shared_->mutex);
    if (reason_.empty()) reason_ = "its connection broke";
    BeginClosing();
  }

  void OnDone() override {
    {
      const std::lock_guard lock(shared_->mutex);
      if (registered_) {
        shared_->streams.erase(id_);
        shared_->stream_gone.notify_all();
        Post(ControlEvent::Kind::kClosed);
      }
    }
    delete this;
  }

  // From here on: REQUIRES the lock.
  void Send(const v1::ToAgent& message) {
    if (closing_ || last_written_) return;
    if (outgoing_.size() >= kMaxOutgoing) {
      reason_ = "does not read its messages";
      context_->TryCancel();
      return BeginClosing();
    }
    outgoing_.push_back(message);
    WriteOn();
  }

  void Close(bool after_writing) {
    if (reason_.empty()) reason_ = "closed by the coordinator";
    if (after_writing) {
      last_written_ = true;
      return WriteOn();
    }
    if (!finished_) context_->TryCancel();
    BeginClosing();
  }

  void EventTaken() { --waiting_events_; }

  void ReadOn() {
    if (reading_ || closing_ || waiting_events_ >= kMaxEventsPerStream) return;
    reading_ = true;
    StartRead(&incoming_);
  }

 private:
  void Post(ControlEvent::Kind kind) {
    ControlEvent event;
    event.stream = id_;
    event.kind = kind;
    event.at = MonotonicNow();
    event.reason = reason_;
    shared_->Post(std::move(event));
  }

  void WriteOn() {
    if (!closing_ && !writing_ && !outgoing_.empty()) {
      writing_ = true;
      StartWrite(&outgoing_.front());
    }
    if (last_written_ && outgoing_.empty()) closing_ = true;
    FinishIfIdle();
  }

  void BeginClosing() {
    closing_ = true;
    FinishIfIdle();
  }

  void FinishIfIdle() {
    if (!closing_ || writing_ || finished_) return;
    finished_ = true;
    Finish(status_);
  }

  Shared* shared_;
  grpc::CallbackServerContext* context_;
  StreamId id_ = 0;
  bool registered_ = true;
  v1::FromAgent incoming_;
  // The rest is guarded by the lock.
  std::deque<v1::ToAgent> outgoing_;  // the first is being written while writing_
  std::size_t waiting_events_ = 0;
  bool reading_ = false;
  bool writing_ = false;
  bool last_written_ = false;  // nothing is queued any more; finish when it is empty
  bool closing_ = false;
  bool finished_ = false;
  std::string reason_;
  grpc::Status status_;
};

class ControlService::Service final : public v1::Control::CallbackService {
 public:
  explicit Service(Shared* shared) : shared_(shared) {}
  grpc::ServerBidiReactor<v1::FromAgent, v1::ToAgent>* Connect(
      grpc::CallbackServerContext* context) override {
    return new Stream(shared_, context);
  }

 private:
  Shared* shared_;
};

struct ControlService::Server {
  std::unique_ptr<Service> service;
  std::unique_ptr<grpc::Server> server;
  int port = 0;
};

ControlService::ControlService() = default;

StatusOr<std::unique_ptr<ControlService>> ControlService::Start(const std::string& address) {
  std::unique_ptr<ControlService> control(new ControlService());
  control->shared_ = std::make_unique<Shared>();
  control->shared_->wake.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!control->shared_->wake.valid()) return ErrnoStatus(errno, "eventfd");
  control->server_ = std::make_unique<Server>();
  Server& server = *control->server_;
  // Its own log lines would stand between ours; what matters arrives as a status or a closed
  // stream.
  gpr_set_log_function([](gpr_log_func_args*) {});
  server.service = std::make_unique<Service>(control->shared_.get());

  grpc::ServerBuilder builder;
  // gRPC shares ports by default, so that a second coordinator would start and take some of the
  // agents.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.SetMaxSendMessageSize(kMaxMessageBytes);
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &server.port);
  builder.RegisterService(server.service.get());
  server.server = builder.BuildAndStart();
  if (server.server == nullptr || server.port == 0) {
    // gRPC only logs the reason; asking for the same port once more tells it.
    Status reason = TryListen(address);
    if (reason.ok()) reason = Unavailable("cannot listen on {}", address);
    return reason;
  }
  return control;
}

ControlService::~ControlService() {
  if (server_ == nullptr || server_->server == nullptr) return;
  {
    const std::lock_guard lock(shared_->mutex);
    for (const auto& [id, stream] : shared_->streams) stream->Close(/*after_writing=*/false);
  }
  server_->server->Shutdown(gpr_time_add(
      gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(kShutdownGraceSeconds, GPR_TIMESPAN)));
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stream_gone.wait_for(lock, kStreamsGone, [this] { return shared_->streams.empty(); });
  }
  server_->server->Wait();
  server_.reset();
}

int ControlService::port() const { return server_->port; }
int ControlService::event_fd() const { return shared_->wake.get(); }

std::vector<ControlEvent> ControlService::TakeEvents() {
  const std::lock_guard lock(shared_->mutex);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(shared_->wake.get(), &count, sizeof(count));
  std::vector<ControlEvent> events = std::exchange(shared_->events, {});
  for (const ControlEvent& event : events) {
    if (event.kind != ControlEvent::Kind::kMessage) continue;
    const auto found = shared_->streams.find(event.stream);
    if (found == shared_->streams.end()) continue;
    found->second->EventTaken();
    found->second->ReadOn();
  }
  return events;
}

void ControlService::Send(StreamId stream, const v1::ToAgent& message) {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->streams.find(stream);
  if (found != shared_->streams.end()) found->second->Send(message);
}

void ControlService::Close(StreamId stream, bool after_writing) {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->streams.find(stream);
  if (found != shared_->streams.end()) found->second->Close(after_writing);
}

}  // namespace cavalry::coordinator
