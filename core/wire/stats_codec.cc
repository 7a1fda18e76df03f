#include "core/wire/stats_codec.h"

#include <array>
#include <memory>
#include <set>
#include <string_view>

#include "core/base/check.h"
#include "core/wire/histogram_codec.h"
#include "core/wire/status_codec.h"
#include "core/wire/utf8.h"

namespace cavalry::wire {
namespace {

using stats::ErrorTable;
using stats::LatencyHistogram;
using stats::StatsTotals;

// No run counts further; sums of many messages stay within 64 bits.
constexpr std::uint64_t kMaxCount = std::uint64_t{1} << 53;
// Nodes of one cluster, and the length of a node's label.
constexpr int kMaxNodes = 4096;
constexpr std::size_t kMaxLabelBytes = 512;
// What an ErrorTable can hold: its kinds, and "other" once a class.
constexpr int kMaxErrors = static_cast<int>(ErrorTable::kMaxKinds + kOutcomeCount);

void ToMessage(const stats::OperationCounters& counters, v1::OpCounts* message) {
  message->set_attempted(counters.attempted);
  message->set_ok(counters[Outcome::kOk]);
  message->set_miss(counters[Outcome::kMiss]);
  message->set_rejected(counters[Outcome::kRejected]);
  message->set_timeout(counters[Outcome::kTimeout]);
  message->set_broken(counters[Outcome::kBroken]);
  message->set_not_sent(counters[Outcome::kNotSent]);
  message->set_dropped(counters[Outcome::kDropped]);
  message->set_abandoned(counters[Outcome::kAbandoned]);
  message->set_sent(counters[Outcome::kSent]);
}

stats::OperationCounters CountersOf(const v1::OperationStats& message) {
  const v1::OpCounts& ops = message.ops();
  stats::OperationCounters counters;
  counters.attempted = ops.attempted();
  // In the order of Outcome.
  counters.by_outcome = {ops.ok(),      ops.miss(),      ops.rejected(),
                         ops.timeout(), ops.broken(),    ops.not_sent(),
                         ops.dropped(), ops.abandoned(), ops.sent()};
  counters.rows = message.rows();
  counters.bytes = message.bytes();
  counters.wrong_answers = message.wrong_answers();
  counters.keys_asked = message.keys_asked();
  counters.keys_found = message.keys_found();
  return counters;
}

stats::IterationCounters CountersOf(const v1::IterationCounts& message) {
  stats::IterationCounters counters;
  counters.attempted = message.attempted();
  counters.ok = message.ok();
  counters.failed = message.failed();
  counters.dropped = message.dropped();
  counters.abandoned = message.abandoned();
  return counters;
}

void ToMessage(const stats::IterationCounters& counters, v1::IterationCounts* message) {
  message->set_attempted(counters.attempted);
  message->set_ok(counters.ok);
  message->set_failed(counters.failed);
  message->set_dropped(counters.dropped);
  message->set_abandoned(counters.abandoned);
}

void ToMessage(const ErrorTable& errors, google::protobuf::RepeatedPtrField<v1::ErrorCount>* list) {
  for (const auto& [key, entry] : errors.entries()) {
    v1::ErrorCount* message = list->Add();
    message->set_code(ValidUtf8(key.first, ErrorTable::kMaxCodeBytes));
    message->set_outcome(std::string(OutcomeName(entry.outcome)));
    message->set_count(entry.count);
    message->set_text(ValidUtf8(entry.text, ErrorTable::kMaxTextBytes));
  }
}

// The histograms of a message by class, in one place for checking and adding.
struct ClassHistogram {
  Outcome outcome;
  const v1::Histogram& histogram;
};

std::array<ClassHistogram, 5> HistogramsOf(const v1::OperationStats& message) {
  return {{{Outcome::kOk, message.service()},
           {Outcome::kMiss, message.miss()},
           {Outcome::kRejected, message.rejected()},
           {Outcome::kTimeout, message.timeout()},
           {Outcome::kBroken, message.broken()}}};
}

Status CheckCount(std::uint64_t count, std::string_view what) {
  if (count > kMaxCount) return DataLoss("{} {} is out of range", what, count);
  return absl::OkStatus();
}

Status CheckErrors(const google::protobuf::RepeatedPtrField<v1::ErrorCount>& errors) {
  if (errors.size() > kMaxErrors) return DataLoss("{} kinds of errors", errors.size());
  for (const v1::ErrorCount& error : errors) {
    Outcome outcome;
    if (!OutcomeFromName(error.outcome(), &outcome)) {
      return DataLoss("error \"{}\": unknown outcome \"{}\"", error.code(), error.outcome());
    }
    CAVALRY_RETURN_IF_ERROR(CheckCount(error.count(), "error count"));
  }
  return absl::OkStatus();
}

Status CheckOperation(const v1::OperationStats& message) {
  const stats::OperationCounters counters = CountersOf(message);
  CAVALRY_RETURN_IF_ERROR(CheckCount(counters.attempted, "attempted"));
  CAVALRY_RETURN_IF_ERROR(CheckCount(counters.wrong_answers, "wrong answers"));
  CAVALRY_RETURN_IF_ERROR(CheckCount(counters.keys_asked, "keys asked"));
  if (counters.keys_found > counters.keys_asked) {
    return DataLoss("{} keys found of {} asked for", counters.keys_found, counters.keys_asked);
  }
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    CAVALRY_RETURN_IF_ERROR(
        CheckCount(counters.by_outcome[i], OutcomeName(static_cast<Outcome>(i))));
  }
  for (const ClassHistogram& entry : HistogramsOf(message)) {
    const std::string_view name = OutcomeName(entry.outcome);
    if (entry.histogram.count() != counters[entry.outcome]) {
      return DataLoss("{} {} but {} latencies of them", counters[entry.outcome], name,
                      entry.histogram.count());
    }
  }
  return CheckErrors(message.errors());
}

Status CheckNodes(const v1::Stats& message) {
  if (message.nodes_size() > kMaxNodes) return DataLoss("stats of {} nodes", message.nodes_size());
  std::set<std::string_view> labels;
  for (const v1::OperationStats& node : message.nodes()) {
    if (node.operation().size() > kMaxLabelBytes || !labels.insert(node.operation()).second) {
      return DataLoss("node \"{}\": too long a label, or there twice",
                      ValidUtf8(node.operation(), kMaxLabelBytes));
    }
    if (Status status = CheckOperation(node); !status.ok()) {
      return Annotate(status, fmt::format("node \"{}\"", node.operation()));
    }
  }
  return absl::OkStatus();
}

// Response times are of the iterations ok: in a histogram of their own, or as the service times of
// the only operation that was used.
Status CheckResponse(const v1::Stats& message) {
  std::uint64_t responses = message.response().count();
  if (message.response_is_service()) {
    if (responses != 0) return DataLoss("response times that are said to be left out");
    int used = 0;
    for (const v1::OperationStats& operation : message.operations()) {
      responses += operation.ops().ok();
      used += operation.ops().ok() > 0 ? 1 : 0;
    }
    if (used > 1) return DataLoss("response is said to be service, of {} operations", used);
  }
  if (responses != message.iterations().ok()) {
    return DataLoss("{} iterations ok but {} response times", message.iterations().ok(), responses);
  }
  return absl::OkStatus();
}

// All but what is inside of the histograms, which is checked as they are added.
Status Check(const v1::Stats& message, const std::vector<std::string>& names) {
  if (static_cast<std::size_t>(message.operations_size()) != names.size()) {
    return DataLoss("stats of {} operations instead of {}", message.operations_size(),
                    names.size());
  }
  for (int i = 0; i < message.operations_size(); ++i) {
    const v1::OperationStats& operation = message.operations(i);
    const std::string& name = names[static_cast<std::size_t>(i)];
    if (operation.operation() != name) {
      return DataLoss("stats of operation \"{}\" instead of \"{}\"", operation.operation(), name);
    }
    if (Status status = CheckOperation(operation); !status.ok()) {
      return Annotate(status, fmt::format("operation \"{}\"", name));
    }
  }
  CAVALRY_RETURN_IF_ERROR(CheckNodes(message));
  const v1::IterationCounts& iterations = message.iterations();
  for (const std::uint64_t count :
       {iterations.attempted(), iterations.ok(), iterations.failed(), iterations.dropped(),
        iterations.abandoned(), message.reconnects(), message.reprepares(), message.retries(),
        message.rerouted(), message.in_flight(), message.iterations_in_flight()}) {
    CAVALRY_RETURN_IF_ERROR(CheckCount(count, "count"));
  }
  if (Status status = CheckResponse(message); !status.ok()) return Annotate(status, "response");
  return CheckErrors(message.connect_errors());
}

Status AddTo(const v1::Histogram& message, std::string_view what,
             std::unique_ptr<LatencyHistogram>* slot) {
  // Figures without samples are for the decoder to refuse.
  if (message.ByteSizeLong() == 0) return absl::OkStatus();
  if (*slot == nullptr) *slot = std::make_unique<LatencyHistogram>();
  return Annotate(AddMessage(message, slot->get()), what);
}

void AddTo(const google::protobuf::RepeatedPtrField<v1::ErrorCount>& errors, ErrorTable* table) {
  for (const v1::ErrorCount& error : errors) {
    Outcome outcome = Outcome::kRejected;
    CAVALRY_CHECK(OutcomeFromName(error.outcome(), &outcome));  // checked before
    table->Count(error.code(), outcome, error.text(), error.count());
  }
}

template <typename Count>
void ToMessage(const typename stats::BasicStats<Count>::PerOperation& from, const std::string& name,
               v1::OperationStats* to) {
  to->set_operation(name);
  ToMessage(from.counters, to->mutable_ops());
  to->set_rows(from.counters.rows);
  to->set_bytes(from.counters.bytes);
  to->set_wrong_answers(from.counters.wrong_answers);
  to->set_keys_asked(from.counters.keys_asked);
  to->set_keys_found(from.counters.keys_found);
  const auto& histograms = from.histograms;
  if (const auto* ok = histograms.Get(Outcome::kOk)) wire::ToMessage(*ok, to->mutable_service());
  if (const auto* miss = histograms.Get(Outcome::kMiss)) wire::ToMessage(*miss, to->mutable_miss());
  if (const auto* rejected = histograms.Get(Outcome::kRejected)) {
    wire::ToMessage(*rejected, to->mutable_rejected());
  }
  if (const auto* timeout = histograms.Get(Outcome::kTimeout)) {
    wire::ToMessage(*timeout, to->mutable_timeout());
  }
  if (const auto* broken = histograms.Get(Outcome::kBroken)) {
    wire::ToMessage(*broken, to->mutable_broken());
  }
  ToMessage(from.errors, to->mutable_errors());
}

// Counts and latencies of one operation or node. REQUIRES: checked before.
Status FromMessage(const v1::OperationStats& from, StatsTotals::PerOperation* to) {
  to->counters = CountersOf(from);
  for (const ClassHistogram& entry : HistogramsOf(from)) {
    const std::string_view what = OutcomeName(entry.outcome);
    CAVALRY_RETURN_IF_ERROR(AddTo(entry.histogram, what, to->histograms.Slot(entry.outcome)));
  }
  AddTo(from.errors(), &to->errors);
  return absl::OkStatus();
}

}  // namespace

