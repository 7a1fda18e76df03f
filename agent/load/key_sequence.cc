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

// The rate with which `key_share` of the keys get `operation_share` of the draws of an exponential
// law that ends with the last key: (1 - e^(-rate key_share)) / (1 - e^-rate) = operation_share. The
// left side rises with the rate from key_share to 1, hence by halving.
double RateOf(double key_share, double operation_share) {
  double low = 0;
  double high = 1;
  const auto share = [key_share](double rate) {
    return std::expm1(-rate * key_share) / std::expm1(-rate);
  };
  while (share(high) < operation_share && high < 1e9) high *= 2;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (share(middle) < operation_share ? low : high) = middle;
  }
  return high;
}

}  // namespace

KeySequence::KeySequence(const KeySequenceOptions& options) : options_(options) {
  if (options_.order == KeyOrder::kLatest) {
    options_.first = 1;
    options_.last = kMaxKey;
  }
  if (options_.order == KeyOrder::kList) {
    CAVALRY_CHECK(options_.list != nullptr && !options_.list->empty());
    options_.first = *std::min_element(options_.list->begin(), options_.list->end());
    options_.last = *std::max_element(options_.list->begin(), options_.list->end());
  }
  CAVALRY_CHECK(options_.first <= options_.last && options_.last <= kMaxKey);
  CAVALRY_CHECK(options_.per_iteration > 0);
  switch (options_.order) {
    case KeyOrder::kZipf:
    case KeyOrder::kLatest:
      CAVALRY_CHECK(options_.theta > 0);
      h_first_ = H(1.5, options_.theta) - 1;
      h_last_ = H(static_cast<double>(size()) + 0.5, options_.theta);
      shift_ = 2 - HInverse(H(2.5, options_.theta) - Density(2, options_.theta), options_.theta);
      return;
    case KeyOrder::kHotspot:
      hot_keys_ = static_cast<std::uint64_t>(
          std::llround(options_.key_share * static_cast<double>(size())));
      hot_keys_ = std::clamp<std::uint64_t>(hot_keys_, 1, size());
      return;
    case KeyOrder::kExponential:
      CAVALRY_CHECK(options_.key_share > 0 && options_.operation_share > options_.key_share);
      rate_ = RateOf(options_.key_share, options_.operation_share);
      return;
    default:
      return;
  }
}

std::uint64_t KeySequence::KeyFor(std::uint64_t number, std::uint32_t slot) const {
  const std::uint64_t draw = number * options_.per_iteration + slot;
  RandomStream random(options_.seed, options_.stream, draw);
  switch (options_.order) {
    case KeyOrder::kSequential:
      return options_.first + draw % size();
    case KeyOrder::kUniform:
      return options_.first + random.Below(size());
    case KeyOrder::kLatest:
      return LatestKey(number, &random);
    case KeyOrder::kHotspot:
      return HotspotKey(&random);
    case KeyOrder::kExponential:
      return ExponentialKey(&random);
    case KeyOrder::kList:
      return (*options_.list)[draw % options_.list->size()];
    case KeyOrder::kZipf:
      break;
  }
  const std::uint64_t rank = ZipfRank(&random, size(), h_last_);
  return options_.first +
         (options_.clustered ? rank : Permute(rank, size(), options_.seed ^ options_.stream));
}

// Rank from 0. Rejection-inversion: fewer than 1.1 draws on average for any range and exponent.
std::uint64_t KeySequence::ZipfRank(RandomStream* random, std::uint64_t size, double h_last) const {
  const double count = static_cast<double>(size);
  while (true) {
    const double u = h_last + random->Unit() * (h_first_ - h_last);
    const double x = HInverse(u, options_.theta);
    const double rank = std::clamp(std::floor(x + 0.5), 1.0, count);
    if (rank - x <= shift_ || u >= H(rank + 0.5, options_.theta) - Density(rank, options_.theta)) {
      return std::min(static_cast<std::uint64_t>(rank) - 1, size - 1);
    }
  }
}

std::uint64_t KeySequence::LatestKey(std::uint64_t number, RandomStream* random) const {
  const GrowingKeys& keys = options_.growing;
  const std::uint64_t begun = number >= keys.warmup_number ? keys.warmup_number : keys.first_number;
  // Whole blocks only: of others it is not known which keys are there.
  const std::uint64_t from = (begun + keys.block_iterations - 1) / keys.block_iterations;
  const std::uint64_t to = number / keys.block_iterations;
  const std::uint64_t inserted = to > from ? (to - from) * keys.block_inserts : 0;
  const std::uint64_t size = keys.rows + inserted;
  if (size == 0) return keys.insert_first;  // nothing is there yet: a miss
  const double h_last = H(static_cast<double>(size) + 0.5, options_.theta);
  const std::uint64_t back = ZipfRank(random, size, h_last);
  if (back < inserted) return keys.insert_first + to * keys.block_inserts - 1 - back;
  return keys.rows - (back - inserted);
}

std::uint64_t KeySequence::HotspotKey(RandomStream* random) const {
  const bool hot = random->Unit() < options_.operation_share || hot_keys_ == size();
  if (hot) return options_.first + random->Below(hot_keys_);
  return options_.first + hot_keys_ + random->Below(size() - hot_keys_);
}

std::uint64_t KeySequence::ExponentialKey(RandomStream* random) const {
  // Inverse of the law's distribution over [0, 1), the range.
  const double share = -std::log1p(random->Unit() * std::expm1(-rate_)) / rate_;
  const double place = share * static_cast<double>(size());
  return options_.first + std::min(static_cast<std::uint64_t>(place), size() - 1);
}

std::uint64_t MoveToClass(std::uint64_t key, std::uint64_t first, std::uint64_t last,
                          std::uint64_t session, std::uint64_t sessions) {
  const std::uint64_t moved = key - key % sessions + session;
  if (moved < first) return moved + sessions;
  if (moved > last) return moved - sessions;
  return moved;
}

}  // namespace cavalry::load
