#include "coordinator/spec/fault_list.h"

#include <algorithm>

namespace cavalry::spec {

FaultList FaultList::InFile(std::string file) {
  FaultList faults;
  faults.file_ = std::move(file);
  return faults;
}

FaultList FaultList::AtPlace(std::string place) {
  FaultList faults;
  faults.place_ = std::move(place);
  return faults;
}

void FaultList::Add(Position at, std::string_view text) {
  AddAt(place_.empty() ? fmt::format("{}:{}:{}", file_, at.line, at.column) : place_, text);
}

void FaultList::AddAt(std::string_view place, std::string_view text) {
  AddLine(fmt::format("{}: {}", place, text));
}

void FaultList::AddLine(std::string line) {
  // Two checks may find the same fault, and a sweep finds it at every load point.
  if (std::find(lines_.begin(), lines_.end(), line) != lines_.end()) return;
  if (lines_.size() == kMaxListed) {
    ++unlisted_;
    return;
  }
  lines_.push_back(std::move(line));
}

Status FaultList::ToStatus() const {
  if (lines_.empty()) return absl::OkStatus();
  std::string text = fmt::format("{}", fmt::join(lines_, "\n"));
  if (unlisted_ > 0) text += fmt::format("\n... and {} more", unlisted_);
  return InvalidArgument("{}", text);
}

}  // namespace cavalry::spec
