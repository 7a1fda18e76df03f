#include "core/stats/confidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/check.h"

namespace cavalry::stats {
namespace {

// The figures of 1 to 30 degrees of freedom; the series below is off by less than 2e-6 beyond them.
constexpr std::array<double, 30> kT95 = {
    12.706205, 4.302653, 3.182446, 2.776445, 2.570582, 2.446912, 2.364624, 2.306004,
    2.262157,  2.228139, 2.200985, 2.178813, 2.160369, 2.144787, 2.131450, 2.119905,
    2.109816,  2.100922, 2.093024, 2.085963, 2.079614, 2.073873, 2.068658, 2.063899,
    2.059539,  2.055529, 2.051831, 2.048407, 2.045230, 2.042272};

}  // namespace

double StudentT95(int degrees_of_freedom) {
  CAVALRY_CHECK(degrees_of_freedom >= 1);
  if (degrees_of_freedom <= static_cast<int>(kT95.size())) {
    return kT95[static_cast<std::size_t>(degrees_of_freedom) - 1];
  }
  // Expansion in 1/n around the normal quantile (Abramowitz and Stegun, 26.7.5).
  const double z = 1.959963984540054;
  const double z2 = z * z;
  const double n = degrees_of_freedom;
  const double first = z * (z2 + 1) / 4;
  const double second = z * ((5 * z2 + 16) * z2 + 3) / 96;
  const double third = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
  return z + first / n + second / (n * n) + third / (n * n * n);
}

std::optional<Ratio> PairedRatio(const std::vector<double>& a, const std::vector<double>& b) {
  CAVALRY_CHECK(a.size() == b.size());
  if (a.empty()) return std::nullopt;
  const auto usable = [](double figure) { return std::isfinite(figure) && figure > 0; };
  if (!std::all_of(a.begin(), a.end(), usable)) return std::nullopt;
  if (!std::all_of(b.begin(), b.end(), usable)) return std::nullopt;

  const std::size_t n = a.size();
  std::vector<double> logs(n);
  for (std::size_t i = 0; i < n; ++i) logs[i] = std::log(b[i]) - std::log(a[i]);
  const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(n);
  Ratio ratio;
  ratio.value = std::exp(mean);
  if (n < 2) return ratio;
  double squares = 0;
  for (const double log : logs) squares += (log - mean) * (log - mean);
  const double error = std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  const double half = StudentT95(static_cast<int>(n) - 1) * error;
  ratio.ci95 = Ratio::Interval{std::exp(mean - half), std::exp(mean + half)};
  return ratio;
}

double HalfSpreadPercent(const std::vector<double>& figures) {
  if (figures.size() < 2) return 0;
  const auto [low, high] = std::minmax_element(figures.begin(), figures.end());
  const double sum = std::accumulate(figures.begin(), figures.end(), 0.0);
  if (sum == 0) return 0;
  return (*high - *low) / 2 / (sum / static_cast<double>(figures.size())) * 100;
}

}  // namespace cavalry::stats
