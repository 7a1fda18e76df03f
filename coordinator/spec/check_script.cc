#include <set>

#include "coordinator/spec/checker.h"
#include "core/base/clock.h"

namespace cavalry::spec {
namespace {

constexpr std::uint64_t kMaxOperationsPerIteration = 10'000;
constexpr std::uint32_t kMaxSessions = 1'000'000;
constexpr std::uint32_t kMaxPipeline = 1'024;
constexpr std::uint64_t kMaxDuration = 366ULL * 24 * 3'600 * kSecond;

struct KeysAt {
  const v1::Keys* keys = nullptr;
  std::string path;
};

// Keys of an operation and where they stand; null keys for insert.
KeysAt KeysOf(const v1::OperationSpec& operation) {
  const std::string path = fmt::format("operations.{}", operation.name());
  if (operation.has_read()) return {&operation.read().keys(), path + ".read.keys"};
  if (operation.has_update()) return {&operation.update().keys(), path + ".update.keys"};
  if (operation.has_delete_()) return {&operation.delete_().keys(), path + ".delete.keys"};
  return {};
}

// Faults of one operation of the script; `done`: names of the operations before it.
void CheckSameAs(const v1::OperationSpec& operation, const std::set<std::string>& done,
                 Checker* checker) {
  const KeysAt at = KeysOf(operation);
  if (at.keys == nullptr || !at.keys->has_same_as() || done.contains(at.keys->same_as())) return;
  if (checker->FindOperation(at.keys->same_as()) == nullptr) return;  // a fault of its reference
  checker->Fault(at.path + ".same_as",
                 "the script has no '{}' before '{}', whose key it could take", at.keys->same_as(),
                 operation.name());
}

// A threshold's subject is an operation or the script, so one name must not mean both.
void CheckScriptName(Checker* checker) {
  const v1::Script& script = checker->filled().script();
  CheckWord("script.name", script.name(), checker);
  const bool same_thing = script.steps_size() == 1 &&
                          script.steps(0).operation() == script.name() &&
                          script.steps(0).repeat() == 1;
  if (same_thing || checker->FindOperation(script.name()) == nullptr) return;
  checker->Fault("script.name", "'{}' is an operation too; give the script another name",
                 script.name());
}

// Passes are over the keys of the script's first operation.
void CheckPasses(Checker* checker) {
  const v1::Script& script = checker->filled().script();
  if (!checker->filled().load().stop_after().has_passes() || script.steps_size() == 0) return;
  const v1::OperationSpec* first = checker->FindOperation(script.steps(0).operation());
  if (first == nullptr) return;
  const v1::Keys* keys = KeysOf(*first).keys;
  if (keys != nullptr && !keys->has_same_as()) return;
  checker->Fault(
      "load.stop_after.passes",
      "a pass is over the keys of the first operation, and '{}' has none; use iterations",
      first->name());
}

void CheckPositive(const std::string& path, std::uint64_t value, std::uint64_t highest,
                   Checker* checker) {
  if (value < 1) {
    checker->Fault(path, "must be at least 1");
  } else if (value > highest) {
    checker->Fault(path, "{} is too large: at most {}", value, highest);
  }
}

void CheckDuration(const std::string& path, std::uint64_t value, bool may_be_zero,
                   Checker* checker) {
  if (value == 0 && !may_be_zero) checker->Fault(path, "must be above 0");
  if (value > kMaxDuration) checker->Fault(path, "is longer than a year");
}

void CheckStopAfter(Checker* checker) {
  const v1::StopAfter& stop = checker->written().load().stop_after();
  const std::string path = "load.stop_after";
  if (checker->written().load().has_stop_after() && !stop.has_duration() &&
      !stop.has_iterations() && !stop.has_passes()) {
    checker->Fault(path, "needs one of: duration, iterations, passes");
  }
  if (stop.has_duration()) CheckDuration(path + ".duration", stop.duration(), false, checker);
  if (stop.has_iterations() && stop.iterations() == 0) {
    checker->Fault(path + ".iterations", "must be at least 1; leave it out for no bound");
  }
  if (stop.has_passes() && stop.passes() == 0) {
    checker->Fault(path + ".passes", "must be at least 1; leave it out for no bound");
  }
}

}  // namespace

void CheckScript(Checker* checker) {
  std::set<std::string> done;
  std::uint64_t operations = 0;
  const v1::Script& script = checker->filled().script();
  for (int i = 0; i < script.steps_size(); ++i) {
    const v1::ScriptStep& step = script.steps(i);
    const std::string path = fmt::format("script.steps[{}]", i);
    if (step.repeat() == 0) checker->Fault(path, "repeat must be at least 1");
    if (step.operation().empty()) checker->Fault(path, "names no operation");
    operations += step.repeat();
    const v1::OperationSpec* operation = checker->FindOperation(step.operation());
    if (operation == nullptr) continue;
    CheckSameAs(*operation, done, checker);
    done.insert(operation->name());
  }
  if (operations > kMaxOperationsPerIteration) {
    checker->Fault("script", "an iteration has {} operations; at most {}", operations,
                   kMaxOperationsPerIteration);
  }
  if (checker->filled().operations_size() > 0) CheckScriptName(checker);
}

void CheckLoad(Checker* checker) {
  const v1::Load& load = checker->filled().load();
  CheckPositive("load.sessions", load.sessions(), kMaxSessions, checker);
  CheckPositive("load.pipeline", load.pipeline(), kMaxPipeline, checker);
  CheckPositive("load.connect_rate", load.connect_rate(), kMaxSessions, checker);
  CheckDuration("load.warmup", load.warmup(), true, checker);
  CheckDuration("load.operation_timeout", load.operation_timeout(), false, checker);
  CheckDuration("load.connect_timeout", load.connect_timeout(), false, checker);
  CheckDuration("load.drain_timeout", load.drain_timeout(), true, checker);
  CheckStopAfter(checker);
  CheckPasses(checker);
}

}  // namespace cavalry::spec
