// SQL column types as CQL types. See statement.h.
#include "core/base/check.h"
#include "drivers/cassandra/statement.h"

namespace cavalry::drivers::cassandra {
namespace {

// CQL's integers are all signed: an unsigned one takes the next larger.
CqlType IntegerType(const ColumnType& type) {
  if (type.is_boolean) return CqlType::kBoolean;
  switch (type.width_bytes) {
    case 1:
      return type.is_unsigned ? CqlType::kSmallint : CqlType::kTinyint;
    case 2:
      return type.is_unsigned ? CqlType::kInt : CqlType::kSmallint;
    case 3:
      return CqlType::kInt;
    case 4:
      return type.is_unsigned ? CqlType::kBigint : CqlType::kInt;
    default:
      return type.is_unsigned ? CqlType::kVarint : CqlType::kBigint;
  }
}

}  // namespace

CqlType CqlTypeOf(const ColumnType& type) {
  switch (type.kind) {
    case ColumnType::Kind::kInteger:
      return IntegerType(type);
    case ColumnType::Kind::kDecimal:
      return CqlType::kDecimal;
    case ColumnType::Kind::kFloat:
      return CqlType::kFloat;
    case ColumnType::Kind::kDouble:
      return CqlType::kDouble;
    case ColumnType::Kind::kChar:
    case ColumnType::Kind::kVarchar:
    case ColumnType::Kind::kText:
    case ColumnType::Kind::kJson:
      return CqlType::kText;
    case ColumnType::Kind::kBinary:
    case ColumnType::Kind::kVarbinary:
    case ColumnType::Kind::kBlob:
      return CqlType::kBlob;
    case ColumnType::Kind::kDate:
      return CqlType::kDate;
    case ColumnType::Kind::kTime:
      return CqlType::kTime;
    case ColumnType::Kind::kDatetime:
    case ColumnType::Kind::kTimestamp:
      return CqlType::kTimestamp;
    case ColumnType::Kind::kYear:
      return CqlType::kInt;
  }
  CheckFailed(__FILE__, __LINE__, "a column type is one of its kinds");
}

std::string_view CqlTypeName(CqlType type) {
  switch (type) {
    case CqlType::kTinyint:
      return "tinyint";
    case CqlType::kSmallint:
      return "smallint";
    case CqlType::kInt:
      return "int";
    case CqlType::kBigint:
      return "bigint";
    case CqlType::kVarint:
      return "varint";
    case CqlType::kBoolean:
      return "boolean";
    case CqlType::kFloat:
      return "float";
    case CqlType::kDouble:
      return "double";
    case CqlType::kDecimal:
      return "decimal";
    case CqlType::kText:
      return "text";
    case CqlType::kBlob:
      return "blob";
    case CqlType::kDate:
      return "date";
    case CqlType::kTime:
      return "time";
    case CqlType::kTimestamp:
      return "timestamp";
  }
  CheckFailed(__FILE__, __LINE__, "a CQL type is one of those");
}

}  // namespace cavalry::drivers::cassandra
