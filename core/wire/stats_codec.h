// Stats between messages and types. Decoding checks every bound and identity it can (histogram
// count = operations of its class, responses = iterations ok), so that a faulty agent is named, not
// believed. Whether attempted and ended agree is for the reader of a whole step: an interval also
// holds the ends of operations that an earlier one counted as attempted.
#pragma once

#include <string>
#include <vector>

#include "cavalry/v1/results.pb.h"
#include "core/base/status.h"
#include "core/stats/interval_recorder.h"

namespace cavalry::wire {

// `names`: the spec's operation names, in order.
template <typename Count>
void ToMessage(const stats::BasicStats<Count>& stats, const std::vector<std::string>& names,
               v1::Stats* message);

// Decodes a message whose operations must be `names`, in order.
StatusOr<stats::StatsTotals> FromMessage(const v1::Stats& message,
                                         const std::vector<std::string>& names);

// The same into `totals`, whose former content is forgotten but whose memory is used again: what a
// reader of many messages wants. On an error its content is of no use.
// REQUIRES: totals->operations.size() == names.size().
Status FromMessage(const v1::Stats& message, const std::vector<std::string>& names,
                   stats::StatsTotals* totals);

}  // namespace cavalry::wire
