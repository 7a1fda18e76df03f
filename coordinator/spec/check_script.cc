#include <cmath>
#include <set>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/mix.h"
#include "core/base/units.h"
#include "core/wire/operation_keys.h"

namespace cavalry::spec {
namespace {

using Steps = google::protobuf::RepeatedPtrField<v1::ScriptStep>;

constexpr std::uint64_t kMaxOperationsPerIteration = 10'000;
constexpr int kMaxAlternatives = 1'000;

// The steps of one kind of iteration: of the script, or of an alternative of a mix.
class StepsCheck {
 public:
  StepsCheck(const std::string& path, bool in_transaction, Checker* checker)
      : path_(path), in_transaction_(in_transaction), checker_(checker) {}

  void Run(const std::string& list, const Steps& steps) {
    for (int i = 0; i < steps.size(); ++i) {
      const std::string path = fmt::format("{}.{}[{}]", path_, list, i);
      const v1::ScriptStep& step = steps.Get(i);
      const std::uint64_t repeat = step.has_repeat() ? step.repeat() : 1;
      if (repeat == 0) checker_->Fault(path, "repeat must be at least 1");
      if (step.operation().empty()) checker_->Fault(path, "names no operation");
      operations_ += repeat;
      const v1::OperationSpec* operation = checker_->FindOperation(step.operation());
      if (operation == nullptr) continue;  // a fault of its reference
      Step(path, *operation, repeat);
    }
    if (open_) {
      checker_->Fault(path_,
                      "begins a transaction and does not end it; add commit, or write "
                      "'transaction: [...]' instead");
    }
    if (operations_ > kMaxOperationsPerIteration) {
      checker_->Fault(path_, "an iteration has {} operations; at most {}", operations_,
                      kMaxOperationsPerIteration);
    }
    if (rows_ > kMaxOperationsPerIteration) {
      checker_->Fault(path_, "an iteration inserts {} rows; at most {}", rows_,
                      kMaxOperationsPerIteration);
    }
    if (!works_ && steps.size() > 0 && known_) checker_->Fault(path_, "only waits");
  }

 private:
  void Step(const std::string& path, const v1::OperationSpec& operation, std::uint64_t repeat) {
    known_ = true;
    works_ = works_ || !operation.has_sleep();
    if (operation.has_insert()) rows_ += repeat * operation.insert().batch();
    const std::string of_operation =
        fmt::format("operations.{}.{}.", operation.name(), KindName(operation));
    if (const v1::Keys* keys = wire::KeysOf(operation)) {
      SameAs(of_operation + "keys", operation, *keys);
    }
    for (int i = 0; i < operation.native().parameters_size(); ++i) {
      SameAs(fmt::format("{}parameters[{}].keys", of_operation, i), operation,
             operation.native().parameters(i).keys());
    }
    Transaction(path, operation);
    done_.insert(operation.name());
  }

  void SameAs(const std::string& path, const v1::OperationSpec& operation, const v1::Keys& keys) {
    if (!keys.has_same_as() || done_.contains(keys.same_as())) return;
    if (checker_->FindOperation(keys.same_as()) == nullptr) return;  // a fault of its reference
    checker_->Fault(path + ".same_as",
                    "the script has no '{}' before '{}', whose key it could take", keys.same_as(),
                    operation.name());
  }

  void Transaction(const std::string& path, const v1::OperationSpec& operation) {
    const bool begins = operation.has_begin();
    const bool ends = operation.has_commit() || operation.has_rollback();
    if (!begins && !ends) return;
    if (in_transaction_) {
      checker_->Fault(path, "'transaction' begins and commits by itself; leave '{}' out",
                      operation.name());
    } else if (begins == open_) {
      checker_->Fault(path,
                      begins ? "a transaction has begun already" : "no transaction has begun");
    }
    open_ = begins && !in_transaction_;
  }

