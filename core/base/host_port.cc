#include "core/base/host_port.h"

#include <charconv>

#include <fmt/format.h>

namespace cavalry {
namespace {

constexpr int kMaxPort = 65'535;

}  // namespace

std::string HostPort::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

StatusOr<HostPort> ParseHostPort(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return InvalidArgument("'{}' has no port: write HOST:PORT, as db1:7400", text);
  }
  HostPort address;
  address.host = std::string(text.substr(0, colon));
  if (address.host.find_first_of("/@ \t") != std::string::npos) {
    return InvalidArgument("'{}': write only HOST:PORT, as db1:7400", text);
  }
  if (address.host.size() >= 2 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return InvalidArgument("'{}': write an IPv6 address in brackets, as [::1]:7400", text);
  }
  const std::string_view port = text.substr(colon + 1);
  const auto result = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || result.ec != std::errc() || result.ptr != port.data() + port.size() ||
      address.port < 0 || address.port > kMaxPort) {
    return InvalidArgument("'{}': the port is a number from 0 to {}", text, kMaxPort);
  }
  return address;
}

}  // namespace cavalry
