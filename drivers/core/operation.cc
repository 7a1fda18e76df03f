#include "drivers/core/operation.h"

namespace cavalry::drivers {

std::string_view OperationKindName(OperationKind kind) {
  switch (kind) {
    case OperationKind::kRead:
      return "read";
    case OperationKind::kInsert:
      return "insert";
    case OperationKind::kUpdate:
      return "update";
    case OperationKind::kDelete:
      return "delete";
  }
  return "";
}

}  // namespace cavalry::drivers
