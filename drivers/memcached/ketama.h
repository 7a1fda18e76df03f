// Which of several servers an item is on: consistent hashing as libmemcached's weighted ketama does
// it with equal weights (MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED), so that its clients find the same
// items: 160 points a server, four from the MD5 of each "host:port-0" to "-39" (the port left out
// when it is 11211), and a key's own MD5 cut to 32 bits. Immutable; any thread but ServerOf, whose
// hash has a state: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <openssl/evp.h>

#include "drivers/core/codec.h"

namespace cavalry::drivers::memcached {

class Ketama {
 public:
  // In the order of the spec.
  explicit Ketama(const std::vector<Endpoint>& servers);

  // Index of the server of this key. Allocates nothing.
  std::size_t ServerOf(std::string_view key);

 private:
  struct Point {
    std::uint32_t position;
    std::uint32_t server;
  };
  struct HashFree {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  // The MD5 as four numbers, least significant byte first.
  void Hash(std::string_view text, std::uint32_t numbers[4]);

  const std::size_t servers_;
  std::unique_ptr<EVP_MD_CTX, HashFree> hash_;
  std::vector<Point> points_;  // by position
};

}  // namespace cavalry::drivers::memcached
