#include <algorithm>
#include <set>

#include "coordinator/report/thresholds.h"
#include "coordinator/spec/checker.h"
#include "coordinator/spec/load_points.h"
#include "coordinator/spec/scalar.h"
#include "coordinator/spec/spec_check.h"

namespace cavalry::spec {
namespace {

constexpr std::size_t kMaxTitle = 200;

void CheckTitle(Checker* checker) {
  const std::string& title = checker->written().name();
  if (title.size() > kMaxTitle) {
    checker->Fault("name", "longer than {} bytes", kMaxTitle);
  }
  for (const char c : title) {
    if (static_cast<unsigned char>(c) >= 0x20) continue;
    checker->Fault("name", "must not hold line feeds or other control characters");
    return;
  }
}

// What is judged or compared has to be loaded.
void CheckHasFigures(const std::string& path, std::string_view name, Checker* checker) {
  const v1::Target* target = checker->FindTarget(name);
  if (target == nullptr || IsLoaded(*target)) return;
  checker->Fault(path, "target '{}' says 'load: false', so there are no figures of it", name);
}

void CheckThreshold(const std::string& path, const std::string& text, Checker* checker) {
  const StatusOr<report::Threshold> threshold = report::ParseThreshold(text);
  if (!threshold.ok()) {
    checker->Fault(path, StatusText(threshold.status()));
    return;
  }
  std::vector<std::string> subjects;
  const auto add = [&subjects](const std::string& name) {
    const bool known = std::find(subjects.begin(), subjects.end(), name) != subjects.end();
    if (!known) subjects.push_back(name);
  };
  if (checker->filled().stages_size() == 0) add(checker->filled().script().name());
  for (const v1::Stage& stage : checker->filled().stages()) add(stage.script().name());
  for (const v1::OperationSpec& operation : checker->filled().operations()) {
    if (!operation.has_sleep()) add(operation.name());
  }
  const std::string& subject = threshold->subject;
  if (!subject.empty() && std::find(subjects.begin(), subjects.end(), subject) == subjects.end()) {
    checker->Fault(path, "'{}' is neither an operation nor the script{}", subject,
                   Suggestion(subject, subjects, "there are"));
  }
  if (!threshold->target.empty() && checker->FindTarget(threshold->target) == nullptr) {
    checker->Fault(path, "no target '{}'{}", threshold->target,
                   Suggestion(threshold->target, checker->TargetNames(), "there are"));
  }
  CheckHasFigures(path, threshold->target, checker);
  using Metric = report::Threshold::Metric;
  if (threshold->metric == Metric::kLost && !checker->filled().audit().enabled()) {
    checker->Fault(path,
                   "'lost' needs the audit, which is off; write 'audit: true' and let the "
                   "script write");
  }
  if (threshold->metric == Metric::kReached) {
    checker->Fault(path, "'reached' is a share of the rate asked for, and this spec asks for none");
  }
}

void CheckCompare(Checker* checker) {
  const v1::Compare& compare = checker->written().compare();
  if (compare.targets_size() == 1) {
    checker->Fault("compare.targets", "a comparison needs at least two targets");
  }
  std::set<std::string> seen;
  for (int i = 0; i < compare.targets_size(); ++i) {
    CheckHasFigures(fmt::format("compare.targets[{}]", i), compare.targets(i), checker);
    if (seen.insert(compare.targets(i)).second) continue;
    checker->Fault(fmt::format("compare.targets[{}]", i), "target '{}' is listed twice",
                   compare.targets(i));
  }
}

// Reading back over a target that sees other tables would find everything lost. Tables of another
// kind of back-end are read back over their owner.
void CheckAudit(Checker* checker) {
  const v1::Audit& audit = checker->filled().audit();
  const v1::Target* via = checker->FindTarget(audit.via());
  if (via == nullptr) return;
  if (!CanOwnTables(*via)) {
    checker->Fault("audit.via", "'{}' is {}; writes are read back over a target that owns tables",
                   via->name(), DriverOf(*via));
    return;
  }
  for (const v1::Target& target : checker->filled().targets()) {
    const v1::Target* owner = checker->FindTarget(OwnerOf(target));
    if (owner == nullptr || OwnerOf(target) == OwnerOf(*via)) continue;
    if (owner->kind_case() != via->kind_case()) continue;
    checker->Fault("audit.via", "'{}' does not see the tables of '{}'; leave via out", via->name(),
                   target.name());
  }
}

void CheckRounds(Checker* checker) {
  const std::uint64_t rounds = checker->filled().rounds();
  if (rounds == 0) checker->Fault("rounds", "must be at least 1");
  // Each load point in each condition.
  const std::uint64_t points =
      CountLoadPoints(checker->filled()) *
      static_cast<std::uint64_t>(std::max(checker->filled().conditions_size(), 1));
  const auto targets = static_cast<std::uint64_t>(std::count_if(
      checker->filled().targets().begin(), checker->filled().targets().end(), IsLoaded));
  // No factor is large: points are counted to a bound, and a list has one, too.
  const bool too_many = std::min(rounds, kMaxSteps + 1) * points * targets > kMaxSteps;
  if (CountLoadPoints(checker->filled()) <= kMaxLoadPoints && too_many) {
    checker->Fault("rounds", "{} rounds x {} load points x {} targets = {} steps; at most {}",
                   rounds, points, targets, rounds * points * targets, kMaxSteps);
  }
}

// What asks to change tables that the spec forbids to change.
void CheckResetAndCleanup(Checker* checker) {
  const v1::Workload& workload = checker->filled();
  const bool all_used_as_they_are =
      workload.tables_size() > 0 &&
      std::all_of(workload.tables().begin(), workload.tables().end(),
                  [](const v1::Table& table) { return table.existing() == v1::EXISTING_USE; });
  if (!all_used_as_they_are) return;
  if (workload.reset() == v1::RESET_STEP) {
    checker->Fault("reset", "every table says 'existing: use' and is never reset; leave reset out");
  }
  if (workload.cleanup() == v1::CLEANUP_DROP) {
    checker->Fault("cleanup",
                   "every table says 'existing: use' and is never dropped; leave cleanup out");
  }
}

}  // namespace

void CheckRun(Checker* checker) {
  CheckTitle(checker);
  const v1::Workload& written = checker->written();
  for (int i = 0; i < written.thresholds_size(); ++i) {
    CheckThreshold(fmt::format("thresholds[{}]", i), written.thresholds(i), checker);
  }
  CheckCompare(checker);
  CheckAudit(checker);
  CheckRounds(checker);
  CheckResetAndCleanup(checker);
}

}  // namespace cavalry::spec
