#include "agent/load/key_sequence.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "core/base/random.h"

namespace cavalry::load {
namespace {

// log1p(x) / x and expm1(x) / x, continuous at 0: they keep the inversion exact for exponents
// near 1.
double Log1pOverX(double x) { return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2; }
double Expm1OverX(double x) { return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2; }

// Integral of 1 / x^theta, and its inverse.
double H(double x, double theta) {
  const double log_x = std::log(x);
  return Expm1OverX((1 - theta) * log_x) * log_x;
}
double HInverse(double x, double theta) {
  const double t = std::max(x * (1 - theta), -1.0);
  return std::exp(Log1pOverX(t) * x);
}
double Density(double x, double theta) { return std::exp(-theta * std::log(x)); }

}  // namespace

KeySequence::KeySequence(const KeySequenceOptions& options) : options_(options) {
  CAVALRY_CHECK(options.first <= options.last && options.last <= kMaxKey);
  CAVALRY_CHECK(options.per_iteration > 0);
  if (options.order == KeyOrder::kZipf) {
    CAVALRY_CHECK(options.theta > 0);
    h_first_ = H(1.5, options.theta) - 1;
    h_last_ = H(static_cast<double>(size()) + 0.5, options.theta);
    shift_ = 2 - HInverse(H(2.5, options.theta) - Density(2, options.theta), options.theta);
  }
}

std::uint64_t KeySequence::KeyFor(std::uint64_t number, std::uint32_t slot) const {
  switch (options_.order) {
    case KeyOrder::kSequential:
      return options_.first + (number * options_.per_iteration + slot) % size();
    case KeyOrder::kUniform: {
      RandomStream random(options_.seed, options_.stream, number * options_.per_iteration + slot);
      return options_.first + random.Below(size());
    }
    case KeyOrder::kZipf:
      break;
  }
  const std::uint64_t rank = ZipfRank(number, slot);
  return options_.first +
         (options_.clustered ? rank : Permute(rank, size(), options_.seed ^ options_.stream));
}

// Rank from 0. Rejection-inversion: fewer than 1.1 draws on average for any range and exponent.
std::uint64_t KeySequence::ZipfRank(std::uint64_t number, std::uint32_t slot) const {
  RandomStream random(options_.seed, options_.stream, number * options_.per_iteration + slot);
  const double count = static_cast<double>(size());
  while (true) {
    const double u = h_last_ + random.Unit() * (h_first_ - h_last_);
    const double x = HInverse(u, options_.theta);
    const double rank = std::clamp(std::floor(x + 0.5), 1.0, count);
    if (rank - x <= shift_ || u >= H(rank + 0.5, options_.theta) - Density(rank, options_.theta)) {
      return std::min(static_cast<std::uint64_t>(rank) - 1, size() - 1);
    }
  }
}

std::uint64_t MoveToClass(std::uint64_t key, std::uint64_t first, std::uint64_t last,
                          std::uint64_t session, std::uint64_t sessions) {
  const std::uint64_t moved = key - key % sessions + session;
  if (moved < first) return moved + sessions;
  if (moved > last) return moved - sessions;
  return moved;
}

}  // namespace cavalry::load
