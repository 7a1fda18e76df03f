// The load points of a spec: the product of its sweep's axes. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/spec/spec_document.h"
#include "core/base/status.h"

namespace cavalry::spec {

inline constexpr std::size_t kMaxLoadPoints = 1'000;
inline constexpr std::uint64_t kMaxSteps = 10'000;

struct LoadPoint {
  std::vector<std::pair<std::string, std::string>> set;  // path and value of each axis, in order
  v1::Workload workload;                                 // with these values, defaults filled in
};

// Number of load points; above kMaxLoadPoints it is not exact.
std::size_t CountLoadPoints(const v1::Workload& workload);

// The document of load point `number`, defaults not filled in; the last axis changes fastest.
// Values keep the place of their axis in the file. Without a sweep there is one point, the document
// itself.
struct SweptDocument {
  std::vector<std::pair<std::string, std::string>> set;
  SpecDocument document;  // without its text
};
StatusOr<SweptDocument> MakeSweptDocument(const SpecDocument& document, std::size_t number);

StatusOr<std::vector<LoadPoint>> MakeLoadPoints(const SpecDocument& document);

}  // namespace cavalry::spec
