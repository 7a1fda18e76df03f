#include "coordinator/spec/checker.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/clock.h"

namespace cavalry::spec {
namespace {

constexpr std::uint64_t kMaxReady = 24ULL * 3'600 * kSecond;

void CheckPreparation(const std::string& path, const v1::Preparation& preparation,
                      Checker* checker) {
  const bool runs = !preparation.command().empty();
  if (runs == (preparation.native_size() > 0)) {
    checker->Fault(path,
                   "is either the name of a command or statements by target, as in '{ native: { "
                   "sql: \"SELECT * FROM customer\" } }'");
  }
  for (const v1::NativeOn& native : preparation.native()) {
    const std::string native_path = fmt::format("{}.native.{}", path, native.target());
    if (native.statement().empty()) checker->Fault(native_path, "needs a statement");
    const v1::Target* target = checker->FindTarget(native.target());
    // HandlerSocket has no statements.
    if (target == nullptr || CanOwnTables(*target)) continue;
    if (target->kind_case() == v1::Target::KIND_NOT_SET) continue;  // a fault of its own
    checker->Fault(native_path, "'{}' takes no statements; name its tables' owner",
                   native.target());
  }
}

}  // namespace

void CheckConditions(Checker* checker) {
  const v1::Workload& workload = checker->written();
  for (const v1::Condition& condition : workload.conditions()) {
    const std::string path = fmt::format("conditions.{}", condition.name());
    CheckWord(path, condition.name(), checker);
    for (int i = 0; i < condition.before_size(); ++i) {
      CheckPreparation(fmt::format("{}.before[{}]", path, i), condition.before(i), checker);
    }
  }
  for (const v1::Command& command : workload.commands()) {
    const std::string path = fmt::format("commands.{}", command.name());
    CheckWord(path, command.name(), checker);
    if (command.run_size() == 0 || command.run(0).empty()) {
      checker->Fault(path,
                     "run is needed: the program and its arguments, as in 'run: [systemctl, "
                     "restart, mariadb]'");
    }
    if (command.ready_within() > kMaxReady) {
      checker->Fault(path + ".ready_within", "is longer than a day");
    }
  }
}

}  // namespace cavalry::spec
