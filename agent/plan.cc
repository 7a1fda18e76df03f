#include "agent/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agent/recipe_builder.h"
#include "agent/target_plan.h"
#include "core/base/random.h"

namespace cavalry::agent {
namespace {

constexpr int kMaxColumns = 4096;  // of a MariaDB table
constexpr std::size_t kMaxRowBytes = 16 * 1024 * 1024;
constexpr std::uint64_t kMaxTextBytes = 65'535;
constexpr std::uint64_t kMaxDefaultInteger = 2'147'483'647;
constexpr std::uint32_t kMaxPatternWidth = 255;

std::uint64_t SchemaHash(const v1::Table& table, std::uint64_t seed) {
  v1::Table identity = table;
  identity.clear_existing();
  identity.clear_rows();
  std::string bytes;
  identity.SerializeToString(&bytes);
  return Mix64(HashText(bytes) ^ Mix64(seed));
}

bool IsPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// "Customer#{C_CUSTKEY:09}" -> pieces. Only the key column and "version" can be named.
StatusOr<std::vector<load::PatternPiece>> ParsePattern(std::string_view text,
                                                       std::string_view key_column) {
  std::vector<load::PatternPiece> pieces(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      pieces.back().literal += c;
      ++i;
      continue;
    }
    if (c != '{') {
      pieces.back().literal += c;
      continue;
    }
    const std::size_t close = text.find('}', i);
    if (close == std::string_view::npos) {
      return InvalidArgument("pattern '{}': '{{' without '}}'", text);
    }
    std::string_view name = text.substr(i + 1, close - i - 1);
    std::uint32_t width = 0;
    if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
      for (const char digit : name.substr(colon + 1)) {
        if (digit >= '0' && digit <= '9')
          width = width * 10 + static_cast<std::uint32_t>(digit - '0');
        if (digit < '0' || digit > '9' || width > kMaxPatternWidth) {
          return InvalidArgument("pattern '{}': the width must be a number up to {}", text,
                                 kMaxPatternWidth);
        }
      }
      name = name.substr(0, colon);
    }
    using Insert = load::PatternPiece::Insert;
    if (name != key_column && name != "version") {
      return InvalidArgument("pattern '{}': '{}' is neither the key '{}' nor 'version'", text, name,
                             key_column);
    }
    pieces.back().insert = name == key_column ? Insert::kKey : Insert::kVersion;
    pieces.back().width = width;
    pieces.emplace_back();
    i = close;
  }
  return pieces;
}

}  // namespace

StatusOr<load::ColumnRule> MakeColumnRule(const v1::ValueRule& rule, const ColumnType& type,
                                          std::string_view key_column) {
  load::ColumnRule result;
  switch (rule.rule_case()) {
    case v1::ValueRule::kPattern: {
      result.kind = load::RuleKind::kPattern;
      CAVALRY_ASSIGN_OR_RETURN(result.pattern, ParsePattern(rule.pattern(), key_column));
      break;
    }
    case v1::ValueRule::kRandomText:
      result.kind = load::RuleKind::kRandomText;
      result.text = rule.random_text().alphabet();
      result.low = rule.random_text().length().first();
      result.high = rule.random_text().length().last();
      if (!IsPrintableAscii(result.text)) {
        return InvalidArgument("alphabet: only printable ASCII characters");
      }
      if (!rule.random_text().has_length()) {
        result.high = std::min<std::uint32_t>(type.length, 1024);
        result.low = result.high / 2;
      }
      break;
    case v1::ValueRule::kRandomInt:
      result.kind = load::RuleKind::kRandomInt;
      result.low = rule.random_int().range().first();
      result.high = rule.random_int().range().last();
      if (!rule.random_int().has_range()) {
        result.high = kMaxDefaultInteger;
        if (type.is_integer()) result.high = std::min(type.integer_max(), result.high);
      }
      break;
    case v1::ValueRule::kNewVersion:
      result.kind = load::RuleKind::kNewVersion;
      break;
    case v1::ValueRule::kAlwaysNull:
      result.kind = load::RuleKind::kNull;
      break;
    case v1::ValueRule::kConstant:
      result.kind = load::RuleKind::kConstant;
      result.text = rule.constant();
      break;
    default:
      break;
  }
  if (result.low > result.high ||
      (result.kind == load::RuleKind::kRandomText && result.high > kMaxTextBytes)) {
    return InvalidArgument("a value's range {}..{} cannot be used", result.low, result.high);
  }
  return result;
}

