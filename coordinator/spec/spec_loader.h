// YAML -> workload.proto by reflection over the message and its options (options.proto); there is
// no second schema. Refuses unknown and duplicate keys (with the nearest valid name), wrong types,
// missing units, aliases, merge keys, several documents, and files above kMaxSpecBytes. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "coordinator/spec/spec_document.h"
#include "core/base/status.h"

namespace cavalry::spec {

inline constexpr std::size_t kMaxSpecBytes = 4 * 1024 * 1024;
inline constexpr int kMaxSpecDepth = 64;

// Any scalar may be written { env: NAME }: it is replaced by that environment variable, which must
// be set.
StatusOr<SpecDocument> LoadSpec(const std::string& path);
StatusOr<SpecDocument> ParseSpec(std::string text, std::string file_name);

// Writes the workload as YAML that ParseSpec reads back to an equal message; secrets are "***".
std::string WriteSpec(const v1::Workload& workload);

}  // namespace cavalry::spec
