#include "agent/phases/row_probe.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "agent/load/row_generator.h"
#include "agent/table_plan.h"
#include "core/base/units.h"
#include "drivers/core/blocking_channel.h"

namespace cavalry::agent {
namespace {

// Rows are counted to know whether a table is filled, which takes too long for larger ones.
constexpr std::uint64_t kMostRows = 2'000'000;
constexpr std::size_t kMostShown = 60;  // bytes of a value in a warning

struct ProbedRow {
  std::vector<std::string> texts;
  std::vector<bool> nulls;
};
using ProbedRows = std::map<std::uint64_t, ProbedRow>;

ProbedRow Copy(std::span<const drivers::Field> fields) {
  ProbedRow row;
  for (const drivers::Field& field : fields) {
    row.texts.emplace_back(field.text);
    row.nulls.push_back(field.is_null);
  }
  return row;
}

class Keeper final : public drivers::RowVisitor {
 public:
  void OnRow(std::span<const drivers::Field> fields) override { row = Copy(fields); }
  ProbedRow row;
};

// Over a codec's connection, as the load goes.
Status ReadOverCodec(const TargetPlan& target, const drivers::CodecFactory& factory,
                     const drivers::OperationPlan& read, std::span<const std::uint64_t> keys,
                     const drivers::ClientConfig& config, ProbedRows* rows) {
  const std::unique_ptr<drivers::Router> router = factory.NewRouter();
  for (const std::uint64_t key : keys) {
    Keeper keeper;
    drivers::Operation operation;
    operation.plan = &read;
    operation.key = drivers::Key(drivers::Value::Unsigned(key));
    operation.rows = &keeper;
    const std::size_t endpoint = router->First(operation);
    CAVALRY_ASSIGN_OR_RETURN(
        const auto channel,
        drivers::BlockingChannel::Open(factory.endpoints()[endpoint], factory.NewCodec(endpoint),
                                       config.connect_timeout, config.operation_timeout));
    const drivers::OpResult result = channel->Run(operation);
    if (result.outcome == Outcome::kOk) {
      (*rows)[key] = std::move(keeper.row);
    } else if (result.outcome != Outcome::kMiss) {
      return Unavailable("{}: {} {}", target.name, result.code, result.text);
    }
  }
  return absl::OkStatus();
}

StatusOr<ProbedRows> ReadRows(const TargetPlan& target, const drivers::TableSchema& table,
                              std::span<const std::uint64_t> keys, drivers::Admin* admin) {
  drivers::OperationPlan read;
  read.name = table.name;
  read.table = &table;
  read.columns.resize(table.columns.size());
  std::iota(read.columns.begin(), read.columns.end(), 0U);
  const std::vector<drivers::OperationPlan> plans = {read};
  ProbedRows rows;
  drivers::ClientConfig config;
  config.settings = &target.settings;
  config.operations = &plans;
  if (!target.driver->Check(target.settings, plans).ok()) return rows;
  CAVALRY_ASSIGN_OR_RETURN(const drivers::ClientFactory factory,
                           target.driver->NewClientFactory(config));
  if (const auto* codecs = std::get_if<std::unique_ptr<drivers::CodecFactory>>(&factory)) {
    CAVALRY_RETURN_IF_ERROR(ReadOverCodec(target, **codecs, plans.front(), keys, config, &rows));
    return rows;
  }
  // A client library: its administration speaks the same protocol.
  CAVALRY_RETURN_IF_ERROR(admin->ReadRows(
      table, keys, read.columns, [&](std::uint64_t key, std::span<const drivers::Field> fields) {
        rows[key] = Copy(fields);
      }));
  return rows;
}

std::string Shown(bool is_null, std::string_view text) {
  if (is_null) return "NULL";
  std::string shown(text.substr(0, kMostShown));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '.');
  return "'" + shown + (text.size() > kMostShown ? "...'" : "'");
}

std::string Shown(const drivers::Value& value) {
  switch (value.kind) {
    case drivers::Value::Kind::kNull:
      return "NULL";
    case drivers::Value::Kind::kInteger:
      return fmt::format("'{}'", value.integer);
    case drivers::Value::Kind::kUnsigned:
      return fmt::format("'{}'", static_cast<std::uint64_t>(value.integer));
    default:
      return Shown(false, value.text);
  }
}

// The first difference; "" when the row is as the seed gives it.
std::string Difference(const drivers::TableSchema& table, const load::RowGenerator& generator,
                       std::uint64_t key, const ProbedRows& rows) {
  const auto found = rows.find(key);
  if (found == rows.end()) return fmt::format("row {} of {} is not there", key, table.name);
  const ProbedRow& row = found->second;
  load::RowBuffer expected;
  generator.Generate(key, 0, &expected);
  for (std::size_t i = 0; i < table.columns.size() && i < row.texts.size(); ++i) {
    const drivers::Column& column = table.columns[i];
    if (!column.server_sql.empty()) continue;  // nobody knows it
    const drivers::Field field{row.nulls[i], row.texts[i]};
    if (load::Matches(expected.values()[i], column.type, field)) continue;
    return fmt::format("row {} of {}: column '{}' holds {}, and the seed gives {}", key, table.name,
                       column.name, Shown(field.is_null, field.text), Shown(expected.values()[i]));
  }
  return "";
}

}  // namespace

Status ProbeRows(const PhaseContext& context, const TargetPlan& target, drivers::Admin* admin,
                 v1::PhaseDone* done) {
  const v1::Workload& workload = context.order.workload();
  if (workload.reset() == v1::RESET_NEVER) return absl::OkStatus();
  for (const v1::Table& spec : workload.tables()) {
    CAVALRY_RETURN_IF_ERROR(context.CheckStop());
    CAVALRY_ASSIGN_OR_RETURN(TablePlan table, MakeTablePlan(spec, workload.seed()));
    const drivers::TableSchema& schema = *table.schema;
    if (schema.use_as_is || !schema.key_is_number || schema.rows == 0 || schema.rows > kMostRows) {
      continue;
    }
    const auto info = admin->Describe(schema);
    // What stands in the way is told by the reset.
    if (!info.ok() || !info->filled) continue;
    const std::array<std::uint64_t, 3> keys = {1, (schema.rows + 1) / 2, schema.rows};
    const auto rows = ReadRows(target, schema, keys, admin);
    if (!rows.ok()) return Annotate(rows.status(), target.name);
    std::vector<std::uint32_t> columns(schema.columns.size());
    std::iota(columns.begin(), columns.end(), 0U);
    CAVALRY_ASSIGN_OR_RETURN(
        const load::RowGenerator generator,
        MakeGenerator(schema, std::move(columns), std::move(table.rules), workload.seed()));
    bool different = false;
    for (const std::uint64_t key : keys) {
      const std::string difference = Difference(schema, generator, key, *rows);
      if (difference.empty()) continue;
      different = true;
      done->add_warnings(fmt::format(
          "{}: {}: other targets may return other rows; drop the table, and it is filled anew",
          target.name, difference));
      break;
    }
    if (different) continue;
    v1::NameValue* const told = done->add_server();
    told->set_name("rows_as_filled");
    told->set_value(fmt::format("{} (of {})", schema.name, FormatCount(schema.rows)));
  }
  return absl::OkStatus();
}

}  // namespace cavalry::agent
