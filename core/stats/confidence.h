// Confidence intervals of ratios between two targets over paired rounds. Pure; any thread.
#pragma once

#include <optional>
#include <vector>

namespace cavalry::stats {

struct Ratio {
  double value = 0;  // geometric mean of b[i] / a[i]
  struct Interval {
    double low, high;
  };
  std::optional<Interval> ci95;  // nothing with fewer than two rounds
};

// The ratio b / a over rounds, paired by index, with Student's t on the logarithms of the pairs'
// ratios (n - 1 degrees of freedom). Nothing without rounds, or when a figure is not above zero.
// REQUIRES: a.size() == b.size().
std::optional<Ratio> PairedRatio(const std::vector<double>& a, const std::vector<double>& b);

// Half the spread of figures in percent of their mean: (max - min) / 2 / mean * 100. 0 for one
// figure.
double HalfSpreadPercent(const std::vector<double>& figures);

// Two-sided 95 % quantile of Student's t. REQUIRES: degrees_of_freedom >= 1.
double StudentT95(int degrees_of_freedom);

}  // namespace cavalry::stats
