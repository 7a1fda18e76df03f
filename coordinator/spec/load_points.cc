#include "coordinator/spec/load_points.h"

#include <algorithm>

#include "coordinator/spec/override_place.h"
#include "coordinator/spec/schema.h"
#include "coordinator/spec/spec_check.h"

namespace cavalry::spec {
namespace {

// Place of the n-th value of an axis; that of the axis if the file has none for it.
std::string ValuePath(const v1::SweepAxis& axis, int index) {
  return fmt::format("sweep.{}.values[{}]", axis.path(), index);
}

Status SetValue(const v1::SweepAxis& axis, int index, const SpecDocument& origin,
                SweptDocument* point) {
  const std::string path = ValuePath(axis, index);
  const std::string axis_path = Join("sweep", axis.path());
  const auto found = origin.positions.find(axis_path);
  const Position position = found == origin.positions.end() ? Position() : found->second;
  const std::string& value = axis.values(index);
  point->set.emplace_back(axis.path(), value);
  return ApplyOverrideAt(
      &point->document, axis.path(), value,
      fmt::format("{}: sweep of {} to {}", origin.Where(path), axis.path(), value), position);
}

}  // namespace

std::size_t CountLoadPoints(const v1::Workload& workload) {
  std::size_t count = 1;
  for (const v1::SweepAxis& axis : workload.sweep()) {
    count *= static_cast<std::size_t>(std::max(axis.values_size(), 1));
    if (count > kMaxLoadPoints) return count;
  }
  return count;
}

StatusOr<SweptDocument> MakeSweptDocument(const SpecDocument& document, std::size_t number) {
  SweptDocument point;
  point.document.file = document.file;
  point.document.workload = document.workload;
  point.document.positions = document.positions;
  std::size_t block = CountLoadPoints(document.workload);
  for (const v1::SweepAxis& axis : document.workload.sweep()) {
    if (axis.values_size() == 0) continue;
    const auto size = static_cast<std::size_t>(axis.values_size());
    block /= size;
    CAVALRY_RETURN_IF_ERROR(
        SetValue(axis, static_cast<int>(number / block % size), document, &point));
  }
  return point;
}

StatusOr<std::vector<LoadPoint>> MakeLoadPoints(const SpecDocument& document) {
  const std::size_t count = CountLoadPoints(document.workload);
  if (count > kMaxLoadPoints) {
    return InvalidArgument("{}: more than {} load points", document.Where("sweep"), kMaxLoadPoints);
  }
  std::vector<LoadPoint> points;
  for (std::size_t number = 0; number < count; ++number) {
    CAVALRY_ASSIGN_OR_RETURN(SweptDocument swept, MakeSweptDocument(document, number));
    LoadPoint point{std::move(swept.set), std::move(swept.document.workload)};
    ApplyDefaults(&point.workload);
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace cavalry::spec
