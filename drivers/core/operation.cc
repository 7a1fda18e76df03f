#include "drivers/core/operation.h"

namespace cavalry::drivers {

std::string_view OperationKindName(OperationKind kind) {
  switch (kind) {
    case OperationKind::kRead:
      return "read";
    case OperationKind::kMultiRead:
      return "multi_read";
    case OperationKind::kScan:
      return "scan";
    case OperationKind::kInsert:
      return "insert";
    case OperationKind::kUpdate:
      return "update";
    case OperationKind::kDelete:
      return "delete";
    case OperationKind::kIncrement:
      return "increment";
    case OperationKind::kNative:
      return "native";
    case OperationKind::kBegin:
      return "begin";
    case OperationKind::kCommit:
      return "commit";
    case OperationKind::kRollback:
      return "rollback";
    case OperationKind::kResetConnection:
      return "reset_connection";
    case OperationKind::kChangeUser:
      return "change_user";
  }
  return "";
}

bool IsWrite(OperationKind kind) {
  return kind == OperationKind::kInsert || kind == OperationKind::kUpdate ||
         kind == OperationKind::kDelete || kind == OperationKind::kIncrement;
}

bool HasTable(OperationKind kind) { return kind <= OperationKind::kIncrement; }

}  // namespace cavalry::drivers
