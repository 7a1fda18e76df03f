#include "tests/fakes/line_driver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/unique_fd.h"

namespace cavalry::fakes {
namespace {

using drivers::ByteBuffer;
using drivers::CompletionSink;
using drivers::ConnectionState;
using drivers::Operation;
using drivers::OpResult;
using drivers::Ticket;

void AppendRequest(const Operation& operation, ByteBuffer& out,
                   std::optional<std::uint64_t> serial = {}) {
  // In the order of OperationKind.
  static constexpr std::string_view kLetters = "RMSIUD+NBCKZH";
  out.Append(kLetters[static_cast<std::size_t>(operation.plan->kind)]);
  out.Append(' ');
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof digits,
                                 static_cast<std::uint64_t>(operation.key.first().integer))
                       .ptr;
  out.Append(std::string_view(digits, static_cast<std::size_t>(end - digits)));
  if (serial) out.Append(fmt::format(" @{}", *serial));
  out.Append('\n');
}

// `line` without its end; the result's views point into it.
OpResult ParseAnswer(std::string_view line) {
  OpResult result;
  result.bytes = line.size() + 1;
  if (line.starts_with("OK")) {
    std::string_view numbers = line.substr(2);
    const auto next = [&numbers](std::uint64_t value) {
      if (numbers.empty()) return value;
      numbers.remove_prefix(1);
      const char* const end = numbers.data() + numbers.size();
      const char* const rest = std::from_chars(numbers.data(), end, value).ptr;
      numbers.remove_prefix(static_cast<std::size_t>(rest - numbers.data()));
      return value;
    };
    result.rows = static_cast<std::uint32_t>(next(1));
    result.insert_id = next(0);
    return result;
  }
  if (line == "MISS") {
    result.outcome = Outcome::kMiss;
    return result;
  }
  result.outcome = Outcome::kRejected;
  result.severity = line.starts_with("FATAL") ? Severity::kFatal
                    : line.starts_with("BYE") ? Severity::kReconnect
                                              : Severity::kNormal;
  result.retryable = line.starts_with("RETRY");
  const std::size_t code = line.find(' ');
  if (code == std::string_view::npos) return result;
  const std::size_t text = line.find(' ', code + 1);
  result.code = line.substr(code + 1, text == std::string_view::npos ? text : text - code - 1);
  if (text != std::string_view::npos) result.text = line.substr(text + 1);
  return result;
}

class LineCodec final : public drivers::Codec {
 public:
  explicit LineCodec(const LineDriverOptions& options) : options_(options) { waiting_.reserve(64); }

  ConnectionState Start(ByteBuffer& out) override {
    if (!options_.greet) return state_ = ConnectionState::kReady;
    out.Append("HELLO\n");
    return state_;
  }

  bool Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) override {
    if (options_.unsendable_key != 0 &&
        static_cast<std::uint64_t>(operation.key.first().integer) == options_.unsendable_key) {
      error_ = OpResult{};
      error_.outcome = Outcome::kRejected;
      error_.code = "unsendable";
      return false;
    }
    AppendRequest(operation, out);
    waiting_.push_back(ticket);
    return true;
  }

  ConnectionState Feed(std::string_view bytes, ByteBuffer&, CompletionSink& sink) override {
    received_.Append(bytes);
    for (;;) {
      const std::string_view all = received_.view();
      const std::size_t end = all.find('\n');
      if (end == std::string_view::npos) return state_;
      const std::string_view line = all.substr(0, end);
      if (state_ == ConnectionState::kHandshake) {
        state_ = line == "WELCOME" ? ConnectionState::kReady : ConnectionState::kFailed;
        if (state_ == ConnectionState::kFailed) error_ = ParseAnswer(line);
      } else if (waiting_.empty()) {
        state_ = ConnectionState::kFailed;
        error_ = OpResult{};
        error_.outcome = Outcome::kBroken;
        error_.code = "unasked";
      } else {
        const Ticket ticket = waiting_.front();
        waiting_.erase(waiting_.begin());  // so that it grows no longer than the pipeline is deep
        sink.OnDone(ticket, ParseAnswer(line));
      }
      if (state_ == ConnectionState::kFailed) return state_;
      received_.Consume(end + 1);
    }
  }

  const OpResult& error() const override { return error_; }

 private:
  const LineDriverOptions& options_;
  ConnectionState state_ = ConnectionState::kHandshake;
  ByteBuffer received_;
  std::vector<Ticket> waiting_;
  OpResult error_;
};

