// Which key an operation of an iteration works on: a pure function of (seed, iteration number,
// slot). Immutable after Make; any thread.
#pragma once

#include <cstdint>

namespace cavalry::load {

// Largest key. Half of 64 bits, so that no sum of a key and a session, count or slot wraps.
inline constexpr std::uint64_t kMaxKey = (std::uint64_t{1} << 63) - 1;

enum class KeyOrder : std::uint8_t { kSequential, kUniform, kZipf };

struct KeySequenceOptions {
  KeyOrder order = KeyOrder::kUniform;
  std::uint64_t first = 1;  // keys first..last, both included; first <= last <= kMaxKey
  std::uint64_t last = 1;
  double theta = 0.99;     // of kZipf, above 0, at most 5
  bool clustered = false;  // of kZipf: popular keys at the start instead of spread
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;         // one per operation name
  std::uint32_t per_iteration = 1;  // times the operation occurs in an iteration
};

class KeySequence {
 public:
  explicit KeySequence(const KeySequenceOptions& options);

  // REQUIRES: slot < per_iteration.
  std::uint64_t KeyFor(std::uint64_t number, std::uint32_t slot) const;

  std::uint64_t first() const { return options_.first; }
  std::uint64_t last() const { return options_.last; }
  std::uint64_t size() const { return options_.last - options_.first + 1; }

 private:
  std::uint64_t ZipfRank(std::uint64_t number, std::uint32_t slot) const;

  KeySequenceOptions options_;
  // Rejection-inversion (Hoermann, Derflinger 1996): constants of the range and exponent.
  double h_first_ = 0;
  double h_last_ = 0;
  double shift_ = 0;
};

// Moves a key to the class of one session (key mod sessions), so that each key has one writer: to a
// key of first..last less than 2 x sessions away. Who owns a key does not depend on the range, so
// sequences over different ranges agree on it.
// REQUIRES: session < sessions, first <= key <= last <= kMaxKey, last - first + 1 >= sessions.
std::uint64_t MoveToClass(std::uint64_t key, std::uint64_t first, std::uint64_t last,
                          std::uint64_t session, std::uint64_t sessions);

}  // namespace cavalry::load
