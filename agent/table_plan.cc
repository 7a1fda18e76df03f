#include "agent/table_plan.h"

#include <algorithm>
#include <numeric>

#include "agent/load/key_sequence.h"
#include "core/base/random.h"

namespace cavalry::agent {
namespace {

constexpr int kMaxColumns = 4096;  // of a MariaDB table
constexpr std::size_t kMaxRowBytes = 16 * 1024 * 1024;

// Of all that makes the rows what they are: not of how many there are, nor of where a file lies.
std::uint64_t SchemaHash(const v1::Table& table, std::uint64_t seed, const load::RowFile* file) {
  v1::Table identity = table;
  identity.clear_existing();
  identity.clear_rows();
  identity.clear_rows_from();
  std::string bytes;
  identity.SerializeToString(&bytes);
  const std::uint64_t hash = Mix64(HashText(bytes) ^ Mix64(seed));
  return file == nullptr ? hash : Mix64(hash ^ file->hash());
}

bool IsKeyColumn(const drivers::TableSchema& schema, std::uint32_t column) {
  return std::find(schema.key_columns.begin(), schema.key_columns.end(), column) !=
         schema.key_columns.end();
}

Status AddColumns(const v1::Table& table, drivers::TableSchema* schema) {
  if (table.columns_size() > kMaxColumns) {
    return InvalidArgument("more than {} columns", kMaxColumns);
  }
  for (const v1::ColumnSpec& spec : table.columns()) {
    auto type = ParseColumnType(spec.type());
    if (!type.ok()) return Annotate(type.status(), spec.name());
    drivers::Column column{spec.name(), *std::move(type), spec.nullable()};
    column.auto_increment = spec.auto_increment();
    column.default_sql = spec.default_();
    if (spec.value().has_server()) column.server_sql = spec.value().server();
    schema->columns.push_back(std::move(column));
  }
  return absl::OkStatus();
}

Status AddKey(const v1::Table& table, drivers::TableSchema* schema) {
  schema->key_columns.clear();
  for (const std::string& name : table.primary_key()) {
    CAVALRY_ASSIGN_OR_RETURN(const std::uint32_t column, ColumnIndex(*schema, name));
    if (IsKeyColumn(*schema, column)) return InvalidArgument("primary_key names '{}' twice", name);
    schema->key_columns.push_back(column);
  }
  if (schema->key_columns.empty()) return InvalidArgument("no primary_key");
  return absl::OkStatus();
}

Status AddIndexes(const v1::Table& table, drivers::TableSchema* schema) {
  for (const v1::Index& spec : table.indexes()) {
    drivers::Index index;
    index.name = spec.name();
    index.unique = spec.unique();
    for (const std::string& name : spec.columns()) {
      CAVALRY_ASSIGN_OR_RETURN(const std::uint32_t column, ColumnIndex(*schema, name));
      index.columns.push_back(column);
    }
    if (index.columns.empty()) return InvalidArgument("index '{}' has no columns", index.name);
    schema->indexes.push_back(std::move(index));
  }
  return absl::OkStatus();
}

// Rules in two turns, since patterns take numbers from other columns.
Status AddRules(const v1::Table& table, const drivers::TableSchema& schema,
                std::vector<load::ColumnRule>* rules) {
  rules->resize(schema.columns.size());
  for (const bool patterns : {false, true}) {
    for (std::uint32_t i = 0; i < schema.columns.size(); ++i) {
      const v1::ColumnSpec& spec = table.columns(static_cast<int>(i));
      const ColumnType& type = schema.columns[i].type;
      // In an integer column a pattern is the row's number, a number like any other.
      const bool late = spec.value().has_pattern() && !type.is_integer();
      if (late != patterns) continue;
      auto rule = MakeColumnRule(spec.value(), type, NamesOf(schema, *rules));
      if (!rule.ok()) return Annotate(rule.status(), spec.name());
      const bool own = spec.value().rule_case() != v1::ValueRule::RULE_NOT_SET;
      if (!own && type.is_integer() && IsKeyColumn(schema, i)) rule->kind = load::RuleKind::kKey;
      (*rules)[i] = *std::move(rule);
    }
  }
  return absl::OkStatus();
}

// REQUIRES: key columns and rules are set.
Status CheckKey(const std::vector<load::ColumnRule>& rules, drivers::TableSchema* schema) {
  const std::uint32_t first = schema->key_columns.front();
  schema->key_is_number =
      schema->key_columns.size() == 1 && rules[first].kind == load::RuleKind::kKey;
  std::uint64_t highest = load::kMaxKey;
  for (const std::uint32_t column : schema->key_columns) {
    const ColumnType& type = schema->columns[column].type;
    if (rules[column].kind == load::RuleKind::kServer) {
      return InvalidArgument("the key column '{}' cannot have a value of the server's",
                             schema->columns[column].name);
    }
    if (rules[column].kind == load::RuleKind::kKey) highest = std::min(highest, type.integer_max());
  }
  if (schema->rows > highest) {
    return InvalidArgument("{} rows are more than keys, which end at {}", schema->rows, highest);
  }
  for (std::uint32_t i = 0; i < schema->columns.size(); ++i) {
    const bool may = i == first && schema->key_is_number;
    if (schema->columns[i].auto_increment && !may) {
      return InvalidArgument(
          "'{}' is no single key column of an integer type without a rule, "
          "so it cannot be auto_increment",
          schema->columns[i].name);
    }
  }
  return absl::OkStatus();
}

Status FillTablePlan(const v1::Table& table, std::uint64_t seed, TablePlan* plan) {
  drivers::TableSchema& schema = *plan->schema;
  CAVALRY_RETURN_IF_ERROR(AddColumns(table, &schema));
  CAVALRY_RETURN_IF_ERROR(AddKey(table, &schema));
  CAVALRY_RETURN_IF_ERROR(AddIndexes(table, &schema));
  CAVALRY_RETURN_IF_ERROR(AddRules(table, schema, &plan->rules));
  CAVALRY_RETURN_IF_ERROR(CheckKey(plan->rules, &schema));
  std::shared_ptr<const load::RowFile> file;
  if (!table.rows_from().empty()) {
    CAVALRY_ASSIGN_OR_RETURN(file, load::RowFile::Load(table.rows_from(), schema));
    for (load::ColumnRule& rule : plan->rules) rule.file = file;
  }
  schema.schema_hash = SchemaHash(table, seed, file.get());
  std::vector<std::uint32_t> all(schema.columns.size());
  std::iota(all.begin(), all.end(), 0U);
  return MakeGenerator(schema, std::move(all), plan->rules, seed).status();
}

}  // namespace

StatusOr<TablePlan> MakeTablePlan(const v1::Table& table, std::uint64_t seed) {
  TablePlan plan;
  plan.schema = std::make_unique<drivers::TableSchema>();
  drivers::TableSchema& schema = *plan.schema;
  schema.name = table.name();
  schema.rows = table.rows();
  schema.engine = table.engine().empty() ? "InnoDB" : table.engine();
  schema.charset = table.charset();
  schema.collation = table.collation();
  schema.row_format = table.row_format();
  schema.partition_by = table.partition_by();
  schema.use_as_is = table.existing() == v1::EXISTING_USE;
  CAVALRY_RETURN_IF_ERROR(Annotate(FillTablePlan(table, seed, &plan), table.name()));
  return plan;
}

PatternNames NamesOf(const drivers::TableSchema& schema,
                     const std::vector<load::ColumnRule>& rules) {
  std::string_view key;
  if (schema.key_columns.size() == 1) key = schema.key_column().name;
  return {key, &schema, &rules};
}

StatusOr<std::uint32_t> ColumnIndex(const drivers::TableSchema& table, std::string_view name) {
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  return InvalidArgument("table '{}' has no column '{}'", table.name, name);
}

StatusOr<load::RowGenerator> MakeGenerator(const drivers::TableSchema& table,
                                           std::vector<std::uint32_t> columns,
                                           std::vector<load::ColumnRule> rules,
                                           std::uint64_t seed) {
  load::RowGenerator generator(table, std::move(columns), std::move(rules), seed);
  if (generator.max_bytes() > kMaxRowBytes) {
    return InvalidArgument("{}: a row of up to {} bytes is longer than {}", table.name,
                           generator.max_bytes(), kMaxRowBytes);
  }
  return generator;
}

}  // namespace cavalry::agent
