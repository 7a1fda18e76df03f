#include "drivers/handlersocket/handlersocket_factory.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/handlersocket/handlersocket_codec.h"
#include "drivers/handlersocket/tokens.h"

namespace cavalry::drivers::handlersocket {
namespace {

constexpr std::uint64_t kMaxPort = 65'535;

Status ReadPort(const Settings& settings, std::string_view name, std::uint16_t* port) {
  const std::uint64_t number = settings.Number(name, *port);
  if (number < 1 || number > kMaxPort) {
    return InvalidArgument("handlersocket: {}: {} is not a port (1 to {})", name, number, kMaxPort);
  }
  *port = static_cast<std::uint16_t>(number);
  return absl::OkStatus();
}

// The server compares a secret's length before it removes escapes, so one with bytes to be escaped
// can never match.
Status CheckSecret(std::string_view name, std::string_view secret) {
  if (FindByteKinds(secret).needs_escape) {
    return InvalidArgument(
        "handlersocket: {} holds a control character (a line feed at its end?), which "
        "HandlerSocket "
        "cannot take",
        name);
  }
  return absl::OkStatus();
}

std::string Label(const Options& options, Port port) {
  const bool is_address6 = options.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{} (handlersocket {})", is_address6 ? "[" : "", options.host,
                     is_address6 ? "]" : "",
                     port == Port::kRead ? options.read_port : options.write_port,
                     port == Port::kRead ? "read" : "write");
}

bool Uses(const std::vector<OperationPlan>& operations, Port port) {
  return std::any_of(operations.begin(), operations.end(),
                     [port](const OperationPlan& plan) { return PortOf(plan.kind) == port; });
}

class PortRouter final : public Router {
 public:
  explicit PortRouter(std::size_t write_endpoint) : write_endpoint_(write_endpoint) {}
  std::size_t First(const Operation& operation) override {
    return PortOf(operation.plan->kind) == Port::kRead ? 0 : write_endpoint_;
  }

 private:
  const std::size_t write_endpoint_;
};

}  // namespace

StatusOr<Options> ReadOptions(const Settings& settings) {
  Options options;
  options.host = settings.Text("host", "127.0.0.1");
  CAVALRY_RETURN_IF_ERROR(ReadPort(settings, "port", &options.read_port));
  CAVALRY_RETURN_IF_ERROR(ReadPort(settings, "write_port", &options.write_port));
  options.read_secret = settings.Text("secret", "");
  options.write_secret = settings.Text("write_secret", options.read_secret);
  options.database = settings.Text("database", "");
  CAVALRY_RETURN_IF_ERROR(CheckSecret("secret", options.read_secret));
  CAVALRY_RETURN_IF_ERROR(CheckSecret("write_secret", options.write_secret));
  return options;
}

HandlerSocketFactory::HandlerSocketFactory(const Options& options,
                                           const std::vector<OperationPlan>& operations) {
  for (const Port port : {Port::kRead, Port::kWrite}) {
    if (!Uses(operations, port)) continue;
    if (port == Port::kWrite) write_endpoint_ = endpoints_.size();
    const bool read = port == Port::kRead;
    endpoints_.push_back({.host = options.host,
                          .port = read ? options.read_port : options.write_port,
                          .unix_path = {},
                          .label = Label(options, port)});
    requests_.push_back(std::make_unique<EndpointRequests>(
        port, endpoints_.back().label, options.database,
        read ? options.read_secret : options.write_secret, operations));
  }
}

std::vector<std::size_t> HandlerSocketFactory::EndpointsOf(const OperationPlan& plan) const {
  return {PortOf(plan.kind) == Port::kRead ? 0 : write_endpoint_};
}

std::unique_ptr<Router> HandlerSocketFactory::NewRouter() const {
  return std::make_unique<PortRouter>(write_endpoint_);
}

std::unique_ptr<Codec> HandlerSocketFactory::NewCodec(std::size_t endpoint) const {
  CAVALRY_CHECK(endpoint < requests_.size());
  return std::make_unique<HandlerSocketCodec>(*requests_[endpoint]);
}

}  // namespace cavalry::drivers::handlersocket
