// Histograms between messages and types: HdrHistogram's V2 payload encoding (counts from index 0 as
// zigzag LEB128, a run of n zeros as -n, as its C and Python libraries write it; the Java library's
// 0 for a single one is read too), bounds-checked: any bytes give a histogram or an error, and a
// decoded histogram's parts agree with each other. Source: HdrHistogram, EncodableHistogram V2.
#pragma once

#include <string>
#include <string_view>

#include "cavalry/v1/results.pb.h"
#include "core/base/status.h"
#include "core/stats/latency_histogram.h"

namespace cavalry::wire {

// The V2 payload of the counts up to the last used one. Empty without samples.
template <typename Count>
std::string EncodeCounts(const stats::BasicLatencyHistogram<Count>& histogram);

template <typename Count>
void ToMessage(const stats::BasicLatencyHistogram<Count>& histogram, v1::Histogram* message);

// Adds the message's samples to `histogram` (which is left as it was on an error).
Status AddMessage(const v1::Histogram& message, stats::LatencyHistogram* histogram);

}  // namespace cavalry::wire
