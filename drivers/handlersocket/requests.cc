#include "drivers/handlersocket/requests.h"

#include <algorithm>
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

// HandlerSocket protocol.en.txt, "Getting data" and "Inserting data". A find without limit and
// offset returns at most one row.
std::string Head(const OperationPlan& plan, std::uint32_t index_id) {
  if (plan.kind == OperationKind::kInsert) {
    return fmt::format("{}\t+\t{}", index_id, plan.columns.size());
  }
  return fmt::format("{}\t=\t1\t", index_id);
}

// HandlerSocket protocol.en.txt, "Updating/Deleting data": a modification needs limit and offset.
std::string_view Tail(OperationKind kind) {
  switch (kind) {
    case OperationKind::kRead:
      return "\n";
    case OperationKind::kUpdate:
      return "\t1\t0\tU";
    case OperationKind::kDelete:
      return "\t1\t0\tD\n";
    default:
      break;
  }
  return "";
}

// The columns that open_index names: those the plan returns or sets. A delete needs none, but an
// index is not opened without any.
std::string ColumnList(const OperationPlan& plan) {
  const TableSchema& table = *plan.table;
  if (plan.columns.empty()) return table.key_column().name;
  std::string list;
  for (const std::uint32_t column : plan.columns) {
    if (!list.empty()) list += ',';
    list += table.columns[column].name;
  }
  return list;
}

}  // namespace

PlanRequest::PlanRequest(const OperationPlan& of, std::uint32_t id)
    : plan(&of),
      index_id(id),
      kind(of.kind),
      columns(static_cast<std::uint32_t>(of.columns.size())),
      head(Shorten<kHeadBytes>(Head(of, id))),
      tail(Shorten<kTailBytes>(Tail(of.kind))),
      key(of.table->key_column()) {
  if (kind != OperationKind::kInsert && kind != OperationKind::kUpdate) return;
  for (const std::uint32_t column : of.columns) values.emplace_back(of.table->columns[column]);
}

EndpointRequests::EndpointRequests(Port port, std::string label, std::string_view database,
                                   std::string_view secret, const std::vector<OperationPlan>& plans)
    : port_(port), label_(std::move(label)), database_(database), sends_secret_(!secret.empty()) {
  if (sends_secret_) handshake_ = fmt::format("A\t1\t{}\n", secret);
  for (const OperationPlan& plan : plans) {
    CAVALRY_CHECK(plan.index == ids_.size());
    if (PortOf(plan.kind) != port) {
      ids_.push_back(kNotHere);
      continue;
    }
    const auto id = static_cast<std::uint32_t>(opened_.size());
    handshake_ += fmt::format("P\t{}\t{}\t{}\tPRIMARY\t{}\n", id, database_, plan.table->name,
                              ColumnList(plan));
    opened_.emplace_back(plan, id);
    ids_.push_back(id);
  }
}

const OperationPlan* EndpointRequests::HandshakePlan(std::size_t answer) const {
  if (!sends_secret_) return opened_[answer].plan;
  return answer == 0 ? nullptr : opened_[answer - 1].plan;
}

const PlanRequest& EndpointRequests::Find(const OperationPlan& plan) const {
  CAVALRY_CHECK(plan.index < ids_.size() && ids_[plan.index] != kNotHere);
  return opened_[ids_[plan.index]];
}

}  // namespace cavalry::drivers::handlersocket
