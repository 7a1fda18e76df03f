#include "agent/control_client.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include <grpcpp/grpcpp.h>

#include "cavalry/v1/control.grpc.pb.h"

namespace cavalry::agent {
namespace {

std::chrono::steady_clock::time_point SteadyPoint(Nanos monotonic) {
  return std::chrono::steady_clock::now() +
         std::chrono::nanoseconds(std::max<Nanos>(monotonic - MonotonicNow(), 0));
}

}  // namespace

struct ControlClient::Impl {
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Control::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FromAgent, v1::ToAgent>> stream;

  std::mutex mutex;
  std::condition_variable out_changed, in_changed, flushed;
  std::deque<v1::FromAgent> out;  // guarded by mutex, as all below
  std::deque<v1::ToAgent> in;
  bool writing = false;
  bool ended = false;
  std::thread reader, writer;

  void End() {
    std::lock_guard lock(mutex);
    ended = true;
    out_changed.notify_all();
    in_changed.notify_all();
    flushed.notify_all();
  }

  void ReadAll() {
    v1::ToAgent message;
    while (stream->Read(&message)) {
      std::unique_lock lock(mutex);
      if (in.size() >= kMaxQueuedMessages) break;
      in.push_back(std::move(message));
      message = {};
      in_changed.notify_one();
    }
    End();
  }

  void WriteAll() {
    std::unique_lock lock(mutex);
    while (true) {
      out_changed.wait(lock, [&] { return ended || !out.empty(); });
      if (ended) return;
      const v1::FromAgent message = std::move(out.front());
      out.pop_front();
      writing = true;
      lock.unlock();
      const bool written = stream->Write(message);
      lock.lock();
      writing = false;
      if (out.empty()) flushed.notify_all();
      if (!written) {
        lock.unlock();
        End();
        return;
      }
    }
  }
};

ControlClient::ControlClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

StatusOr<std::unique_ptr<ControlClient>> ControlClient::Open(const std::string& address,
                                                             Nanos timeout) {
  auto impl = std::make_unique<Impl>();
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  impl->channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  if (!impl->channel->WaitForConnected(std::chrono::system_clock::now() +
                                       std::chrono::nanoseconds(timeout))) {
    return Unavailable("connect {}: no coordinator answers there", address);
  }
  impl->stub = v1::Control::NewStub(impl->channel);
  impl->stream = impl->stub->Connect(&impl->context);
  auto* const raw = impl.get();
  impl->reader = std::thread([raw] { raw->ReadAll(); });
  impl->writer = std::thread([raw] { raw->WriteAll(); });
  return std::unique_ptr<ControlClient>(new ControlClient(std::move(impl)));
}

ControlClient::~ControlClient() {
  impl_->context.TryCancel();
  impl_->End();
  impl_->reader.join();
  impl_->writer.join();
  impl_->stream->Finish();
}

bool ControlClient::Send(v1::FromAgent message) {
  std::unique_lock lock(impl_->mutex);
  if (impl_->ended) return false;
  if (impl_->out.size() >= kMaxQueuedMessages) {
    lock.unlock();
    impl_->End();
    return false;
  }
  impl_->out.push_back(std::move(message));
  impl_->out_changed.notify_one();
  return true;
}

std::optional<v1::ToAgent> ControlClient::Receive(Nanos deadline) {
  std::unique_lock lock(impl_->mutex);
  impl_->in_changed.wait_until(lock, SteadyPoint(deadline),
                               [&] { return impl_->ended || !impl_->in.empty(); });
  if (impl_->in.empty()) return std::nullopt;
  v1::ToAgent message = std::move(impl_->in.front());
  impl_->in.pop_front();
  return message;
}

bool ControlClient::ended() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->ended && impl_->in.empty();
}

void ControlClient::Flush(Nanos deadline) {
  std::unique_lock lock(impl_->mutex);
  impl_->flushed.wait_until(lock, SteadyPoint(deadline), [&] {
    return impl_->ended || (impl_->out.empty() && !impl_->writing);
  });
}

}  // namespace cavalry::agent