  const std::string& path_;
  const bool in_transaction_;
  Checker* checker_;
  std::set<std::string> done_;  // names of the operations before
  std::uint64_t operations_ = 0;
  std::uint64_t rows_ = 0;
  bool open_ = false;
  bool known_ = false;
  bool works_ = false;
};

template <typename Script>
void CheckStepsOf(const std::string& path, const Script& script, Checker* checker) {
  if (script.steps_size() > 0) {
    StepsCheck(path, false, checker).Run("steps", script.steps());
  }
  if (script.transaction_size() > 0) {
    StepsCheck(path, true, checker).Run("transaction", script.transaction());
  }
}

void CheckMix(const std::string& path, const v1::Script& script, Checker* checker) {
  if (script.mix_size() > kMaxAlternatives) {
    checker->Fault(path, "{} alternatives; at most {}", script.mix_size(), kMaxAlternatives);
    return;
  }
  double sum = 0;
  for (const v1::MixEntry& entry : script.mix()) sum += entry.has_weight() ? entry.weight() : 1;
  for (const v1::MixEntry& entry : script.mix()) {
    const std::string entry_path = fmt::format("{}.{}", path, entry.name());
    CheckWord(entry_path, entry.name(), checker);
    const double weight = entry.has_weight() ? entry.weight() : 1;
    if (!std::isfinite(weight) || weight <= 0) {
      checker->Fault(entry_path, "weight must be above 0");
    } else if (std::isfinite(sum) && sum > 0 && weight / sum * kMixBlock < 1) {
      checker->Fault(entry_path, "less than one iteration in {}; raise its weight", kMixBlock);
    }
    if (entry.steps_size() > 0 && entry.transaction_size() > 0) {
      checker->Fault(entry_path, "'steps' and 'transaction' exclude each other; keep one of them");
    }
    CheckStepsOf(entry_path, entry, checker);
    if (entry.steps_size() > 0 || entry.transaction_size() > 0) continue;
    if (checker->FindOperation(entry.name()) == nullptr) {
      std::vector<std::string> names;
      for (const v1::OperationSpec& operation : checker->filled().operations()) {
        names.push_back(operation.name());
      }
      const std::string nearest = NearestName(entry.name(), names);
      checker->Fault(entry_path,
                     "is no operation{} a name of its own needs steps, as in '{{ "
                     "weight: 5, steps: [...] }}'",
                     nearest.empty() ? ";" : fmt::format("; did you mean '{}'? Else", nearest));
    } else {
      Steps one;
      one.Add()->set_operation(entry.name());
      StepsCheck(entry_path, false, checker).Run("steps", one);
    }
  }
}

// A threshold's subject is an operation or a script, so one name must not mean both.
void CheckName(const std::string& path, const v1::Script& script, Checker* checker) {
  CheckWord(path + ".name", script.name(), checker);
  const bool same_thing = script.steps_size() == 1 &&
                          script.steps(0).operation() == script.name() &&
                          script.steps(0).repeat() == 1;
  if (same_thing || checker->FindOperation(script.name()) == nullptr) return;
  checker->Fault(path + ".name", "'{}' is an operation too; give the script another name",
                 script.name());
}

// `written` says what the script does; what it leaves out is in `filled`.
void CheckScript(const std::string& path, const v1::Script& written, const v1::Script& filled,
                 Checker* checker) {
  const int said = (written.steps_size() > 0 ? 1 : 0) + (written.transaction_size() > 0 ? 1 : 0) +
                   (written.mix_size() > 0 ? 1 : 0);
  if (said > 1) {
    checker->Fault(path, "'steps', 'transaction' and 'mix' exclude each other; keep one of them");
    return;
  }
  if (written.mix_size() > 0) {
    CheckMix(path + ".mix", written, checker);
  } else {
    CheckStepsOf(path, said == 0 ? filled : written, checker);
  }
  CheckName(path, filled, checker);
}

}  // namespace

void CheckScripts(Checker* checker) {
  const v1::Workload& written = checker->written();
  const v1::Workload& filled = checker->filled();
  if (filled.operations_size() == 0) return;
  if (written.stages_size() == 0) {
    CheckScript("script", written.script(), filled.script(), checker);
    return;
  }
  if (written.has_script()) {
    checker->Fault("script", "each of 'stages' has a script of its own; leave this one out");
  }
  for (int i = 0; i < written.stages_size(); ++i) {
    const std::string path = fmt::format("stages.{}", written.stages(i).name());
    CheckWord(path, written.stages(i).name(), checker);
    if (!written.stages(i).has_script()) checker->Fault(path, "script is needed");
    CheckScript(path + ".script", written.stages(i).script(), filled.stages(i).script(), checker);
  }
}

}  // namespace cavalry::spec