namespace {

Status CheckKeyColumn(const drivers::TableSchema& table) {
  const drivers::Column& key = table.key_column();
  if (!key.type.is_integer()) {
    return InvalidArgument("{}: the key must be of an integer type, not {}", table.name,
                           key.type.sql);
  }
  const std::uint64_t highest = std::min(key.type.integer_max(), load::kMaxKey);
  if (table.rows > highest) {
    return InvalidArgument("{}: {} rows are more than keys, which end at {}", table.name,
                           table.rows, highest);
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<TablePlan> MakeTablePlan(const v1::Table& table, std::uint64_t seed) {
  if (table.columns_size() > kMaxColumns) {
    return InvalidArgument("{}: more than {} columns", table.name(), kMaxColumns);
  }
  TablePlan plan;
  plan.schema = std::make_unique<drivers::TableSchema>();
  drivers::TableSchema& schema = *plan.schema;
  schema.name = table.name();
  schema.rows = table.rows();
  schema.engine = table.engine().empty() ? "InnoDB" : table.engine();
  schema.use_as_is = table.existing() == v1::EXISTING_USE;
  schema.schema_hash = SchemaHash(table, seed);
  bool has_key = false;
  for (const v1::ColumnSpec& column : table.columns()) {
    auto type = ParseColumnType(column.type());
    if (!type.ok()) {
      return Annotate(type.status(), fmt::format("{}.{}", table.name(), column.name()));
    }
    auto rule = MakeColumnRule(column.value(), *type, table.primary_key());
    if (!rule.ok()) {
      return Annotate(rule.status(), fmt::format("{}.{}", table.name(), column.name()));
    }
    if (column.name() == table.primary_key()) {
      has_key = true;
      schema.key_columns = {static_cast<std::uint32_t>(schema.columns.size())};
      rule->kind = load::RuleKind::kKey;
    }
    schema.columns.push_back({column.name(), *std::move(type), column.nullable()});
    plan.rules.push_back(*std::move(rule));
  }
  if (!has_key) {
    return InvalidArgument("{}: primary_key '{}' is not among its columns", table.name(),
                           table.primary_key());
  }
  CAVALRY_RETURN_IF_ERROR(CheckKeyColumn(schema));
  std::vector<std::uint32_t> all(schema.columns.size());
  std::iota(all.begin(), all.end(), 0U);
  CAVALRY_RETURN_IF_ERROR(MakeGenerator(schema, std::move(all), plan.rules, seed).status());
  return plan;
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

namespace {

StatusOr<std::uint32_t> ColumnIndex(const drivers::TableSchema& table, std::string_view name) {
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  return InvalidArgument("table '{}' has no column '{}'", table.name, name);
}

std::string_view TableOf(const v1::OperationSpec& operation) {
  switch (operation.kind_case()) {
    case v1::OperationSpec::kRead:
      return operation.read().table();
    case v1::OperationSpec::kInsert:
      return operation.insert().table();
    case v1::OperationSpec::kUpdate:
      return operation.update().table();
    case v1::OperationSpec::kDelete:
      return operation.delete_().table();
    default:
      break;
  }
  return "";
}

StatusOr<drivers::OperationPlan> MakeOperation(const v1::OperationSpec& spec,
                                               const drivers::TableSchema& table) {
  drivers::OperationPlan plan;
  plan.name = spec.name();
  plan.table = &table;
  switch (spec.kind_case()) {
    case v1::OperationSpec::kRead:
      plan.kind = drivers::OperationKind::kRead;
      for (const std::string& name : spec.read().columns()) {
        CAVALRY_ASSIGN_OR_RETURN(const std::uint32_t column, ColumnIndex(table, name));
        plan.columns.push_back(column);
      }
      break;
    case v1::OperationSpec::kUpdate:
      plan.kind = drivers::OperationKind::kUpdate;
      for (const v1::SetColumn& set : spec.update().set()) {
        CAVALRY_ASSIGN_OR_RETURN(const std::uint32_t column, ColumnIndex(table, set.column()));
        if (column == table.key_columns.front()) {
          return InvalidArgument("{}: the key '{}' cannot be set", spec.name(), set.column());
        }
        plan.columns.push_back(column);
      }
      if (plan.columns.empty()) return InvalidArgument("{}: nothing to set", spec.name());
      break;
    case v1::OperationSpec::kInsert:
      plan.kind = drivers::OperationKind::kInsert;
      break;
    case v1::OperationSpec::kDelete:
      plan.kind = drivers::OperationKind::kDelete;
      return plan;
    default:
      return InvalidArgument("operation '{}' has no kind", spec.name());
  }
  if (plan.columns.empty()) {
    for (std::uint32_t i = 0; i < table.columns.size(); ++i) plan.columns.push_back(i);
  }
  return plan;
}

}  // namespace

StatusOr<OperationSet> MakeOperationSet(const v1::Workload& workload) {
  OperationSet set;
  if (workload.operations_size() > kMaxOperations) {
    return InvalidArgument("more than {} operations", kMaxOperations);
  }
  for (const v1::Table& table : workload.tables()) {
    CAVALRY_ASSIGN_OR_RETURN(TablePlan plan, MakeTablePlan(table, workload.seed()));
    set.tables.push_back(std::move(plan.schema));
    set.rules.push_back(std::move(plan.rules));
  }
  for (const v1::OperationSpec& spec : workload.operations()) {
    const std::string_view table = TableOf(spec);
    const auto found = std::find_if(set.tables.begin(), set.tables.end(),
                                    [&](const auto& schema) { return schema->name == table; });
    if (found == set.tables.end()) {
      return InvalidArgument("operation '{}': no table is named '{}'", spec.name(), table);
    }
    CAVALRY_ASSIGN_OR_RETURN(drivers::OperationPlan plan, MakeOperation(spec, **found));
    plan.index = static_cast<std::uint32_t>(set.operations.size());
    set.operations.push_back(std::move(plan));
  }
  return set;
}

namespace {

constexpr std::uint32_t kMaxSessions = 1'000'000;
constexpr std::uint32_t kMaxPipeline = 1'024;
constexpr std::uint64_t kMaxTime = 366ULL * 24 * 3'600 * kSecond;
// Numbers times what an iteration writes stay far from the end of 64 bits.
constexpr std::uint64_t kMaxNumber = std::uint64_t{1} << 48;
constexpr double kMinConnectRate = 0.001;
constexpr double kMaxConnectRate = 1e6;

Status SetNumbers(const v1::Numbers& numbers, Nanos warmup, load::NumberPlan* plan) {
  *plan = {numbers.first(), std::max<std::uint64_t>(numbers.stride(), 1), std::nullopt,
           numbers.warmup_first(), numbers.warmup_stride()};
  if (numbers.has_count()) plan->count = numbers.count();
  for (const std::uint64_t number : {plan->first, plan->stride, plan->count.value_or(0),
                                     plan->warmup_first, plan->warmup_stride}) {
    if (number > kMaxNumber) return InvalidArgument("iteration number {} is too large", number);
  }
  if (plan->count && *plan->count > 0 && warmup > 0 && plan->warmup_stride == 0) {
    return InvalidArgument("a counted load with a warm-up needs numbers for the warm-up");
  }
  return absl::OkStatus();
}

Status SetTime(std::string_view what, bool given, std::uint64_t value, Nanos* time) {
  if (!given) return absl::OkStatus();
  if (value > kMaxTime) return InvalidArgument("load.{} is longer than a year", what);
  *time = static_cast<Nanos>(value);
  return absl::OkStatus();
}

Status SetTimes(const v1::Load& load, run::LoadPlan* plan) {
  CAVALRY_RETURN_IF_ERROR(SetTime("warmup", load.has_warmup(), load.warmup(), &plan->warmup));
  if (load.stop_after().has_duration()) {
    plan->duration = 0;
    CAVALRY_RETURN_IF_ERROR(
        SetTime("stop_after.duration", true, load.stop_after().duration(), &*plan->duration));
  }
  CAVALRY_RETURN_IF_ERROR(SetTime("operation_timeout", load.operation_timeout() > 0,
                                  load.operation_timeout(), &plan->operation_timeout));
  CAVALRY_RETURN_IF_ERROR(SetTime("connect_timeout", load.connect_timeout() > 0,
                                  load.connect_timeout(), &plan->connect_timeout));
  return SetTime("drain_timeout", load.has_drain_timeout(), load.drain_timeout(),
                 &plan->drain_timeout);
}

Status SetSessions(const v1::Assignment& assignment, run::LoadPlan* plan) {
  const v1::Load& load = assignment.workload().load();
  plan->sessions = assignment.sessions();
  plan->first_session = assignment.first_session();
  plan->total_sessions = std::max<std::uint32_t>(load.sessions(), 1);
  if (plan->sessions == 0) return InvalidArgument("an assignment without sessions");
  if (plan->total_sessions > kMaxSessions) {
    return InvalidArgument("{} sessions are more than {}", plan->total_sessions, kMaxSessions);
  }
  if (std::uint64_t{plan->first_session} + plan->sessions > plan->total_sessions) {
    return InvalidArgument("sessions {} to {} are not among {}", plan->first_session,
                           plan->first_session + plan->sessions, plan->total_sessions);
  }
  plan->pipeline = std::max<std::uint32_t>(load.pipeline(), 1);
  if (plan->pipeline > kMaxPipeline) {
    return InvalidArgument("load.pipeline {} is more than {}", plan->pipeline, kMaxPipeline);
  }
  if (plan->pipeline > 1 && !plan->driver->pipelines()) {
    return InvalidArgument(
        "{}: the {} driver sends one operation at a time; load.pipeline must be 1",
        assignment.target(), plan->driver->kind());
  }
  if (std::isfinite(assignment.connect_rate()) && assignment.connect_rate() > 0) {
    plan->connect_rate = std::clamp(assignment.connect_rate(), kMinConnectRate, kMaxConnectRate);
  }
  return absl::OkStatus();
}

}  // namespace

StatusOr<std::unique_ptr<run::LoadPlan>> MakeLoadPlan(const v1::Assignment& assignment,
                                                      std::uint32_t workers, run::LoopKind loop) {
  auto plan = std::make_unique<run::LoadPlan>();
  const v1::Workload& workload = assignment.workload();
  CAVALRY_ASSIGN_OR_RETURN(TargetPlan target, MakeTargetPlan(workload, assignment.target()));
  plan->driver = target.driver;
  CAVALRY_RETURN_IF_ERROR(SetSessions(assignment, plan.get()));
  CAVALRY_RETURN_IF_ERROR(SetTimes(workload.load(), plan.get()));
  CAVALRY_RETURN_IF_ERROR(SetNumbers(assignment.numbers(), plan->warmup, &plan->numbers));
  if (!plan->duration && !plan->numbers.count) {
    return InvalidArgument("the load has no end: neither a duration nor a count");
  }
  plan->next_version = std::max<std::uint64_t>(assignment.next_version(), 1);
  if (plan->next_version > load::kMaxKey) {
    return InvalidArgument("version {} is too large", plan->next_version);
  }
  plan->workers = std::max<std::uint32_t>(workers, 1);
  plan->loop = loop;
  plan->keep_ledger = assignment.audit();
  CAVALRY_RETURN_IF_ERROR(BuildRecipes(assignment, plan.get()));
  // The clients are made from these without another look.
  CAVALRY_RETURN_IF_ERROR(CheckOperations(target, plan->operations));
  plan->settings = std::move(target.settings);
  return plan;
}

}  // namespace cavalry::agent
