// Keys lie where libmemcached puts them.
#include "drivers/memcached/ketama.h"

#include <gtest/gtest.h>
#include <libmemcached/memcached.h>

#include <set>
#include <string>
#include <vector>

namespace cavalry::drivers::memcached {
namespace {

void ExpectSamePlaces(const std::vector<std::pair<std::string, std::uint16_t>>& servers) {
  memcached_st* const memc = memcached_create(nullptr);
  memcached_behavior_set(memc, MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED, 1);
  std::vector<Endpoint> endpoints;
  for (const auto& [host, port] : servers) {
    ASSERT_EQ(memcached_server_add(memc, host.c_str(), port), MEMCACHED_SUCCESS);
    Endpoint endpoint;
    endpoint.host = host;
    endpoint.port = port;
    endpoints.push_back(endpoint);
  }
  Ketama ketama(endpoints);
  std::set<std::size_t> used;
  for (int i = 0; i < 5'000; ++i) {
    const std::string key = "cavalry:customer:" + std::to_string(i * 7919);
    const std::size_t server = ketama.ServerOf(key);
    ASSERT_EQ(server, memcached_generate_hash(memc, key.data(), key.size())) << key;
    used.insert(server);
  }
  EXPECT_EQ(used.size(), servers.size());
  memcached_free(memc);
}

TEST(Ketama, AgreesWithLibmemcached) {
  ExpectSamePlaces({{"127.0.0.1", 11211}, {"127.0.0.1", 11212}});
  ExpectSamePlaces({{"10.0.0.1", 11211}, {"10.0.0.2", 11211}, {"10.0.0.3", 11211}});
  std::vector<std::pair<std::string, std::uint16_t>> many;
  for (int i = 0; i < 20; ++i) {
    many.emplace_back("cache" + std::to_string(i) + ".example",
                      static_cast<std::uint16_t>(11211 + i % 3));
  }
  ExpectSamePlaces(many);
}

TEST(Ketama, OneServerHasAll) {
  Endpoint endpoint;
  endpoint.host = "a";
  Ketama ketama({endpoint});
  EXPECT_EQ(ketama.ServerOf("x"), 0u);
}

}  // namespace
}  // namespace cavalry::drivers::memcached
