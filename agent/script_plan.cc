#include "agent/script_plan.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/mix.h"

namespace cavalry::agent {
namespace {

using drivers::OperationKind;

// Operations of an iteration, and rows that it inserts.
constexpr std::uint64_t kMaxScriptSteps = 10'000;
constexpr int kMaxVariants = 1'000;
constexpr std::uint64_t kMaxSleep = 366ULL * 24 * 3'600 * kSecond;

class ScriptBuilder {
 public:
  ScriptBuilder(const v1::Workload& workload, const OperationSet& set)
      : workload_(workload), set_(set) {
    script_.plan.seed = workload.seed();
    script_.per_iteration.assign(set.operations.size(), 0);
    script_.insert_slots.assign(set.tables.size(), 0);
  }

  StatusOr<UnrolledScript> Build() {
    const v1::Script& script = workload_.script();
    if (script.mix_size() > 0) {
      CAVALRY_RETURN_IF_ERROR(AddVariants(script));
    } else {
      CAVALRY_RETURN_IF_ERROR(AddSteps(script.steps()));
      CAVALRY_RETURN_IF_ERROR(GiveKeys(0, script_.plan.steps.size(), 1));
    }
    SetRollback();
    return std::move(script_);
  }

 private:
  using Steps = google::protobuf::RepeatedPtrField<v1::ScriptStep>;

  Status AddVariants(const v1::Script& script) {
    if (script.mix_size() > kMaxVariants) {
      return InvalidArgument("script: more than {} alternatives", kMaxVariants);
    }
    std::vector<double> weights;
    for (const v1::MixEntry& entry : script.mix()) {
      weights.push_back(entry.has_weight() ? entry.weight() : 1);
      if (!std::isfinite(weights.back()) || weights.back() <= 0) {
        return InvalidArgument("script: weight {} of '{}'", weights.back(), entry.name());
      }
    }
    const std::vector<std::uint32_t> counts = MixCounts(weights);
    std::uint32_t begin = 0;
    for (int i = 0; i < script.mix_size(); ++i) {
      const std::uint32_t count = counts[static_cast<std::size_t>(i)];
      const std::size_t first = script_.plan.steps.size();
      CAVALRY_RETURN_IF_ERROR(AddSteps(script.mix(i).steps()));
      const std::size_t steps = script_.plan.steps.size() - first;
      CAVALRY_RETURN_IF_ERROR(GiveKeys(first, steps, count));
      script_.plan.variants.push_back({script.mix(i).name(), static_cast<std::uint32_t>(first),
                                       static_cast<std::uint32_t>(steps), begin, begin + count});
      begin += count;
    }
    return absl::OkStatus();
  }

  // Unrolls one variant; slots begin anew.
  Status AddSteps(const Steps& steps) {
    std::vector<std::uint32_t> occurrences(set_.operations.size(), 0);
    const std::size_t first = script_.plan.steps.size();
    for (const v1::ScriptStep& step : steps) {
      CAVALRY_ASSIGN_OR_RETURN(load::ScriptStep unrolled, FindStep(step.operation()));
      const std::uint32_t repeat = step.has_repeat() ? step.repeat() : 1;
      if (script_.plan.steps.size() + repeat > kMaxScriptSteps) {
        return InvalidArgument("script: more than {} operations", kMaxScriptSteps);
      }
      for (std::uint32_t i = 0; i < repeat; ++i) {
        if (unrolled.sleep == 0) unrolled.slot = occurrences[unrolled.operation]++;
        script_.plan.steps.push_back(unrolled);
      }
    }
    if (script_.plan.steps.size() == first) return InvalidArgument("script: no operations");
    for (std::size_t i = 0; i < occurrences.size(); ++i) {
      script_.per_iteration[i] = std::max(script_.per_iteration[i], occurrences[i]);
    }
    return absl::OkStatus();
  }

  StatusOr<load::ScriptStep> FindStep(const std::string& name) const {
    for (const drivers::OperationPlan& plan : set_.operations) {
      if (plan.name == name) return load::ScriptStep{plan.index};
    }
    for (const v1::OperationSpec& spec : workload_.operations()) {
      if (!spec.has_sleep() || spec.name() != name) continue;
      const std::uint64_t duration = spec.sleep().duration();
      if (duration == 0 || duration > kMaxSleep) {
        return InvalidArgument("script: '{}' sleeps for {} ns", name, duration);
      }
      load::ScriptStep step;
      step.sleep = static_cast<Nanos>(duration);
      return step;
    }
    return InvalidArgument("script: no operation is named '{}'", name);
  }

  // Gives the inserts of a variant, of which a block has `iterations`, their keys behind those of
  // the variants before it: so the keys of a block are dense.
  Status GiveKeys(std::size_t first, std::size_t count, std::uint32_t iterations) {
    const std::span steps(script_.plan.steps.data() + first, count);
    for (std::size_t table = 0; table < set_.tables.size(); ++table) {
      std::uint64_t stride = 0;
      const auto inserts = [&](const load::ScriptStep& step) {
        return step.sleep == 0 && set_.operations[step.operation].kind == OperationKind::kInsert &&
               set_.operations[step.operation].table == set_.tables[table].get();
      };
      for (load::ScriptStep& step : steps) {
        if (!inserts(step)) continue;
        step.insert_slot = static_cast<std::uint32_t>(script_.insert_slots[table] + stride);
        stride += set_.operations[step.operation].batch;
        if (stride > kMaxScriptSteps) {
          return InvalidArgument("script: more than {} rows inserted", kMaxScriptSteps);
        }
      }
      for (load::ScriptStep& step : steps) {
        if (inserts(step)) step.insert_stride = static_cast<std::uint32_t>(stride);
      }
      script_.insert_slots[table] += stride * iterations;
    }
    return absl::OkStatus();
  }

  void SetRollback() {
    bool begins = false;
    for (const load::ScriptStep& step : script_.plan.steps) {
      begins = begins ||
               (step.sleep == 0 && set_.operations[step.operation].kind == OperationKind::kBegin);
    }
    const auto rollback =
        std::find_if(set_.operations.begin(), set_.operations.end(),
                     [](const auto& plan) { return plan.kind == OperationKind::kRollback; });
    if (begins && rollback != set_.operations.end()) script_.plan.rollback = rollback->index;
  }

  const v1::Workload& workload_;
  const OperationSet& set_;
  UnrolledScript script_;
};

}  // namespace

StatusOr<UnrolledScript> UnrollScript(const v1::Workload& workload, const OperationSet& set) {
  return ScriptBuilder(workload, set).Build();
}

}  // namespace cavalry::agent
