#include "drivers/handlersocket/requests.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/handlersocket/tokens.h"

namespace cavalry::drivers::handlersocket {
namespace {

template <std::size_t kBytes>
ShortBytes<kBytes> Shorten(std::string_view text) {
  CAVALRY_CHECK(text.size() <= kBytes);
  ShortBytes<kBytes> result;
  std::copy(text.begin(), text.end(), result.bytes.begin());
  result.size = static_cast<std::uint32_t>(text.size());
  return result;
}

std::string_view ComparisonToken(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return "=";
    case Comparison::kGreater:
      return ">";
    case Comparison::kGreaterEqual:
      return ">=";
    case Comparison::kLess:
      return "<";
    case Comparison::kLessEqual:
      return "<=";
    case Comparison::kNotEqual:
      break;
  }
  return "!=";
}

bool IsKeyList(const OperationPlan& plan) {
  return plan.kind == OperationKind::kMultiRead && plan.table->key_columns.size() == 1;
}

// The columns whose values an operation's key has.
const std::vector<std::uint32_t>& KeyColumns(const OperationPlan& plan) {
  return plan.kind == OperationKind::kScan ? plan.scan.columns : plan.table->key_columns;
}

// The columns that filters look at, each once.
std::vector<std::uint32_t> FilterColumns(const OperationPlan& plan) {
  std::vector<std::uint32_t> columns;
  for (const Filter& filter : plan.scan.filters) {
    if (std::find(columns.begin(), columns.end(), filter.column) == columns.end()) {
      columns.push_back(filter.column);
    }
  }
  return columns;
}

std::string ColumnList(const TableSchema& table, const std::vector<std::uint32_t>& columns) {
  std::string list;
  for (const std::uint32_t column : columns) {
    if (!list.empty()) list += ',';
    list += table.columns[column].name;
  }
  return list;
}

std::string AsToken(std::string_view value) {
  ByteBuffer token;
  const bool appended = AppendToken(value, token);
  CAVALRY_CHECK(appended);
  return std::string(token.view());
}

// HandlerSocket protocol.en.txt, "Getting data" and "Inserting data"; its IN and filters stand in
// the plugin's hstcpsvr_worker.cpp. A find without limit and offset returns at most one row.
std::string Head(const OperationPlan& plan, std::uint32_t index_id) {
  if (plan.kind == OperationKind::kInsert) {
    return fmt::format("{}\t+\t{}", index_id, plan.columns.size());
  }
  if (IsKeyList(plan)) {
    // The key itself is never looked at: each value of the list replaces it in turn.
    return fmt::format("{}\t=\t1\t\t{}\t0\t@\t0\t{}", index_id, plan.batch, plan.batch);
  }
  const Comparison comparison =
      plan.kind == OperationKind::kScan ? plan.scan.comparison : Comparison::kEqual;
  return fmt::format("{}\t{}\t{}\t", index_id, ComparisonToken(comparison),
                     KeyColumns(plan).size());
}

std::string ScanTail(const OperationPlan& plan) {
  const ScanPlan& scan = plan.scan;
  std::string tail = fmt::format("\t{}\t{}", scan.limit, scan.offset);
  if (!scan.in.empty()) {
    tail += fmt::format("\t@\t0\t{}", scan.in.size());
    for (const std::uint64_t number : scan.in) tail += fmt::format("\t{}", number);
  }
  const std::vector<std::uint32_t> columns = FilterColumns(plan);
  for (const Filter& filter : scan.filters) {
    const auto column = std::find(columns.begin(), columns.end(), filter.column) - columns.begin();
    tail += fmt::format("\t{}\t{}\t{}\t{}", filter.ends_scan ? 'W' : 'F',
                        ComparisonToken(filter.comparison), column,
                        filter.is_null ? std::string(1, kNullToken) : AsToken(filter.value));
  }
  return tail + kLineEnd;
}

// HandlerSocket protocol.en.txt, "Updating/Deleting data": a modification needs limit and offset.
std::string Tail(const OperationPlan& plan) {
  const char* const returning = plan.returning ? "?" : "";
  switch (plan.kind) {
    case OperationKind::kRead:
    case OperationKind::kMultiRead:
      return "\n";
    case OperationKind::kScan:
      return ScanTail(plan);
    case OperationKind::kUpdate:
      return fmt::format("\t1\t0\tU{}", returning);
    case OperationKind::kDelete:
      return fmt::format("\t1\t0\tD{}\n", returning);
    case OperationKind::kIncrement: {
      const bool adds = plan.amount >= 0;
      return fmt::format("\t1\t0\t{}{}\t{}\n", adds ? '+' : '-', returning,
                         adds ? plan.amount : -plan.amount);
    }
    default:
      break;
  }
  return "";
}

AnswerForm AnswerOf(const OperationPlan& plan) {
  if (plan.kind == OperationKind::kInsert) return AnswerForm::kInserted;
  return IsWrite(plan.kind) && !plan.returning ? AnswerForm::kCount : AnswerForm::kRows;
}

std::uint32_t LinesOf(const OperationPlan& plan) {
  const bool has_batch =
      plan.kind == OperationKind::kInsert || plan.kind == OperationKind::kMultiRead;
  return has_batch && !IsKeyList(plan) ? plan.batch : 1;
}

}  // namespace