template <typename Count>
void ToMessage(const stats::BasicStats<Count>& stats, const std::vector<std::string>& names,
               v1::Stats* message) {
  CAVALRY_CHECK(stats.operations.size() == names.size());
  message->Clear();
  for (std::size_t i = 0; i < names.size(); ++i) {
    ToMessage<Count>(stats.operations[i], names[i], message->add_operations());
  }
  for (const auto& node : stats.nodes) {
    // One that nothing went to is shown all the same.
    ToMessage<Count>(node.stats, node.label, message->add_nodes());
  }
  ToMessage(stats.iterations, message->mutable_iterations());
  message->set_response_is_service(stats.response_is_service);
  const auto* response = stats.response_is_service ? nullptr : stats.Response();
  if (response != nullptr) ToMessage(*response, message->mutable_response());
  if (stats.connect != nullptr && stats.connect->count() > 0) {
    ToMessage(*stats.connect, message->mutable_connect());
  }
  ToMessage(stats.connect_errors, message->mutable_connect_errors());
  message->set_reconnects(stats.reconnects);
  message->set_reprepares(stats.reprepares);
  message->set_retries(stats.retries);
  message->set_rerouted(stats.rerouted);
  message->set_in_flight(stats.in_flight);
  message->set_iterations_in_flight(stats.iterations_in_flight);
}

