#include "drivers/memcached/ketama.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace cavalry::drivers::memcached {
namespace {

constexpr std::uint32_t kHashesPerServer = 40;
constexpr std::size_t kNumbersPerHash = 4;
constexpr std::uint16_t kUnwrittenPort = 11211;

}  // namespace

Ketama::Ketama(const std::vector<Endpoint>& servers)
    : servers_(servers.size()), hash_(EVP_MD_CTX_new()) {
  CAVALRY_CHECK(hash_ != nullptr && EVP_DigestInit_ex(hash_.get(), EVP_md5(), nullptr) == 1);
  for (std::uint32_t server = 0; server < servers.size(); ++server) {
    const Endpoint& endpoint = servers[server];
    const std::string name = endpoint.port == kUnwrittenPort
                                 ? endpoint.host
                                 : fmt::format("{}:{}", endpoint.host, endpoint.port);
    for (std::uint32_t i = 0; i < kHashesPerServer; ++i) {
      std::uint32_t numbers[kNumbersPerHash];
      Hash(fmt::format("{}-{}", name, i), numbers);
      for (const std::uint32_t number : numbers) points_.push_back({number, server});
    }
  }
  std::stable_sort(points_.begin(), points_.end(),
                   [](const Point& a, const Point& b) { return a.position < b.position; });
}

std::size_t Ketama::ServerOf(std::string_view key) {
  if (servers_ == 1) return 0;
  std::uint32_t numbers[kNumbersPerHash];
  Hash(key, numbers);
  const auto at = std::lower_bound(
      points_.begin(), points_.end(), numbers[0],
      [](const Point& point, std::uint32_t position) { return point.position < position; });
  return at == points_.end() ? points_.front().server : at->server;
}

void Ketama::Hash(std::string_view text, std::uint32_t numbers[4]) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  // Without naming the kind of hash again, which would allocate.
  EVP_DigestInit_ex(hash_.get(), nullptr, nullptr);
  EVP_DigestUpdate(hash_.get(), text.data(), text.size());
  EVP_DigestFinal_ex(hash_.get(), digest, nullptr);
  for (std::size_t i = 0; i < kNumbersPerHash; ++i) {
    const unsigned char* const part = digest + 4 * i;
    numbers[i] = static_cast<std::uint32_t>(part[0]) | static_cast<std::uint32_t>(part[1]) << 8 |
                 static_cast<std::uint32_t>(part[2]) << 16 |
                 static_cast<std::uint32_t>(part[3]) << 24;
  }
}

}  // namespace cavalry::drivers::memcached
