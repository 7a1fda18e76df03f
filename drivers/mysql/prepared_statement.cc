#include "drivers/mysql/prepared_statement.h"

#include <algorithm>
#include <cstring>

namespace cavalry::drivers::mysql {
namespace {

// Bytes of one utf8mb4 character.
constexpr std::size_t kMaxCharacterBytes = 4;
// Room for a value at first; longer ones make it grow once. Bounds the memory of many sessions.
constexpr std::size_t kMaxFirstBytes = 1024;
// The same for columns of which nothing is known.
constexpr std::size_t kNativeFirstBytes = 64;

// Longest text of a column's value.
std::size_t TextBytes(const ColumnType& type) {
  switch (type.kind) {
    case ColumnType::Kind::kInteger:
      return 20;  // -9223372036854775808, 18446744073709551615
    case ColumnType::Kind::kDecimal:
      return static_cast<std::size_t>(type.precision) + 3;  // sign, leading zero, point
    case ColumnType::Kind::kFloat:
    case ColumnType::Kind::kDouble:
    case ColumnType::Kind::kDate:
    case ColumnType::Kind::kTime:
    case ColumnType::Kind::kDatetime:
    case ColumnType::Kind::kTimestamp:
    case ColumnType::Kind::kYear:
      return 26;  // 2026-01-31 23:59:59.123456, -2.2250738585072014e-308
    case ColumnType::Kind::kBinary:
    case ColumnType::Kind::kVarbinary:
      return type.length;
    case ColumnType::Kind::kChar:
    case ColumnType::Kind::kVarchar:
      return type.length * kMaxCharacterBytes;
    case ColumnType::Kind::kText:
    case ColumnType::Kind::kBlob:
    case ColumnType::Kind::kJson:
      break;
  }
  return kMaxFirstBytes;
}

// The library writes a terminating zero where there is room, hence one more.
std::size_t FirstBytes(const ColumnType& type) {
  return std::min(TextBytes(type) + 1, kMaxFirstBytes);
}

}  // namespace

PreparedStatement::PreparedStatement(const StatementTemplate& statement) : statement_(statement) {
  parameters_.resize(statement.parameter_count());
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Column* column = statement.parameter_column(i);
    if (column == nullptr) continue;
    const ColumnType& type = column->type;
    parameters_[i].is_unsigned = type.is_unsigned;
    if (type.is_integer()) continue;
    parameters_[i].type = type.is_binary() ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
    parameters_[i].capacity = FirstBytes(type);
    parameters_[i].bytes = std::make_unique<char[]>(parameters_[i].capacity);
  }
}

PreparedStatement::~PreparedStatement() {
  if (handle_ != nullptr) mysql_stmt_close(handle_);
}

bool PreparedStatement::Open(MYSQL* connection) {
  if (handle_ != nullptr) mysql_stmt_close(handle_);
  handle_ = mysql_stmt_init(connection);
  return handle_ != nullptr;
}

bool PreparedStatement::Bind() {
  if (mysql_stmt_param_count(handle_) != parameters_.size()) return false;
  if (!BindParameters()) return false;
  return mysql_stmt_field_count(handle_) == 0 || BindAnswer();
}

bool PreparedStatement::BindAnswer() {
  const std::size_t count = mysql_stmt_field_count(handle_);
  const OperationPlan& plan = statement_.plan();
  const bool is_native = plan.kind == OperationKind::kNative;
  if (!is_native && count != plan.columns.size()) return false;
  if (results_.size() != count) {
    results_.resize(count);
    fields_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      results_[i].capacity =
          is_native ? kNativeFirstBytes : FirstBytes(plan.table->columns[plan.columns[i]].type);
      results_[i].bytes = std::make_unique<char[]>(results_[i].capacity);
    }
  }
  return BindResults();
}

bool PreparedStatement::BindParameters() {
  if (parameters_.empty()) return true;
  binds_.assign(parameters_.size(), MYSQL_BIND{});
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = parameters_[i];
    MYSQL_BIND& bind = binds_[i];
    bind.buffer_type = parameter.type;
    bind.is_null = &parameter.is_null;
    bind.is_unsigned = parameter.is_unsigned;
    if (parameter.type == MYSQL_TYPE_LONGLONG) {
      bind.buffer = &parameter.integer;
      continue;
    }
    bind.buffer = parameter.bytes.get();
    bind.buffer_length = parameter.capacity;
    bind.length = &parameter.length;
  }
  return mysql_stmt_bind_param(handle_, binds_.data()) == 0;
}

