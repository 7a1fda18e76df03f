#include <algorithm>

#include "coordinator/report/thresholds.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/clock.h"
#include "core/base/column_type.h"

namespace cavalry::spec {
namespace {

constexpr std::string_view kDefaultAlphabet =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ";
// Without a rule, a text or varchar(65535) column gets no more than this: a default should not make
// rows that are all one column.
constexpr std::uint64_t kMaxDefaultLength = 1024;
constexpr std::uint64_t kMaxDefaultInteger = 2'147'483'647;
constexpr double kDefaultTheta = 0.99;

bool IsTextual(const ColumnType& type) {
  return type.is_text() || type.kind == ColumnType::Kind::kVarbinary;
}

// ---- targets

void FillMysql(v1::Mysql* mysql) {
  if (mysql->host().empty()) mysql->set_host("127.0.0.1");
  if (mysql->port() == 0) mysql->set_port(3306);
  if (mysql->transport() == v1::TRANSPORT_UNSPECIFIED) mysql->set_transport(v1::TRANSPORT_TCP);
  if (mysql->user().empty()) mysql->set_user("root");
  if (mysql->statements() == v1::STATEMENTS_UNSPECIFIED) {
    mysql->set_statements(v1::STATEMENTS_TEXT);
  }
}

void FillHandlersocket(const v1::Workload& workload, const std::string& owner,
                       v1::Handlersocket* options) {
  if (options->host().empty()) options->set_host("127.0.0.1");
  if (options->port() == 0) options->set_port(9998);
  if (options->write_port() == 0) options->set_write_port(9999);
  if (!options->has_write_secret() && options->has_secret()) {
    *options->mutable_write_secret() = options->secret();
  }
  if (!options->database().empty()) return;
  for (const v1::Target& target : workload.targets()) {
    if (target.name() == owner) options->set_database(target.mysql().database());
  }
}

void FillTargets(v1::Workload* workload) {
  for (v1::Target& target : *workload->mutable_targets()) {
    if (target.tables_of().empty()) target.set_tables_of(target.name());
    if (!target.has_load()) target.set_load(true);
    if (target.has_mysql()) FillMysql(target.mutable_mysql());
    if (target.has_handlersocket()) {
      FillHandlersocket(*workload, target.tables_of(), target.mutable_handlersocket());
    }
  }
}

// ---- tables

void FillRule(const ColumnType& type, v1::ValueRule* rule) {
  if (rule->has_random_text()) {
    v1::RandomText* text = rule->mutable_random_text();
    if (!text->has_length()) {
      const std::uint64_t longest = std::min<std::uint64_t>(type.length, kMaxDefaultLength);
      text->mutable_length()->set_first(std::max<std::uint64_t>(longest / 2, 1));
      text->mutable_length()->set_last(longest);
    }
    if (text->alphabet().empty()) text->set_alphabet(std::string(kDefaultAlphabet));
  }
  if (rule->has_random_int() && !rule->random_int().has_range()) {
    v1::Range* range = rule->mutable_random_int()->mutable_range();
    range->set_first(0);
    range->set_last(type.is_integer()
                        ? std::min<std::uint64_t>(type.integer_max(), kMaxDefaultInteger)
                        : kMaxDefaultInteger);
  }
}

void FillTables(v1::Workload* workload) {
  for (v1::Table& table : *workload->mutable_tables()) {
    if (table.existing() == v1::EXISTING_UNSPECIFIED) table.set_existing(v1::EXISTING_REFUSE);
    if (table.engine().empty()) table.set_engine("InnoDB");
    for (v1::ColumnSpec& column : *table.mutable_columns()) {
      if (column.name() == table.primary_key()) continue;  // its value is the key
      const StatusOr<ColumnType> type = ParseColumnType(column.type());
      if (!type.ok()) continue;
      if (column.value().rule_case() == v1::ValueRule::RULE_NOT_SET) {
        // Decimals, dates and times have rules of their own that no message states.
        column.clear_value();
        if (IsTextual(*type)) column.mutable_value()->mutable_random_text();
        if (type->is_integer()) column.mutable_value()->mutable_random_int();
      }
      if (column.has_value()) FillRule(*type, column.mutable_value());
    }
  }
}

// ---- operations

const v1::Table* FindTable(const v1::Workload& workload, const std::string& name) {
  for (const v1::Table& table : workload.tables()) {
    if (table.name() == name) return &table;
  }
  return nullptr;
}

const v1::ColumnSpec* FindColumn(const v1::Table& table, const std::string& name) {
  for (const v1::ColumnSpec& column : table.columns()) {
    if (column.name() == name) return &column;
  }
  return nullptr;
}

void FillRange(const v1::Table& table, v1::Range* range) {
  range->set_first(1);
  range->set_last(table.rows());
}

void FillKeys(const v1::Table& table, bool sequential, v1::Keys* keys) {
  if (keys->sequence_case() == v1::Keys::SEQUENCE_NOT_SET) {
    if (sequential) {
      keys->mutable_sequential();
    } else {
      keys->mutable_uniform();
    }
  }
  if (keys->has_sequential() && !keys->sequential().has_range()) {
    FillRange(table, keys->mutable_sequential()->mutable_range());
  }
  if (keys->has_uniform() && !keys->uniform().has_range()) {
    FillRange(table, keys->mutable_uniform()->mutable_range());
  }
  if (keys->has_zipf()) {
    if (!keys->zipf().has_theta()) keys->mutable_zipf()->set_theta(kDefaultTheta);
    if (!keys->zipf().has_range()) FillRange(table, keys->mutable_zipf()->mutable_range());
  }
}

void FillSet(const v1::Table& table, v1::SetColumn* set) {
  const v1::ColumnSpec* column = FindColumn(table, set->column());
  if (column == nullptr) return;
  if (set->value().rule_case() == v1::ValueRule::RULE_NOT_SET) {
    set->clear_value();
    if (column->has_value()) *set->mutable_value() = column->value();
    return;
  }
  const StatusOr<ColumnType> type = ParseColumnType(column->type());
  if (type.ok()) FillRule(*type, set->mutable_value());
}

// Gives the operation its table, when the spec has only one. Null if there is none.
const v1::Table* FillTable(const v1::Workload& workload, std::string* name) {
  if (name->empty() && workload.tables_size() == 1) *name = workload.tables(0).name();
  return FindTable(workload, *name);
}

void FillOperation(const v1::Workload& workload, v1::OperationSpec* operation) {
  if (operation->has_read()) {
    v1::Read* read = operation->mutable_read();
    if (read->verify() == v1::VERIFY_UNSPECIFIED) read->set_verify(v1::VERIFY_SAMPLED);
    const v1::Table* table = FillTable(workload, read->mutable_table());
    if (table == nullptr) return;
    FillKeys(*table, false, read->mutable_keys());
    if (read->columns_size() > 0) return;
    for (const v1::ColumnSpec& column : table->columns()) read->add_columns(column.name());
  } else if (operation->has_insert()) {
    FillTable(workload, operation->mutable_insert()->mutable_table());
  } else if (operation->has_update()) {
    v1::Update* update = operation->mutable_update();
    const v1::Table* table = FillTable(workload, update->mutable_table());
    if (table == nullptr) return;
    FillKeys(*table, false, update->mutable_keys());
    for (v1::SetColumn& set : *update->mutable_set()) FillSet(*table, &set);
  } else if (operation->has_delete_()) {
    v1::Delete* remove = operation->mutable_delete_();
    const v1::Table* table = FillTable(workload, remove->mutable_table());
    if (table != nullptr) FillKeys(*table, true, remove->mutable_keys());
  }
}

void FillScript(v1::Workload* workload) {
  v1::Script* script = workload->mutable_script();
  if (script->steps_size() == 0) {
    for (const v1::OperationSpec& operation : workload->operations()) {
      script->add_steps()->set_operation(operation.name());
    }
  }
  for (v1::ScriptStep& step : *script->mutable_steps()) {
    if (!step.has_repeat()) step.set_repeat(1);
  }
  if (!script->name().empty()) return;
  script->set_name(script->steps_size() == 1 ? script->steps(0).operation() : "script");
}

// ---- the run

void FillLoad(v1::Load* load) {
  if (!load->has_sessions()) load->set_sessions(1);
  if (!load->has_warmup()) load->set_warmup(5 * kSecond);
  v1::StopAfter* stop = load->mutable_stop_after();
  if (!stop->has_duration() && !stop->has_iterations() && !stop->has_passes()) {
    stop->set_duration(30 * kSecond);
  }
  if (!load->has_operation_timeout()) load->set_operation_timeout(10 * kSecond);
  if (!load->has_connect_timeout()) load->set_connect_timeout(5 * kSecond);
  if (!load->has_drain_timeout()) load->set_drain_timeout(5 * kSecond);
  if (!load->has_pipeline()) load->set_pipeline(1);
  if (!load->has_connect_rate()) load->set_connect_rate(2'000);
}

void FillThresholds(v1::Workload* workload) {
  for (const std::string& text : workload->thresholds()) {
    const StatusOr<report::Threshold> threshold = report::ParseThreshold(text);
    if (threshold.ok() && threshold->metric == report::Threshold::Metric::kFailed) return;
  }
  workload->add_thresholds("failed < 1%");
}

void FillRun(v1::Workload* workload) {
  if (workload->name().empty()) workload->set_name("unnamed");
  const auto loaded =
      std::count_if(workload->targets().begin(), workload->targets().end(), IsLoaded);
  if (!workload->has_rounds()) workload->set_rounds(loaded > 1 ? 2 : 1);
  if (workload->order() == v1::ORDER_UNSPECIFIED) workload->set_order(v1::ORDER_MIRRORED);
  v1::Compare* compare = workload->mutable_compare();
  if (compare->metric() == v1::METRIC_UNSPECIFIED) compare->set_metric(v1::METRIC_THROUGHPUT);
  if (compare->targets_size() == 0) {
    for (const v1::Target& target : workload->targets()) {
      if (IsLoaded(target)) compare->add_targets(target.name());
    }
  }
  if (workload->reset() == v1::RESET_UNSPECIFIED) workload->set_reset(v1::RESET_RUN);
  if (workload->cleanup() == v1::CLEANUP_UNSPECIFIED) workload->set_cleanup(v1::CLEANUP_KEEP);
  if (!workload->has_seed()) workload->set_seed(42);
  v1::Audit* audit = workload->mutable_audit();
  if (!audit->has_enabled()) audit->set_enabled(ScriptWrites(*workload));
  if (!audit->has_list()) audit->set_list(10);
}

}  // namespace

void ApplyDefaults(v1::Workload* workload) {
  FillTargets(workload);
  FillTables(workload);
  for (v1::OperationSpec& operation : *workload->mutable_operations()) {
    FillOperation(*workload, &operation);
  }
  FillScript(workload);
  FillLoad(workload->mutable_load());
  FillThresholds(workload);
  FillRun(workload);
}

}  // namespace cavalry::spec
