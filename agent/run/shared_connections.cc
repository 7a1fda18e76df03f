#include "agent/run/shared_connections.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/run/connection_set.h"
#include "agent/run/worker_context.h"
#include "core/base/check.h"

namespace cavalry::run {

SharedConnections::SharedConnections(WorkerContext* context, const drivers::CodecFactory& factory,
                                     std::uint32_t slots)
    : context_(context), endpoints_(factory.endpoints().size()) {
  for (const std::size_t endpoint : EndpointsUsed(context->plan, factory)) {
    for (std::uint32_t i = 0; i < factory.shared_connections(); ++i) {
      endpoints_[endpoint].channels.push_back(std::make_unique<Channel>(
          context, this, factory, endpoint, Channel::Tickets::kOwn, slots));
    }
  }
}

SharedConnections::~SharedConnections() = default;

void SharedConnections::Start(std::vector<ConnectionUser*> users) {
  users_ = std::move(users);
  for (const Endpoint& endpoint : endpoints_) {
    for (const auto& channel : endpoint.channels) channel->Start();
  }
}

bool SharedConnections::Settled(std::uint32_t failed_attempts) const {
  return std::all_of(endpoints_.begin(), endpoints_.end(), [&](const Endpoint& endpoint) {
    return std::all_of(endpoint.channels.begin(), endpoint.channels.end(), [&](const auto& one) {
      return one->ready() || one->failed_attempts() >= failed_attempts;
    });
  });
}

Connection* SharedConnections::ReadyOf(std::size_t endpoint) {
  CAVALRY_CHECK(endpoint < endpoints_.size());
  Endpoint& from = endpoints_[endpoint];
  for (std::size_t i = 0; i < from.channels.size(); ++i) {
    if (++from.next >= from.channels.size()) from.next = 0;
    if (from.channels[from.next]->ready()) return from.channels[from.next].get();
  }
  return nullptr;
}

Connection& SharedConnections::For(const drivers::Operation& operation, bool* rerouted) {
  drivers::Router& router = *context_->router;
  *rerouted = false;
  for (std::size_t endpoint = router.First(operation); endpoint != drivers::Router::kNone;
       endpoint = router.Next()) {
    if (Connection* const connection = ReadyOf(endpoint)) return *connection;
    *rerouted = true;
  }
  for (std::size_t endpoint = 0; endpoint < endpoints_.size(); ++endpoint) {
    if (Connection* const connection = ReadyOf(endpoint)) return *connection;
  }
  CheckFailed(__FILE__, __LINE__, "a connection is ready");
}

void SharedConnections::Close(bool farewell) {
  for (const Endpoint& endpoint : endpoints_) {
    for (const auto& channel : endpoint.channels) channel->Close(farewell);
  }
}

bool SharedConnections::closed() const {
  return std::all_of(endpoints_.begin(), endpoints_.end(), [](const Endpoint& endpoint) {
    return std::all_of(endpoint.channels.begin(), endpoint.channels.end(),
                       [](const auto& channel) { return channel->closed(); });
  });
}

void SharedConnections::OnConnectionReady() {
  if (++ready_ > 1) return;
  for (ConnectionUser* const user : users_) user->OnSetReady();
}

void SharedConnections::OnConnectionLost() {
  if (--ready_ > 0) return;
  for (ConnectionUser* const user : users_) user->OnSetLost();
}

void SharedConnections::NoteFailure(const drivers::OpResult& result) {
  last_error_ = fmt::format("{} {}", result.code, result.text);
}

}  // namespace cavalry::run