StatusOr<StatsTotals> FromMessage(const v1::Stats& message, const std::vector<std::string>& names) {
  StatsTotals totals(names.size());
  CAVALRY_RETURN_IF_ERROR(FromMessage(message, names, &totals));
  return totals;
}

Status FromMessage(const v1::Stats& message, const std::vector<std::string>& names,
                   StatsTotals* totals) {
  CAVALRY_CHECK(totals->operations.size() == names.size());
  CAVALRY_RETURN_IF_ERROR(Check(message, names));
  totals->Clear();
  totals->response_is_service = message.response_is_service();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (const Status added =
            FromMessage(message.operations(static_cast<int>(i)), &totals->operations[i]);
        !added.ok()) {
      return Annotate(added, fmt::format("operation \"{}\"", names[i]));
    }
  }
  totals->nodes.resize(static_cast<std::size_t>(message.nodes_size()));
  for (int i = 0; i < message.nodes_size(); ++i) {
    StatsTotals::PerNode& node = totals->nodes[static_cast<std::size_t>(i)];
    node.label = message.nodes(i).operation();
    if (const Status added = FromMessage(message.nodes(i), &node.stats); !added.ok()) {
      return Annotate(added, fmt::format("node \"{}\"", node.label));
    }
  }
  totals->iterations = CountersOf(message.iterations());
  CAVALRY_RETURN_IF_ERROR(AddTo(message.response(), "response", &totals->response));
  CAVALRY_RETURN_IF_ERROR(AddTo(message.connect(), "connect", &totals->connect));
  AddTo(message.connect_errors(), &totals->connect_errors);
  totals->reconnects = message.reconnects();
  totals->reprepares = message.reprepares();
  totals->retries = message.retries();
  totals->rerouted = message.rerouted();
  totals->in_flight = message.in_flight();
  totals->iterations_in_flight = message.iterations_in_flight();
  return absl::OkStatus();
}

template void ToMessage(const stats::BasicStats<std::uint32_t>& stats,
                        const std::vector<std::string>& names, v1::Stats* message);
template void ToMessage(const stats::BasicStats<std::uint64_t>& stats,
                        const std::vector<std::string>& names, v1::Stats* message);

}  // namespace cavalry::wire