// Answers in any order; those of operations given up are dropped.
class SharedLineCodec final : public drivers::Codec {
 public:
  ConnectionState Start(ByteBuffer&) override { return ConnectionState::kReady; }
  bool Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) override {
    AppendRequest(operation, out, ++serial_);
    waiting_[serial_] = ticket;
    return true;
  }
  // So that a test sees that it is called before each send.
  void EndBatch(ByteBuffer& out) override {
    if (!out.empty()) out.Append("END\n");
  }
  bool Forget(Ticket ticket) override {
    return std::erase_if(waiting_, [&](const auto& one) { return one.second == ticket; }) == 1;
  }
  ConnectionState Feed(std::string_view bytes, ByteBuffer&, CompletionSink& sink) override {
    received_.Append(bytes);
    for (;;) {
      const std::string_view all = received_.view();
      const std::size_t end = all.find('\n');
      if (end == std::string_view::npos) return ConnectionState::kReady;
      const std::string_view line = all.substr(1, end - 1);
      std::uint64_t serial = 0;
      const char* const rest = std::from_chars(line.data(), line.data() + end, serial).ptr;
      const std::string_view answer = line.substr(static_cast<std::size_t>(rest - line.data()) + 1);
      const auto found = waiting_.find(serial);
      if (found != waiting_.end()) {
        const Ticket ticket = found->second;
        waiting_.erase(found);
        sink.OnDone(ticket, ParseAnswer(answer));
      }
      received_.Consume(end + 1);
    }
  }
  const OpResult& error() const override { return error_; }

 private:
  std::uint64_t serial_ = 0;
  std::map<std::uint64_t, Ticket> waiting_;
  ByteBuffer received_;
  OpResult error_;
};

// By the key's remainder, then those that follow.
class RemainderRouter final : public drivers::Router {
 public:
  explicit RemainderRouter(std::size_t endpoints) : endpoints_(endpoints) {}
  std::size_t First(const drivers::Operation& operation) override {
    tried_ = 1;
    return at_ = static_cast<std::size_t>(operation.key.first().integer) % endpoints_;
  }
  std::size_t Next() override {
    if (tried_++ == endpoints_) return kNone;
    return at_ = (at_ + 1) % endpoints_;
  }

 private:
  const std::size_t endpoints_;
  std::size_t at_ = 0;
  std::size_t tried_ = 0;
};

class LineRouter final : public drivers::Router {
 public:
  explicit LineRouter(const drivers::CodecFactory& factory) : factory_(factory) {}
  std::size_t First(const drivers::Operation& operation) override {
    return factory_.EndpointsOf(*operation.plan).front();
  }

 private:
  const drivers::CodecFactory& factory_;
};

class LineCodecFactory final : public drivers::CodecFactory {
 public:
  explicit LineCodecFactory(const LineDriverOptions& options) : options_(options) {}
  const std::vector<drivers::Endpoint>& endpoints() const override { return options_.endpoints; }
  std::vector<std::size_t> EndpointsOf(const drivers::OperationPlan& plan) const override {
    if (options_.shared_connections > 0) {
      std::vector<std::size_t> all(options_.endpoints.size());
      std::iota(all.begin(), all.end(), 0U);
      return all;
    }
    return {plan.kind == drivers::OperationKind::kRead ? 0 : options_.endpoints.size() - 1};
  }
  std::uint32_t shared_connections() const override { return options_.shared_connections; }
  std::uint32_t max_in_flight() const override { return 1'000; }
  bool endpoints_are_nodes() const override { return options_.shared_connections > 0; }
  std::unique_ptr<drivers::Router> NewRouter() const override {
    if (options_.shared_connections > 0) {
      return std::make_unique<RemainderRouter>(options_.endpoints.size());
    }
    return std::make_unique<LineRouter>(*this);
  }
  std::unique_ptr<drivers::Codec> NewCodec(std::size_t) const override {
    if (options_.shared_connections > 0) return std::make_unique<SharedLineCodec>();
    return std::make_unique<LineCodec>(options_);
  }

 private:
  const LineDriverOptions& options_;
};

// Does by itself what a client library does: its own socket, tells what to wait for.
class LineClient final : public drivers::PollableClient {
 public:
  explicit LineClient(const LineDriverOptions& options) : options_(options) {}

