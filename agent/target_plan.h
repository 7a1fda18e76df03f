// A target of a workload as a driver and its settings. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cavalry/v1/workload.pb.h"
#include "core/base/settings.h"
#include "core/base/status.h"
#include "drivers/core/driver.h"

namespace cavalry::agent {

struct TargetPlan {
  std::string name;
  std::string owner;   // target that owns its tables; itself unless tables_of says so
  bool loaded = true;  // false: it only owns tables, and no operation is for it
  const drivers::Driver* driver = nullptr;
  Settings settings;  // `from` secrets are still open
};

// Finds the target and its driver. A target without a database of its own gets its owner's.
StatusOr<TargetPlan> MakeTargetPlan(const v1::Workload& workload, std::string_view name);

// A target's options as settings, by reflection over its message. A message among them is there as
// "true", its fields as "tls.ca"; a list of texts is one text, separated by commas.
Settings ToSettings(const google::protobuf::Message& options);

// Whether the target's driver knows the operations' kinds and can do them with these settings.
Status CheckOperations(const TargetPlan& target,
                       const std::vector<drivers::OperationPlan>& operations);

}  // namespace cavalry::agent
