// Statements with their values inside. See statement.h.
#include "drivers/cassandra/cql_literal.h"
#include "drivers/cassandra/cql_text.h"
#include "drivers/cassandra/statement.h"

namespace cavalry::drivers::cassandra {
namespace {

bool AppendParameter(const StatementPlan& plan, const Parameter& parameter, std::size_t shift,
                     const Operation& operation, ByteBuffer& out) {
  if (parameter.source == Parameter::Source::kFixed) {
    // Filters are literals of the statement already.
    return false;
  }
  const std::span<const Value> values =
      parameter.source == Parameter::Source::kKey ? operation.key.values() : operation.values;
  const std::size_t index = parameter.index + shift;
  if (index >= values.size()) return false;
  if (plan.operation->kind == OperationKind::kNative) {
    AppendUntyped(values[index], out);
    return true;
  }
  return AppendLiteral(parameter.type, values[index], out);
}

// `shift`: where the row's values begin among the operation's.
bool AppendRow(const StatementPlan& plan, std::size_t shift, const Operation& operation,
               ByteBuffer& out) {
  const std::string_view cql = plan.cql;
  std::size_t begin = 0;
  for (const Parameter& parameter : plan.parameters) {
    const std::size_t mark = NextMark(cql, begin);
    if (mark == std::string_view::npos) return false;
    out.Append(cql.substr(begin, mark - begin));
    if (!AppendParameter(plan, parameter, shift, operation, out)) return false;
    begin = mark + 1;
  }
  out.Append(cql.substr(begin));
  return true;
}

bool AppendBatch(const StatementPlan& plan, const Operation& operation, ByteBuffer& out) {
  out.Append(plan.logged ? "BEGIN BATCH " : "BEGIN UNLOGGED BATCH ");
  for (std::uint32_t row = 0; row < plan.operation->batch; ++row) {
    if (!AppendRow(plan, row * plan.parameters.size(), operation, out)) return false;
    out.Append("; ");
  }
  out.Append("APPLY BATCH");
  return true;
}

}  // namespace

bool AppendText(const StatementPlan& plan, const Operation& operation, ByteBuffer& out) {
  const std::size_t begin = out.size();
  const bool is_whole =
      plan.is_batch ? AppendBatch(plan, operation, out) : AppendRow(plan, 0, operation, out);
  if (!is_whole) out.Truncate(begin);
  return is_whole;
}

}  // namespace cavalry::drivers::cassandra
