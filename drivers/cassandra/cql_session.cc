#include "drivers/cassandra/cql_session.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/cassandra/cassandra_codec.h"

namespace cavalry::drivers::cassandra {
namespace {

class Visitor final : public RowVisitor {
 public:
  explicit Visitor(const RowFunction* visit) : visit_(visit) {}
  void OnRow(std::span<const Field> fields) override {
    if (*visit_) (*visit_)(fields);
  }

 private:
  const RowFunction* visit_;
};

}  // namespace

Status ResultStatus(std::string_view label, const OpResult& result) {
  if (result.outcome == Outcome::kOk || result.outcome == Outcome::kMiss) return absl::OkStatus();
  const std::string text = fmt::format("{}: {} {}", label, result.code, result.text);
  if (result.outcome == Outcome::kTimeout) return DeadlineExceeded("{}", text);
  if (result.outcome == Outcome::kRejected) return FailedPrecondition("{}", text);
  return Unavailable("{}", text);
}

StatusOr<std::unique_ptr<CqlSession>> CqlSession::Open(const Endpoint& endpoint,
                                                       const ConnectPlan& plan) {
  std::unique_ptr<CqlSession> session(new CqlSession(endpoint));
  session->native_.name = "statement";
  session->native_.kind = OperationKind::kNative;
  session->statements_.resize(1);
  session->statements_[0].operation = &session->native_;
  session->statements_[0].reads = true;
  CAVALRY_RETURN_IF_ERROR(session->Connect(plan, false));
  return session;
}

StatusOr<std::unique_ptr<CqlSession>> CqlSession::OpenPrepared(
    const Endpoint& endpoint, const ConnectPlan& plan, const StatementOptions& statements,
    const std::vector<OperationPlan>& operations) {
  std::unique_ptr<CqlSession> session(new CqlSession(endpoint));
  for (const OperationPlan& operation : operations) {
    CAVALRY_CHECK(operation.index == session->statements_.size());
    session->statements_.push_back(PlanStatement(statements, operation));
  }
  CAVALRY_RETURN_IF_ERROR(session->Connect(plan, true));
  return session;
}

CqlSession::~CqlSession() = default;

Status CqlSession::Connect(const ConnectPlan& plan, bool prepared) {
  CodecOptions options = plan.codec;
  options.prepared = prepared;
  std::unique_ptr<Codec> codec = NewCassandraCodec(options, statements_);
  if (plan.tls) codec = plan.tls->Wrap(std::move(codec), endpoint_.host);
  CAVALRY_ASSIGN_OR_RETURN(channel_,
                           BlockingChannel::Open(endpoint_, std::move(codec), plan.connect_timeout,
                                                 plan.operation_timeout));
  return absl::OkStatus();
}

StatusOr<std::uint64_t> CqlSession::Query(std::string_view cql, const RowFunction& visit,
                                          Consistency level, std::span<const Value> values) {
  std::uint64_t rows = 0;
  const RowFunction count = [&](std::span<const Field> fields) {
    ++rows;
    if (visit) visit(fields);
  };
  CAVALRY_RETURN_IF_ERROR(QueryAll(cql, values, values.size(), count, level));
  return rows;
}

Status CqlSession::QueryAll(std::string_view cql, std::span<const Value> values, std::size_t width,
                            const RowFunction& visit, Consistency level, std::uint32_t in_flight) {
  native_.statement = std::string(cql);
  native_.parameters = static_cast<std::uint32_t>(width);
  StatementPlan& plan = statements_.front();
  plan.cql = native_.statement;
  plan.consistency = level;
  plan.parameters.clear();
  for (std::uint32_t i = 0; i < width; ++i) {
    plan.parameters.push_back({Parameter::Source::kValue, i, CqlType::kBigint, {}});
  }
  Visitor visitor(&visit);
  std::vector<Operation> operations(width == 0 ? 1 : values.size() / width);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    operations[i] = {&native_, {}, values.subspan(i * width, width), &visitor};
  }
  return RunAll(operations, {}, in_flight);
}

Status CqlSession::RunAll(std::span<const Operation> operations,
                          const std::function<bool(std::size_t, const OpResult&)>& look,
                          std::uint32_t in_flight) {
  Status first;
  channel_->RunAll(operations, in_flight, [&](std::size_t which, const OpResult& result) {
    if (look && look(which, result)) return;
    if (first.ok()) first = ResultStatus(endpoint_.label, result);
  });
  return first;
}

}  // namespace cavalry::drivers::cassandra