bool PreparedStatement::BindResults() {
  if (results_.empty()) return true;
  binds_.assign(results_.size(), MYSQL_BIND{});
  for (std::size_t i = 0; i < results_.size(); ++i) {
    ResultColumn& column = results_[i];
    MYSQL_BIND& bind = binds_[i];
    bind.buffer_type = MYSQL_TYPE_STRING;
    bind.buffer = column.bytes.get();
    bind.buffer_length = column.capacity;
    bind.length = &column.length;
    bind.is_null = &column.is_null;
    bind.error = &column.is_truncated;
  }
  return mysql_stmt_bind_result(handle_, binds_.data()) == 0;
}

bool PreparedStatement::Store(const Value& value, Parameter* parameter) {
  parameter->is_null = value.kind == Value::Kind::kNull;
  if (parameter->is_null) return false;
  if (value.kind == Value::Kind::kInteger || value.kind == Value::Kind::kUnsigned) {
    parameter->integer = value.integer;
    // The sign only matters to numbers with the highest bit set.
    const bool is_unsigned = value.kind == Value::Kind::kUnsigned;
    if (parameter->type == MYSQL_TYPE_LONGLONG &&
        (value.integer >= 0 || is_unsigned == static_cast<bool>(parameter->is_unsigned))) {
      return false;
    }
    parameter->type = MYSQL_TYPE_LONGLONG;
    parameter->is_unsigned = is_unsigned;
    return true;
  }
  const enum enum_field_types type =
      value.kind == Value::Kind::kBinary ? MYSQL_TYPE_BLOB : MYSQL_TYPE_STRING;
  bool changed = parameter->type != type;
  parameter->type = type;
  if (value.text.size() > parameter->capacity || parameter->bytes == nullptr) {
    parameter->capacity = std::max(value.text.size(), parameter->capacity * 2) + 1;
    parameter->bytes = std::make_unique<char[]>(parameter->capacity);
    changed = true;
  }
  if (!value.text.empty()) {
    std::memcpy(parameter->bytes.get(), value.text.data(), value.text.size());
  }
  parameter->length = value.text.size();
  return changed;
}

bool PreparedStatement::SetValues(const Operation& operation) {
  bool changed = false;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    changed |= Store(statement_.parameter(operation, i), &parameters_[i]);
  }
  return !changed || BindParameters();
}

bool PreparedStatement::ReadRow(bool truncated, std::span<const Field>* fields) {
  if (truncated) {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      ResultColumn& column = results_[i];
      if (column.is_null || column.length <= column.capacity) continue;
      column.capacity = column.length + 1;
      column.bytes = std::make_unique<char[]>(column.capacity);
      MYSQL_BIND bind{};
      bind.buffer_type = MYSQL_TYPE_STRING;
      bind.buffer = column.bytes.get();
      bind.buffer_length = column.capacity;
      bind.length = &column.length;
      bind.is_null = &column.is_null;
      bind.error = &column.is_truncated;
      const auto index = static_cast<unsigned int>(i);
      if (mysql_stmt_fetch_column(handle_, &bind, index, 0) != 0) return false;
    }
    // The next rows go to the larger buffers.
    if (!BindResults()) return false;
  }
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const ResultColumn& column = results_[i];
    fields_[i].is_null = column.is_null;
    fields_[i].text =
        column.is_null ? std::string_view() : std::string_view(column.bytes.get(), column.length);
  }
  *fields = fields_;
  return true;
}

std::string PreparedStatement::Text() const {
  std::string text = statement_.prepared();
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Parameter& parameter = parameters_[i];
    Value value;
    if (!parameter.is_null) {
      const std::string_view bytes(parameter.bytes.get(), parameter.length);
      value = parameter.type == MYSQL_TYPE_BLOB     ? Value::Binary(bytes)
              : parameter.type == MYSQL_TYPE_STRING ? Value::Text(bytes)
              : parameter.is_unsigned
                  ? Value::Unsigned(static_cast<std::uint64_t>(parameter.integer))
                  : Value::Integer(parameter.integer);
    }
    text += i == 0 ? " with " : ", ";
    AppendValue(value, Escaping::kBackslash, &text);
  }
  return text;
}

}  // namespace cavalry::drivers::mysql
