#include "coordinator/run/schedule.h"

#include <algorithm>
#include <numeric>

#include "coordinator/spec/load_points.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/random.h"

namespace cavalry::run {
namespace {

// One visit of a round: indexes into the targets and the load points.
struct Visit {
  int target = 0;
  std::size_t point = 0;
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

// Targets are visited one after the other at each load point, so that what is compared is measured
// close in time.
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
    for (const int target : target_order) visits.push_back({target, point});
  }
  if (workload.order() == v1::ORDER_SHUFFLED) Shuffle(workload.seed(), round, &visits);
  return visits;
}

PlannedStep MakeStep(const spec::LoadPoint& point, int target_index, std::uint32_t round,
                     std::uint64_t id) {
  PlannedStep planned;
  planned.workload = point.workload;
  const v1::Target& target = planned.workload.targets(target_index);
  planned.step.set_id(id);
  planned.step.set_round(round);
  planned.step.set_target(target.name());
  planned.step.set_driver(spec::DriverOf(target));
  planned.step.set_sessions(planned.workload.load().sessions());
  planned.step.set_stage("measure");
  for (const auto& [path, value] : point.set) {
    v1::NameValue* set = planned.step.add_set();
    set->set_name(path);
    set->set_value(value);
  }
  return planned;
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
    steps.push_back(MakeStep(points[visit.point], visit.target, round, steps.size() + 1));
  };
  if (base.order() == v1::ORDER_BLOCKED) {
    for (int target = 0; target < base.targets_size(); ++target) {
      for (std::uint32_t round = 1; round <= base.rounds(); ++round) {
        for (std::size_t point = 0; point < points.size(); ++point) add({target, point}, round);
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
