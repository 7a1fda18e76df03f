#include "agent/run/connection_set.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "agent/run/channel.h"
#include "agent/run/pollable_connection.h"
#include "agent/run/worker_context.h"
#include "core/base/check.h"

namespace cavalry::run {
namespace {

// The operations that the script does, a rollback that it implies included.
std::vector<std::uint32_t> OperationsOf(const load::ScriptPlan& script) {
  std::vector<std::uint32_t> operations;
  for (const load::ScriptStep& step : script.steps) {
    if (step.sleep == 0) operations.push_back(step.operation);
  }
  if (script.rollback) operations.push_back(*script.rollback);
  return operations;
}

}  // namespace

std::vector<std::size_t> EndpointsUsed(const LoadPlan& plan, const drivers::CodecFactory& factory) {
  std::vector<std::size_t> used;
  for (const std::uint32_t which : OperationsOf(plan.script)) {
    for (const std::size_t endpoint : factory.EndpointsOf(plan.operations[which])) {
      CAVALRY_CHECK(endpoint < factory.endpoints().size());
      if (std::find(used.begin(), used.end(), endpoint) == used.end()) used.push_back(endpoint);
    }
  }
  return used;
}

ConnectionSet::ConnectionSet(WorkerContext* context, ConnectionUser* user, std::uint32_t tickets)
    : context_(context), user_(user) {
  const drivers::ClientFactory& clients = context->shared.clients;
  if (const auto* codecs = std::get_if<std::unique_ptr<drivers::CodecFactory>>(&clients)) {
    const drivers::CodecFactory& factory = **codecs;
    by_endpoint_.resize(factory.endpoints().size());
    for (const std::size_t endpoint : EndpointsUsed(context->plan, factory)) {
      connections_.push_back(std::make_unique<Channel>(context, this, factory, endpoint,
                                                       Channel::Tickets::kOfSlots, tickets));
      by_endpoint_[endpoint] = connections_.back().get();
    }
  } else {
    const auto& pollables = std::get<std::unique_ptr<drivers::PollableFactory>>(clients);
    connections_.push_back(std::make_unique<PollableConnection>(context, this, *pollables));
  }
}

ConnectionSet::~ConnectionSet() = default;

void ConnectionSet::Start() {
  for (const auto& connection : connections_) connection->Start();
}

void ConnectionSet::OpenOnce() {
  unreachable_ = false;
  for (const auto& connection : connections_) {
    if (unreachable_) break;
    connection->OpenOnce();
  }
}

std::uint32_t ConnectionSet::failed_attempts() const {
  std::uint32_t most = 0;
  for (const auto& connection : connections_) {
    most = std::max(most, connection->failed_attempts());
  }
  return most;
}

Connection& ConnectionSet::For(const drivers::Operation& operation) {
  if (connections_.size() == 1) return *connections_.front();
  Connection* const connection = by_endpoint_[context_->router->First(operation)];
  CAVALRY_CHECK(connection != nullptr);
  return *connection;
}

void ConnectionSet::Reconnect() {
  for (const auto& connection : connections_) connection->Reconnect();
}

void ConnectionSet::Close(bool farewell) {
  closing_ = true;
  for (const auto& connection : connections_) connection->Close(farewell);
  OnConnectionClosed();  // all of them may have been so before
}

bool ConnectionSet::closed() const {
  return std::all_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return connection->closed(); });
}

void ConnectionSet::OnConnectionReady() {
  ++ready_;
  if (!ready()) return;
  ever_ready_ = true;
  user_->OnSetReady();
}

void ConnectionSet::OnConnectionLost() {
  const bool was_ready = ready();
  --ready_;
  if (was_ready) user_->OnSetLost();
}

void ConnectionSet::OnConnectionClosed() {
  if (!closing_ || !closed()) return;
  closing_ = false;
  user_->OnSetClosed();
}

void ConnectionSet::OnOpenFailed() {
  if (std::exchange(unreachable_, true)) return;
  for (const auto& connection : connections_) connection->Close(false);
  user_->OnSetUnreachable();
}

void ConnectionSet::NoteFailure(const drivers::OpResult& result) {
  last_error_ = fmt::format("{} {}", result.code, result.text);
}

}  // namespace cavalry::run
