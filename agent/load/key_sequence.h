// Which key an operation of an iteration works on: a pure function of (seed, iteration number,
// slot). Immutable after Make; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/random.h"

namespace cavalry::load {

// Largest key. Half of 64 bits, so that no sum of a key and a session, count or slot wraps.
inline constexpr std::uint64_t kMaxKey = (std::uint64_t{1} << 63) - 1;

enum class KeyOrder : std::uint8_t {
  kSequential,
  kUniform,
  kZipf,
  kLatest,       // zipf counted back from the newest key
  kHotspot,      // hot keys at the start of the range
  kExponential,  // exponentially less the further from the start of the range
  kList,         // keys of a list, in order, wrapping
};

// The key space of a table that the script's own inserts make larger: filled keys 1..rows, then
// those of iterations. Iterations count in blocks, whose keys are dense: one iteration each, or
// kMixBlock of a mix.
struct GrowingKeys {
  std::uint64_t rows = 0;          // filled
  std::uint64_t insert_first = 1;  // first key of iteration 0
  std::uint64_t block_iterations = 1;
  std::uint64_t block_inserts = 0;  // keys that a block of iterations inserts
  // Numbers from which on this agent's iterations are done in rising order, of measure and of a
  // warm-up that has numbers of its own (above all others): what comes before is not counted upon.
  std::uint64_t first_number = 0;
  std::uint64_t warmup_number = ~std::uint64_t{0};
};

struct KeySequenceOptions {
  KeyOrder order = KeyOrder::kUniform;
  std::uint64_t first = 1;  // keys first..last, both included; first <= last <= kMaxKey
  std::uint64_t last = 1;
  double theta = 0.99;     // of kZipf and kLatest, above 0, at most 5
  bool clustered = false;  // of kZipf: popular keys at the start instead of spread
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;         // one per operation name
  std::uint32_t per_iteration = 1;  // keys that the operation draws in an iteration
  // Of kHotspot and kExponential: shares of the keys and of the operations that go to them, both
  // above 0 and below 1; kExponential: operation_share > key_share.
  double key_share = 0.2;
  double operation_share = 0.8;
  GrowingKeys growing;                                     // of kLatest
  std::shared_ptr<const std::vector<std::uint64_t>> list;  // of kList; not empty
};

class KeySequence {
 public:
  explicit KeySequence(const KeySequenceOptions& options);

  // REQUIRES: slot < per_iteration.
  std::uint64_t KeyFor(std::uint64_t number, std::uint32_t slot) const;

  // Bounds of its keys; of kLatest 1 and kMaxKey.
  std::uint64_t first() const { return options_.first; }
  std::uint64_t last() const { return options_.last; }
  std::uint64_t size() const { return options_.last - options_.first + 1; }
  // Whether any key from first() to last() may take the place of another (MoveToClass).
  bool is_range() const {
    return options_.order != KeyOrder::kLatest && options_.order != KeyOrder::kList;
  }

 private:
  std::uint64_t ZipfRank(RandomStream* random, std::uint64_t size, double h_last) const;
  std::uint64_t LatestKey(std::uint64_t number, RandomStream* random) const;
  std::uint64_t HotspotKey(RandomStream* random) const;
  std::uint64_t ExponentialKey(RandomStream* random) const;

  KeySequenceOptions options_;
  // Rejection-inversion (Hoermann, Derflinger 1996): constants of the range and exponent.
  double h_first_ = 0;
  double h_last_ = 0;
  double shift_ = 0;
  std::uint64_t hot_keys_ = 0;  // of kHotspot
  double rate_ = 0;             // of kExponential, over the whole range
};

// Moves a key to the class of one session (key mod sessions), so that each key has one writer: to a
// key of first..last less than 2 x sessions away. Who owns a key does not depend on the range, so
// sequences over different ranges agree on it.
// REQUIRES: session < sessions, first <= key <= last <= kMaxKey, last - first + 1 >= sessions.
std::uint64_t MoveToClass(std::uint64_t key, std::uint64_t first, std::uint64_t last,
                          std::uint64_t session, std::uint64_t sessions);

}  // namespace cavalry::load
