#include "core/wire/operation_keys.h"

namespace cavalry::wire {

const v1::Keys* KeysOf(const v1::OperationSpec& operation) {
  switch (operation.kind_case()) {
    case v1::OperationSpec::kRead:
      return &operation.read().keys();
    case v1::OperationSpec::kMultiRead:
      return &operation.multi_read().keys();
    case v1::OperationSpec::kScan:
      return &operation.scan().keys();
    case v1::OperationSpec::kUpdate:
      return &operation.update().keys();
    case v1::OperationSpec::kDelete:
      return &operation.delete_().keys();
    case v1::OperationSpec::kIncrement:
      return &operation.increment().keys();
    default:
      return nullptr;
  }
}

const v1::Range* RangeOf(const v1::Keys& keys) {
  const auto given = [](const auto& sequence) {
    return sequence.has_range() ? &sequence.range() : nullptr;
  };
  switch (keys.sequence_case()) {
    case v1::Keys::kSequential:
      return given(keys.sequential());
    case v1::Keys::kUniform:
      return given(keys.uniform());
    case v1::Keys::kZipf:
      return given(keys.zipf());
    case v1::Keys::kHotspot:
      return given(keys.hotspot());
    case v1::Keys::kExponential:
      return given(keys.exponential());
    default:
      return nullptr;
  }
}

}  // namespace cavalry::wire
