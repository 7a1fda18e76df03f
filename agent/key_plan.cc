#include "agent/key_plan.h"

#include "agent/load/key_file.h"
#include "core/wire/operation_keys.h"

namespace cavalry::agent {
namespace {

constexpr double kMaxTheta = 5;

Status SetTheta(bool given, double theta, load::KeySequenceOptions* options) {
  if (given) options->theta = theta;
  if (options->theta > 0 && options->theta <= kMaxTheta) return absl::OkStatus();
  return InvalidArgument("the exponent must be above 0 and at most {}", kMaxTheta);
}

template <typename Shares>
Status SetShares(const Shares& shares, double keys_percent, double operations_percent,
                 load::KeySequenceOptions* options) {
  if (shares.has_keys_percent()) keys_percent = shares.keys_percent();
  if (shares.has_operations_percent()) operations_percent = shares.operations_percent();
  options->key_share = keys_percent / 100;
  options->operation_share = operations_percent / 100;
  const bool fit = options->key_share > 0 && options->key_share < 1 &&
                   options->operation_share > 0 && options->operation_share < 1;
  const bool falls = options->order != load::KeyOrder::kExponential ||
                     options->operation_share > options->key_share;
  if (fit && falls) return absl::OkStatus();
  return InvalidArgument("{} % of the operations cannot go to {} % of the keys", operations_percent,
                         keys_percent);
}

Status SetList(const std::string& path, load::KeySequenceOptions* options) {
  CAVALRY_ASSIGN_OR_RETURN(options->list, load::LoadKeyFile(path));
  return absl::OkStatus();
}

Status SetOrder(const v1::Keys& keys, load::KeySequenceOptions* options) {
  switch (keys.sequence_case()) {
    case v1::Keys::kSequential:
      options->order = load::KeyOrder::kSequential;
      break;
    case v1::Keys::kUniform:
      options->order = load::KeyOrder::kUniform;
      break;
    case v1::Keys::kZipf:
      options->order = load::KeyOrder::kZipf;
      options->clustered = keys.zipf().clustered();
      return SetTheta(keys.zipf().has_theta(), keys.zipf().theta(), options);
    case v1::Keys::kLatest:
      options->order = load::KeyOrder::kLatest;
      return SetTheta(keys.latest().has_theta(), keys.latest().theta(), options);
    case v1::Keys::kHotspot:
      options->order = load::KeyOrder::kHotspot;
      return SetShares(keys.hotspot(), 20, 80, options);
    case v1::Keys::kExponential:
      options->order = load::KeyOrder::kExponential;
      return SetShares(keys.exponential(), 10, 95, options);
    case v1::Keys::kFromFile:
      options->order = load::KeyOrder::kList;
      return SetList(keys.from_file().path(), options);
    default:
      break;
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<load::KeySequenceOptions> MakeKeyOptions(const v1::Keys& keys,
                                                  const drivers::TableSchema& table,
                                                  const load::GrowingKeys& growing,
                                                  load::KeyOrder by_default) {
  load::KeySequenceOptions options;
  options.order = by_default;
  options.growing = growing;
  CAVALRY_RETURN_IF_ERROR(SetOrder(keys, &options));
  if (options.order == load::KeyOrder::kLatest || options.order == load::KeyOrder::kList) {
    return options;
  }
  const v1::Range* const range = wire::RangeOf(keys);
  options.first = range != nullptr ? range->first() : 1;
  options.last = range != nullptr ? range->last() : table.rows;
  if (options.first > options.last) {
    return InvalidArgument("no keys to work on ({}..{})", options.first, options.last);
  }
  if (options.last > load::kMaxKey) {
    return InvalidArgument("keys end at {}, not at {}", load::kMaxKey, options.last);
  }
  return options;
}

}  // namespace cavalry::agent
