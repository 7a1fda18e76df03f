#include "coordinator/report/load_point.h"

#include <algorithm>

#include <fmt/format.h>

namespace cavalry::report {
namespace {

// Between parts of a key; no value of a spec holds it.
constexpr char kSeparator = '\x1f';

std::string_view LastPart(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

// Operations of the script in order, by default each once.
std::vector<std::string> ScriptOperations(const v1::Workload& workload) {
  std::vector<std::string> names;
  for (const v1::ScriptStep& step : workload.script().steps()) {
    names.push_back(step.operation());
    if (step.has_repeat() && step.repeat() > 1) names.push_back(step.operation());
  }
  if (!names.empty()) return names;
  for (const v1::OperationSpec& operation : workload.operations()) {
    names.push_back(operation.name());
  }
  return names;
}

}  // namespace

std::string LoadPointKey(const v1::Step& step) {
  std::string key = fmt::format("{}{}{}{}{}", step.stage(), kSeparator, step.condition(),
                                kSeparator, step.sessions());
  for (const v1::NameValue& value : step.set()) {
    key += fmt::format("{}{}={}", kSeparator, value.name(), value.value());
  }
  return key;
}

std::string LoadPointLabel(const v1::Step& step) {
  std::string label = step.condition();
  if (!step.stage().empty() && step.stage() != "measure") {
    label += fmt::format("{}{}", label.empty() ? "" : ", ", step.stage());
  }
  label += fmt::format("{}{} session{}", label.empty() ? "" : ", ", step.sessions(),
                       step.sessions() == 1 ? "" : "s");
  for (const v1::NameValue& value : step.set()) {
    if (value.name() == "load.sessions") continue;
    label += fmt::format(", {} {}", LastPart(value.name()), value.value());
  }
  return label;
}

std::string StepLabel(const v1::Step& step) {
  return fmt::format("{}, {}", step.target(), LoadPointLabel(step));
}

std::vector<std::size_t> SpecOrder(const v1::Step& step, const v1::Workload& workload) {
  std::vector<std::size_t> order;
  for (const v1::SweepAxis& axis : workload.sweep()) {
    const auto set =
        std::find_if(step.set().begin(), step.set().end(),
                     [&axis](const v1::NameValue& value) { return value.name() == axis.path(); });
    const std::string value = set == step.set().end() ? std::string() : set->value();
    const auto at = std::find(axis.values().begin(), axis.values().end(), value);
    order.push_back(static_cast<std::size_t>(at - axis.values().begin()));
  }
  const auto condition = std::find_if(
      workload.conditions().begin(), workload.conditions().end(),
      [&step](const v1::Condition& candidate) { return candidate.name() == step.condition(); });
  order.push_back(static_cast<std::size_t>(condition - workload.conditions().begin()));
  const auto stage = std::find_if(
      workload.stages().begin(), workload.stages().end(),
      [&step](const v1::Stage& candidate) { return candidate.name() == step.stage(); });
  order.push_back(static_cast<std::size_t>(stage - workload.stages().begin()));
  order.push_back(step.sessions());
  const auto target = std::find_if(
      workload.targets().begin(), workload.targets().end(),
      [&step](const v1::Target& candidate) { return candidate.name() == step.target(); });
  order.push_back(static_cast<std::size_t>(target - workload.targets().begin()));
  return order;
}

std::string ScriptName(const v1::Workload& workload) {
  if (!workload.script().name().empty()) return workload.script().name();
  const std::vector<std::string> names = ScriptOperations(workload);
  const bool one = !names.empty() && std::all_of(names.begin(), names.end(), [&](const auto& name) {
    return name == names.front();
  });
  return one ? names.front() : "script";
}

std::string OnlyOperation(const v1::Workload& workload) {
  const std::vector<std::string> names = ScriptOperations(workload);
  return names.size() == 1 ? names.front() : std::string();
}

std::string UnitName(const v1::Workload& workload) {
  const std::string only = OnlyOperation(workload);
  return only.empty() ? "ops" : only;
}

}  // namespace cavalry::report
