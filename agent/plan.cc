#include "agent/plan.h"

#include <algorithm>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "agent/recipe_builder.h"
#include "core/base/random.h"
#include "core/wire/enum_word.h"
#include "drivers/registry.h"

namespace cavalry::agent {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

const v1::Target* FindTarget(const v1::Workload& workload, std::string_view name) {
  for (const v1::Target& target : workload.targets()) {
    if (target.name() == name) return &target;
  }
  return nullptr;
}

// The options message of a target's kind; null when the kind is not set.
const FieldDescriptor* KindField(const v1::Target& target) {
  return target.GetReflection()->GetOneofFieldDescriptor(
      target, target.GetDescriptor()->FindOneofByName("kind"));
}

std::string ScalarText(const Message& message, const FieldDescriptor& field) {
  const auto* reflection = message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->GetString(message, &field);
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection->GetBool(message, &field) ? "true" : "false";
    case FieldDescriptor::CPPTYPE_UINT32:
      return fmt::format("{}", reflection->GetUInt32(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return fmt::format("{}", reflection->GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_INT32:
      return fmt::format("{}", reflection->GetInt32(message, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format("{}", reflection->GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", reflection->GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return wire::EnumWord(*reflection->GetEnum(message, &field));
    default:
      return "";
  }
}

}  // namespace

Settings ToSettings(const Message& options) {
  Settings settings;
  const auto* reflection = options.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(options, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->is_repeated()) continue;
    Setting setting{std::string(field->name()), "", false, ""};
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      setting.value = ScalarText(options, *field);
    } else if (field->message_type() == v1::SecretText::descriptor()) {
      v1::SecretText secret;
      secret.CopyFrom(reflection->GetMessage(options, field));
      setting.secret = true;
      setting.value = secret.value();
      setting.from = secret.from();
    } else {
      continue;
    }
    settings.Add(std::move(setting));
  }
  return settings;
}

StatusOr<TargetPlan> MakeTargetPlan(const v1::Workload& workload, std::string_view name) {
  const v1::Target* target = FindTarget(workload, name);
  if (target == nullptr) return InvalidArgument("no target is named '{}'", name);
  const FieldDescriptor* kind = KindField(*target);
  if (kind == nullptr) return InvalidArgument("{}: no kind of back-end is given", name);
  TargetPlan plan;
  plan.name = target->name();
  plan.owner = target->tables_of().empty() ? target->name() : target->tables_of();
  plan.driver = drivers::FindDriver(kind->name());
  if (plan.driver == nullptr) {
    return FailedPrecondition("{}: this agent has no driver '{}'", name, kind->name());
  }
  const Message& options = target->GetReflection()->GetMessage(*target, kind);
  plan.settings = ToSettings(options);
  const FieldDescriptor* database = kind->message_type()->FindFieldByName("database");
  if (plan.owner != plan.name && database != nullptr && !plan.settings.Has("database")) {
    CAVALRY_ASSIGN_OR_RETURN(const TargetPlan owner, MakeTargetPlan(workload, plan.owner));
    plan.settings.Add({"database", owner.settings.Text("database", ""), false, ""});
  }
  return plan;
}

namespace {

std::uint64_t SchemaHash(const v1::Table& table, std::uint64_t seed) {
  v1::Table identity = table;
  identity.clear_existing();
  identity.clear_rows();
  std::string bytes;
  identity.SerializeToString(&bytes);
  return Mix64(HashText(bytes) ^ Mix64(seed));
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
        if (digit < '0' || digit > '9' || width > 100) {
          return InvalidArgument("pattern '{}': the width must be a number up to 999", text);
        }
        width = width * 10 + static_cast<std::uint32_t>(digit - '0');
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
        result.high = std::min<std::uint64_t>(type.integer_max(), 2'147'483'647);
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
    case v1::ValueRule::RULE_NOT_SET:
      break;
  }
  constexpr std::uint64_t kMaxTextBytes = 65'535;
  if (result.low > result.high ||
      (result.kind == load::RuleKind::kRandomText && result.high > kMaxTextBytes)) {
    return InvalidArgument("a value's range {}..{} cannot be used", result.low, result.high);
  }
  return result;
}

StatusOr<TablePlan> MakeTablePlan(const v1::Table& table, std::uint64_t seed) {
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
      schema.key_column = static_cast<std::uint32_t>(schema.columns.size());
      rule->kind = load::RuleKind::kKey;
    }
    schema.columns.push_back({column.name(), *std::move(type), column.nullable()});
    plan.rules.push_back(*std::move(rule));
  }
  if (!has_key) {
    return InvalidArgument("{}: primary_key '{}' is not among its columns", table.name(),
                           table.primary_key());
  }
  return plan;
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
    case v1::OperationSpec::KIND_NOT_SET:
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
    case v1::OperationSpec::KIND_NOT_SET:
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
  if (set.operations.size() > 65'535) return InvalidArgument("more than 65,535 operations");
  return set;
}

StatusOr<std::unique_ptr<run::LoadPlan>> MakeLoadPlan(const v1::Assignment& assignment,
                                                      std::uint32_t workers, run::LoopKind loop) {
  auto plan = std::make_unique<run::LoadPlan>();
  const v1::Workload& workload = assignment.workload();
  const v1::Load& load = workload.load();
  CAVALRY_ASSIGN_OR_RETURN(TargetPlan target, MakeTargetPlan(workload, assignment.target()));
  plan->driver = target.driver;
  plan->settings = std::move(target.settings);
  plan->sessions = assignment.sessions();
  plan->first_session = assignment.first_session();
  plan->total_sessions = std::max<std::uint32_t>(load.sessions(), 1);
  if (std::uint64_t{plan->first_session} + plan->sessions > plan->total_sessions) {
    return InvalidArgument("sessions {} to {} are not among {}", plan->first_session,
                           plan->first_session + plan->sessions, plan->total_sessions);
  }
  const v1::Numbers& numbers = assignment.numbers();
  plan->numbers = {numbers.first(), std::max<std::uint64_t>(numbers.stride(), 1), std::nullopt,
                   numbers.warmup_first(), numbers.warmup_stride()};
  if (numbers.has_count()) plan->numbers.count = numbers.count();
  plan->next_version = std::max<std::uint64_t>(assignment.next_version(), 1);
  plan->warmup = static_cast<Nanos>(load.warmup());
  if (load.stop_after().has_duration()) {
    plan->duration = static_cast<Nanos>(load.stop_after().duration());
  } else if (!numbers.has_count()) {
    return InvalidArgument("the load has no end: neither a duration nor a count");
  }
  if (load.has_operation_timeout()) {
    plan->operation_timeout = static_cast<Nanos>(load.operation_timeout());
  }
  if (load.has_connect_timeout()) {
    plan->connect_timeout = static_cast<Nanos>(load.connect_timeout());
  }
  if (load.has_drain_timeout()) plan->drain_timeout = static_cast<Nanos>(load.drain_timeout());
  plan->pipeline = std::max<std::uint32_t>(load.pipeline(), 1);
  if (plan->pipeline > 1 && !plan->driver->pipelines()) {
    return InvalidArgument(
        "{}: the {} driver sends one operation at a time; load.pipeline must be 1",
        assignment.target(), plan->driver->kind());
  }
  if (assignment.connect_rate() > 0) plan->connect_rate = assignment.connect_rate();
  plan->workers = std::max<std::uint32_t>(workers, 1);
  plan->loop = loop;
  plan->keep_ledger = assignment.audit();
  CAVALRY_RETURN_IF_ERROR(BuildRecipes(assignment, plan.get()));
  return plan;
}

}  // namespace cavalry::agent
