#include "tests/contract/drivers/client.h"

#include <poll.h>

#include <map>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace cavalry::driver_contract {
namespace {

using drivers::Operation;
using drivers::OpResult;

constexpr std::uint32_t kInFlight = 64;

class Collector final : public drivers::RowVisitor {
 public:
  void OnRow(std::span<const drivers::Field> fields) override {
    Row& row = rows.emplace_back();
    for (const drivers::Field& field : fields) {
      row.push_back(field.is_null ? std::nullopt : std::optional<std::string>(field.text));
    }
  }
  std::vector<Row> rows;
};

Done Keep(const OpResult& result, std::vector<Row> rows) {
  return {result.outcome, result.severity,          result.outcome_unknown,   result.rows,
          result.bytes,   std::string(result.code), std::string(result.text), std::move(rows)};
}

Status ConnectStatus(const OpResult& result) {
  if (result.outcome == Outcome::kOk) return absl::OkStatus();
  return Unavailable("{} {}", result.code, result.text);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Done& done) {
  return out << fmt::format("{} \"{}\" {} ({} rows, {} bytes)", OutcomeName(done.outcome),
                            done.code, done.text, done.row_count, done.bytes);
}

StatusOr<std::unique_ptr<Client>> Client::Make(const drivers::Driver& driver, Settings settings,
                                               const std::vector<drivers::OperationPlan>& plans,
                                               Timeouts timeouts) {
  CAVALRY_RETURN_IF_ERROR(driver.Check(settings, plans));
  std::unique_ptr<Client> client(new Client(std::move(settings), plans, timeouts));
  drivers::ClientConfig config;
  config.settings = &client->settings_;
  config.operations = &plans;
  config.connect_timeout = timeouts.connect;
  config.operation_timeout = timeouts.operation;
  CAVALRY_ASSIGN_OR_RETURN(drivers::ClientFactory factory, driver.NewClientFactory(config));
  if (auto* codecs = std::get_if<std::unique_ptr<drivers::CodecFactory>>(&factory)) {
    client->codecs_ = std::move(*codecs);
    client->router_ = client->codecs_->NewRouter();
    client->channels_.resize(client->codecs_->endpoints().size());
  } else if (auto* pollables = std::get_if<std::unique_ptr<drivers::PollableFactory>>(&factory)) {
    client->pollables_ = std::move(*pollables);
    client->pollables_->EnterThread();
    client->pollable_ = client->pollables_->NewClient();
  } else {
    client->blockings_ = std::get<std::unique_ptr<drivers::BlockingFactory>>(std::move(factory));
    client->blockings_->EnterThread();
    client->blocking_ = client->blockings_->NewClient();
  }
  return client;
}

Client::~Client() {
  if (pollables_ != nullptr) {
    pollable_.reset();
    pollables_->LeaveThread();
  }
  if (blockings_ != nullptr) {
    blocking_.reset();
    blockings_->LeaveThread();
  }
}

Status Client::Connect() {
  if (pollable_ != nullptr) return ConnectStatus(Drive(pollable_->StartConnect()));
  if (blocking_ != nullptr) return ConnectStatus(blocking_->Connect());
  std::set<std::size_t> endpoints;
  for (const drivers::OperationPlan& plan : plans_) {
    for (const std::size_t endpoint : codecs_->EndpointsOf(plan)) endpoints.insert(endpoint);
  }
  for (const std::size_t endpoint : endpoints) {
    if (channels_[endpoint] != nullptr && channels_[endpoint]->usable()) continue;
    auto channel =
        drivers::BlockingChannel::Open(codecs_->endpoints()[endpoint], codecs_->NewCodec(endpoint),
                                       timeouts_.connect, timeouts_.operation);
    if (!channel.ok()) return channel.status();
    channels_[endpoint] = std::move(*channel);
  }
  return absl::OkStatus();
}

drivers::BlockingChannel* Client::ChannelFor(const Operation& operation) {
  for (std::size_t endpoint = router_->First(operation); endpoint != drivers::Router::kNone;
       endpoint = router_->Next()) {
    if (channels_[endpoint] != nullptr) return channels_[endpoint].get();
  }
  return nullptr;
}

Done Client::Run(const Operation& operation) { return RunAll({operation}).front(); }

std::vector<Done> Client::RunAll(const std::vector<Operation>& operations) {
  std::vector<Done> done(operations.size());
  std::vector<Collector> collectors(operations.size());
  std::vector<Operation> asked = operations;
  for (std::size_t i = 0; i < asked.size(); ++i) asked[i].rows = &collectors[i];
  const auto keep = [&](std::size_t i, const OpResult& result) {
    done[i] = Keep(result, std::move(collectors[i].rows));
  };
  if (codecs_ == nullptr) {
    for (std::size_t i = 0; i < asked.size(); ++i) {
      keep(i, pollable_ != nullptr ? Drive(pollable_->Start(asked[i])) : blocking_->Run(asked[i]));
    }
    return done;
  }
  std::map<drivers::BlockingChannel*, std::vector<std::size_t>> by_channel;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    drivers::BlockingChannel* const channel = ChannelFor(asked[i]);
    if (channel != nullptr) {
      by_channel[channel].push_back(i);
    } else {
      done[i].outcome = Outcome::kNotSent;
    }
  }
  for (const auto& [channel, indexes] : by_channel) {
    std::vector<Operation> some;
    for (const std::size_t i : indexes) some.push_back(asked[i]);
    channel->RunAll(some, kInFlight, [&, &its = indexes](std::size_t i, const OpResult& result) {
      keep(its[i], result);
    });
  }
  return done;
}

void Client::Close() {
  if (pollable_ != nullptr) Drive(pollable_->StartClose());
  if (blocking_ != nullptr) blocking_->Close();
  for (auto& channel : channels_) channel.reset();
}

// Does what a worker does: waits for what the step asks for, and gives up at the deadline.
OpResult Client::Drive(drivers::PollStep step) {
  const Nanos deadline = MonotonicNow() + timeouts_.operation;
  while (!step.done) {
    Nanos patience = deadline - MonotonicNow();
    const bool own_timer = step.wait.timeout > 0 && step.wait.timeout < patience;
    if (own_timer) patience = step.wait.timeout;
    if (patience <= 0) {
      pollable_ = pollables_->NewClient();
      return {.outcome = Outcome::kTimeout,
              .severity = Severity::kReconnect,
              .outcome_unknown = true,
              .code = "timeout"};
    }
    pollfd waiting{step.wait.fd, step.wait.events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(patience / kMillisecond) + 1);
    if (ready == 0 && !own_timer) continue;
    step = pollable_->Continue(waiting.revents, ready == 0);
  }
  return step.result;
}

}  // namespace cavalry::driver_contract