std::vector<std::uint32_t> OpenColumns(const OperationPlan& plan) {
  if (!plan.columns.empty()) return plan.columns;
  if (!plan.returning) return {plan.table->key_columns.front()};
  std::vector<std::uint32_t> all(plan.table->columns.size());
  std::iota(all.begin(), all.end(), std::uint32_t{0});
  return all;
}

PlanRequest::PlanRequest(const OperationPlan& of, std::uint32_t index_id)
    : plan(&of),
      kind(of.kind),
      answer(AnswerOf(of)),
      values_are_keys(IsKeyList(of)),
      lines(LinesOf(of)),
      columns(static_cast<std::uint32_t>(OpenColumns(of).size())),
      head(Head(of, index_id)),
      tail(Tail(of)) {
  const TableSchema& table = *of.table;
  const auto rule_of = [&table](std::uint32_t column) {
    return ColumnRule(table.columns[column], table.charset);
  };
  if (values_are_keys) {
    values.assign(of.batch, rule_of(table.key_columns.front()));
    return;
  }
  if (kind == OperationKind::kInsert || kind == OperationKind::kUpdate) {
    for (const std::uint32_t column : of.columns) values.push_back(rule_of(column));
  }
  if (kind == OperationKind::kInsert) return;
  for (const std::uint32_t column : KeyColumns(of)) keys.push_back(rule_of(column));
  is_short = lines == 1 && keys.size() == 1 && keys.front().kind == ColumnType::Kind::kInteger &&
             head.size() <= kHeadBytes && tail.size() <= kTailBytes;
  if (!is_short) return;
  short_head = Shorten<kHeadBytes>(head);
  short_tail = Shorten<kTailBytes>(tail);
}

EndpointRequests::EndpointRequests(Port port, std::string label, std::string_view database,
                                   std::string_view secret, const std::vector<OperationPlan>& plans)
    : port_(port), label_(std::move(label)), database_(database), sends_secret_(!secret.empty()) {
  if (sends_secret_) handshake_ = fmt::format("A\t1\t{}\n", secret);
  for (const OperationPlan& plan : plans) {
    CAVALRY_CHECK(plan.index == numbers_.size());
    if (PortOf(plan.kind) != port) {
      numbers_.push_back(kNotHere);
      continue;
    }
    numbers_.push_back(static_cast<std::uint32_t>(requests_.size()));
    requests_.emplace_back(plan, Open(plan));
  }
}

std::uint32_t EndpointRequests::Open(const OperationPlan& plan) {
  const TableSchema& table = *plan.table;
  std::string what = fmt::format("{}\t{}\t{}\t{}", database_, table.name,
                                 plan.scan.index.empty() ? "PRIMARY" : plan.scan.index,
                                 ColumnList(table, OpenColumns(plan)));
  if (!plan.scan.filters.empty()) what += '\t' + ColumnList(table, FilterColumns(plan));
  for (std::size_t id = 0; id < opened_.size(); ++id) {
    if (opened_[id].what == what) return static_cast<std::uint32_t>(id);
  }
  const auto id = static_cast<std::uint32_t>(opened_.size());
  handshake_ += fmt::format("P\t{}\t{}\n", id, what);
  opened_.push_back({std::move(what), &plan});
  return id;
}

const OperationPlan* EndpointRequests::HandshakePlan(std::size_t answer) const {
  if (!sends_secret_) return opened_[answer].plan;
  return answer == 0 ? nullptr : opened_[answer - 1].plan;
}

std::uint32_t EndpointRequests::Find(const OperationPlan& plan) const {
  CAVALRY_CHECK(plan.index < numbers_.size() && numbers_[plan.index] != kNotHere);
  return numbers_[plan.index];
}

}  // namespace cavalry::drivers::handlersocket
