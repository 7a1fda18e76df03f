// Conditions on results: "p99(find) < 5ms", "failed < 0.1%", "throughput(find, hs) > 20k/s",
// "lost == 0". Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace cavalry::report {

struct Threshold {
  enum class Metric { kThroughput, kReached, kFailed, kMiss, kLost, kMean, kMax, kPercentile };
  enum class Comparator { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual };
  std::string expression;  // as written
  Metric metric = Metric::kFailed;
  double percentile = 0;  // of kPercentile: 99.9 for p99.9 and p99_9
  std::string subject;    // operation or script; "" all
  std::string target;     // "" every target
  Comparator comparator = Comparator::kLess;
  double bound = 0;  // latencies in us, shares as fractions, throughput per second
};

// The error says what is wrong and shows a right example.
StatusOr<Threshold> ParseThreshold(std::string_view text);

// Whether `value comparator bound`.
bool Holds(const Threshold& threshold, double value);

}  // namespace cavalry::report
