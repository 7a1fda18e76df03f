#include "coordinator/run/schedule.h"

#include <algorithm>
#include <numeric>

#include "coordinator/spec/load_points.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/random.h"

namespace cavalry::run {
namespace {

// One visit of a round: indexes into the targets, the load points and the conditions (0 without
// any).
struct Visit {
  int target = 0;
  std::size_t point = 0;
  int condition = 0;
};

// Fisher-Yates over our own random numbers: std::shuffle differs between standard libraries, and a
// seed must give the same order everywhere.
template <typename T>
void Shuffle(std::uint64_t seed, std::uint64_t round, std::vector<T>* items) {
  RandomStream random(seed, HashText("schedule"), round);
  for (std::size_t i = items->size(); i > 1; --i) {
    std::swap((*items)[i - 1], (*items)[random.Below(i)]);
  }
}

int Conditions(const v1::Workload& workload) { return std::max(workload.conditions_size(), 1); }

// Targets are visited one after the other at each load point and condition, so that what is
// compared is measured close in time.
std::vector<Visit> VisitsOfRound(const v1::Workload& workload, std::size_t points,
                                 std::uint32_t round) {
  std::vector<std::size_t> point_order(points);
  std::iota(point_order.begin(), point_order.end(), std::size_t{0});
  std::vector<int> target_order(static_cast<std::size_t>(workload.targets_size()));
  std::iota(target_order.begin(), target_order.end(), 0);
  if (workload.order() == v1::ORDER_MIRRORED) {
    Shuffle(workload.seed(), round, &point_order);
    if (round % 2 == 0) std::reverse(target_order.begin(), target_order.end());
  }
  std::vector<Visit> visits;
  for (const std::size_t point : point_order) {
    for (int condition = 0; condition < Conditions(workload); ++condition) {
      for (const int target : target_order) visits.push_back({target, point, condition});
    }
  }
  if (workload.order() == v1::ORDER_SHUFFLED) Shuffle(workload.seed(), round, &visits);
  return visits;
}

// What a condition changes of a load.
void ApplyCondition(const v1::Condition& condition, v1::Load* load) {
  if (condition.has_warmup()) load->set_warmup(condition.warmup());
  if (condition.has_stop_after()) *load->mutable_stop_after() = condition.stop_after();
}

// The steps of a visit: one, or one for each stage. `condition` may be null.
void AddSteps(const spec::LoadPoint& point, const v1::Condition* condition, int target_index,
              std::uint32_t round, std::vector<PlannedStep>* steps) {
  const int stages = point.workload.stages_size();
  for (int stage = 0; stage < std::max(stages, 1); ++stage) {
    PlannedStep planned;
    planned.workload = stages > 0 ? spec::StageWorkload(point.workload, stage) : point.workload;
    planned.first_stage = stage == 0;
    if (condition != nullptr) {
      ApplyCondition(*condition, planned.workload.mutable_load());
      planned.step.set_condition(condition->name());
      if (stage == 0) planned.before.assign(condition->before().begin(), condition->before().end());
    }
    const v1::Target& target = planned.workload.targets(target_index);
    planned.step.set_id(steps->size() + 1);
    planned.step.set_round(round);
    planned.step.set_target(target.name());
    planned.step.set_driver(spec::DriverOf(target));
    planned.step.set_sessions(planned.workload.load().sessions());
    planned.step.set_stage(stages > 0 ? point.workload.stages(stage).name() : "measure");
    for (const auto& [path, value] : point.set) {
      v1::NameValue* set = planned.step.add_set();
      set->set_name(path);
      set->set_value(value);
    }
    steps->push_back(std::move(planned));
  }
}

}  // namespace

StatusOr<std::vector<PlannedStep>> MakeSchedule(const spec::SpecDocument& document) {
  CAVALRY_ASSIGN_OR_RETURN(const std::vector<spec::LoadPoint> points,
                           spec::MakeLoadPoints(document));
  v1::Workload base = document.workload;
  spec::ApplyDefaults(&base);
  std::vector<PlannedStep> steps;
  const auto add = [&](const Visit& visit, std::uint32_t round) {
    if (!spec::IsLoaded(base.targets(visit.target))) return;
    const v1::Condition* condition =
        base.conditions().empty() ? nullptr : &base.conditions(visit.condition);
    AddSteps(points[visit.point], condition, visit.target, round, &steps);
  };
  if (base.order() == v1::ORDER_BLOCKED) {
    for (int target = 0; target < base.targets_size(); ++target) {
      for (std::uint32_t round = 1; round <= base.rounds(); ++round) {
        for (std::size_t point = 0; point < points.size(); ++point) {
          for (int condition = 0; condition < Conditions(base); ++condition) {
            add({target, point, condition}, round);
          }
        }
      }
    }
    return steps;
  }
  for (std::uint32_t round = 1; round <= base.rounds(); ++round) {
    for (const Visit& visit : VisitsOfRound(base, points.size(), round)) add(visit, round);
  }
  return steps;
}

Nanos ExpectedLoadTime(const v1::Workload& workload) {
  const v1::Load& load = workload.load();
  if (!load.stop_after().has_duration()) return 0;
  return static_cast<Nanos>(load.warmup() + load.stop_after().duration());
}

}  // namespace cavalry::run
