#include <algorithm>

#include "coordinator/report/thresholds.h"
#include "coordinator/spec/checker.h"
#include "coordinator/spec/default_parts.h"
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
constexpr Nanos kDefaultReady = 60 * kSecond;

// ---- targets

void FillMysql(v1::Mysql* mysql) {
  if (mysql->host().empty()) mysql->set_host("127.0.0.1");
  if (mysql->port() == 0) mysql->set_port(3306);
  if (mysql->transport() == v1::TRANSPORT_UNSPECIFIED) mysql->set_transport(v1::TRANSPORT_TCP);
  if (mysql->user().empty()) mysql->set_user("root");
  if (mysql->statements() == v1::STATEMENTS_UNSPECIFIED) {
    mysql->set_statements(v1::STATEMENTS_TEXT);
  }
  if (mysql->client() == v1::MYSQL_CLIENT_UNSPECIFIED) {
    mysql->set_client(v1::MYSQL_CLIENT_NONBLOCKING);
  }
  if (mysql->has_tls() && !mysql->tls().has_verify()) mysql->mutable_tls()->set_verify(true);
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

void FillMemcached(v1::Memcached* options) {
  if (options->servers().empty() && options->socket().empty()) {
    if (options->host().empty()) options->set_host("127.0.0.1");
    if (options->port() == 0) options->set_port(11211);
  }
  if (options->protocol() == v1::MEMCACHED_PROTOCOL_UNSPECIFIED) {
    options->set_protocol(v1::MEMCACHED_PROTOCOL_TEXT);
  }
  if (options->key().empty()) options->set_key("cavalry:{table}:{key}");
  if (options->value() == v1::MEMCACHED_VALUE_UNSPECIFIED) {
    options->set_value(v1::MEMCACHED_VALUE_PACKED);
  }
  if (options->has_tls() && !options->tls().has_verify()) options->mutable_tls()->set_verify(true);
}

void FillCassandra(v1::Cassandra* options) {
  if (options->contact_points().empty()) options->add_contact_points("127.0.0.1");
  if (options->port() == 0) options->set_port(9042);
  if (options->replication().empty()) {
    options->set_replication("{'class': 'SimpleStrategy', 'replication_factor': 1}");
  }
  v1::ConsistencyLevels& levels = *options->mutable_consistency();
  if (levels.read() == v1::CONSISTENCY_UNSPECIFIED) levels.set_read(v1::CONSISTENCY_LOCAL_ONE);
  if (levels.write() == v1::CONSISTENCY_UNSPECIFIED) levels.set_write(v1::CONSISTENCY_LOCAL_ONE);
  if (levels.serial() == v1::CONSISTENCY_UNSPECIFIED) levels.set_serial(v1::CONSISTENCY_SERIAL);
  if (options->connections() == 0) options->set_connections(1);
  if (options->compression() == v1::CASSANDRA_COMPRESSION_UNSPECIFIED) {
    options->set_compression(v1::CASSANDRA_COMPRESSION_NONE);
  }
  if (options->statements() == v1::STATEMENTS_UNSPECIFIED) {
    options->set_statements(v1::STATEMENTS_PREPARED);
  }
  if (options->page_size() == 0) options->set_page_size(5000);
  if (options->has_tls() && !options->tls().has_verify()) options->mutable_tls()->set_verify(true);
}

void FillTargets(v1::Workload* workload) {
  for (v1::Target& target : *workload->mutable_targets()) {
    if (target.tables_of().empty()) target.set_tables_of(target.name());
    if (!target.has_load()) target.set_load(true);
    if (target.has_mysql()) FillMysql(target.mutable_mysql());
    if (target.has_memcached()) FillMemcached(target.mutable_memcached());
    if (target.has_cassandra()) FillCassandra(target.mutable_cassandra());
    if (target.has_handlersocket()) {
      FillHandlersocket(*workload, target.tables_of(), target.mutable_handlersocket());
    }
  }
}

// ---- tables

void FillTables(v1::Workload* workload) {
  for (v1::Table& table : *workload->mutable_tables()) {
    if (table.existing() == v1::EXISTING_UNSPECIFIED) table.set_existing(v1::EXISTING_REFUSE);
    if (table.engine().empty()) table.set_engine("InnoDB");
    for (v1::ColumnSpec& column : *table.mutable_columns()) {
      const StatusOr<ColumnType> type = ParseColumnType(column.type());
      if (!type.ok()) continue;
      if (column.value().rule_case() == v1::ValueRule::RULE_NOT_SET) {
        column.clear_value();
        if (IsKeyColumn(table, column.name())) continue;  // the row's number
        // Decimals, dates, binaries and the like have rules of their own that no message states.
        if (type->is_text()) column.mutable_value()->mutable_random_text();
        if (type->is_integer()) column.mutable_value()->mutable_random_int();
      }
      if (column.has_value()) FillRule(*type, column.mutable_value());
    }
  }
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
  if (!load->has_retries()) load->set_retries(0);
  if (load->connections() == v1::CONNECTION_USE_UNSPECIFIED) {
    load->set_connections(v1::CONNECTION_USE_KEPT);
  }
  if (!load->has_think_time()) load->set_think_time(0);
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
  if (!audit->has_enabled()) audit->set_enabled(HasAuditedWrites(*workload));
  if (!audit->has_list()) audit->set_list(10);
}

void FillCommands(v1::Workload* workload) {
  for (v1::Command& command : *workload->mutable_commands()) {
    if (!command.has_ready_within()) command.set_ready_within(kDefaultReady);
  }
}

}  // namespace

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
    range->set_last(kMaxDefaultInteger);
    if (type.is_integer()) range->set_last(std::min(type.integer_max(), kMaxDefaultInteger));
    if (type.is_boolean) range->set_last(1);
  }
}

void ApplyDefaults(v1::Workload* workload) {
  FillTargets(workload);
  FillTables(workload);
  FillOperations(workload);
  FillScripts(workload);
  FillLoad(workload->mutable_load());
  FillStageLoads(workload);
  FillCommands(workload);
  FillThresholds(workload);
  FillRun(workload);
}

}  // namespace cavalry::spec