  drivers::PollStep StartConnect() override {
    fd_.Reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.endpoints.front().port);
    inet_pton(AF_INET, options_.endpoints.front().host.c_str(), &address.sin_addr);
    if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
        errno != EINPROGRESS) {
      return Failed(Outcome::kNotSent, "ECONNREFUSED");
    }
    phase_ = Phase::kConnecting;
    return Wait(POLLOUT);
  }

  std::string_view request_text() const override { return request_; }

  drivers::PollStep Start(const Operation& operation) override {
    out_.Clear();
    AppendRequest(operation, out_);
    request_.assign(out_.view());
    phase_ = Phase::kOperation;
    return SendAndRead();
  }

  drivers::PollStep Continue(short, bool timed_out) override {
    if (timed_out) return Failed(Outcome::kTimeout, "library_timeout");
    if (phase_ == Phase::kConnecting) {
      int error = 0;
      socklen_t length = sizeof error;
      getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
      if (error != 0) return Failed(Outcome::kNotSent, "ECONNREFUSED");
      if (!options_.greet) return Done({});
      phase_ = Phase::kGreeting;
      out_.Append("HELLO\n");
      return SendAndRead();
    }
    return Read();
  }

  drivers::PollStep StartClose() override {
    fd_.Reset();
    return Done({});
  }

 private:
  enum class Phase { kConnecting, kGreeting, kOperation };

  drivers::PollStep Wait(short events) {
    drivers::PollStep step;
    step.wait.fd = fd_.get();
    step.wait.events = events;
    return step;
  }
  drivers::PollStep Done(const OpResult& result) {
    drivers::PollStep step;
    step.done = true;
    step.result = result;
    return step;
  }
  drivers::PollStep Failed(Outcome outcome, std::string_view code) {
    OpResult result;
    result.outcome = outcome;
    result.severity = Severity::kReconnect;
    result.outcome_unknown = outcome == Outcome::kBroken;
    result.code = code;
    return Done(result);
  }
  drivers::PollStep SendAndRead() {
    const std::string_view request = out_.view();
    if (::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) {
      return Failed(Outcome::kNotSent, "send");
    }
    out_.Clear();
    return Read();
  }
  drivers::PollStep Read() {
    for (;;) {
      char* const space = received_.Reserve(4096);
      const ssize_t got = ::recv(fd_.get(), space, 4096, 0);
      if (got < 0 && errno == EAGAIN) return Wait(POLLIN);
      if (got <= 0) return Failed(Outcome::kBroken, "closed_by_peer");
      received_.Commit(static_cast<std::size_t>(got));
      const std::size_t end = received_.view().find('\n');
      if (end == std::string_view::npos) continue;
      line_.assign(received_.view().substr(0, end));
      received_.Consume(end + 1);
      if (phase_ == Phase::kGreeting && line_ == "WELCOME") return Done({});
      return Done(ParseAnswer(line_));
    }
  }

  const LineDriverOptions& options_;
  UniqueFd fd_;
  Phase phase_ = Phase::kConnecting;
  ByteBuffer out_;
  ByteBuffer received_;
  std::string line_;
  std::string request_;
};

// The same, waited for.
class LineBlockingClient final : public drivers::BlockingClient {
 public:
  LineBlockingClient(const LineDriverOptions& options, const drivers::ClientConfig& config)
      : client_(options),
        connect_timeout_(config.connect_timeout),
        operation_timeout_(config.operation_timeout),
        interrupt_(eventfd(0, EFD_CLOEXEC)) {}

  OpResult Connect() override {
    OpResult result = WaitFor(client_.StartConnect(), connect_timeout_);
    if (result.outcome == Outcome::kTimeout) result.code = "connect_timeout";
    return result;
  }
  OpResult Run(const Operation& operation) override {
    return WaitFor(client_.Start(operation), operation_timeout_);
  }
  void Close() override { client_.StartClose(); }
  void Interrupt() override {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(interrupt_.get(), &one, sizeof one);
  }
  std::string_view request_text() const override { return client_.request_text(); }

 private:
  OpResult WaitFor(drivers::PollStep step, Nanos timeout) {
    const Nanos deadline = MonotonicNow() + timeout;
    while (!step.done) {
      pollfd polled[] = {{step.wait.fd, step.wait.events, 0}, {interrupt_.get(), POLLIN, 0}};
      const Nanos left = std::max<Nanos>(deadline - MonotonicNow(), 0);
      const timespec wait{left / kSecond, left % kSecond};
      const int ready = ::ppoll(polled, 2, &wait, nullptr);
      if (ready <= 0 || polled[1].revents != 0) {
        client_.StartClose();
        OpResult result;
        result.outcome = ready <= 0 ? Outcome::kTimeout : Outcome::kBroken;
        result.severity = Severity::kReconnect;
        result.outcome_unknown = true;
        result.code = ready <= 0 ? "timeout" : "interrupted";
        return result;
      }
      step = client_.Continue(polled[0].revents, false);
    }
    return step.result;
  }

  LineClient client_;
  const Nanos connect_timeout_;
  const Nanos operation_timeout_;
  const UniqueFd interrupt_;
};

class LineBlockingFactory final : public drivers::BlockingFactory {
 public:
  LineBlockingFactory(const LineDriverOptions& options, const drivers::ClientConfig& config)
      : options_(options), config_(config) {}
  void EnterThread() const override {}
  void LeaveThread() const override {}
  std::unique_ptr<drivers::BlockingClient> NewClient() const override {
    return std::make_unique<LineBlockingClient>(options_, config_);
  }

 private:
  const LineDriverOptions& options_;
  const drivers::ClientConfig config_;
};

class LinePollableFactory final : public drivers::PollableFactory {
 public:
  explicit LinePollableFactory(const LineDriverOptions& options) : options_(options) {}
  void EnterThread() const override {}
  void LeaveThread() const override {}
  std::unique_ptr<drivers::PollableClient> NewClient() const override {
    return std::make_unique<LineClient>(options_);
  }

 private:
  const LineDriverOptions& options_;
};

}  // namespace

StatusOr<drivers::ClientFactory> LineDriver::NewClientFactory(
    const drivers::ClientConfig& config) const {
  if (options_.blocking) return std::make_unique<LineBlockingFactory>(options_, config);
  if (options_.pollable) return std::make_unique<LinePollableFactory>(options_);
  return std::make_unique<LineCodecFactory>(options_);
}

}  // namespace cavalry::fakes
