#include "tests/unit/drivers/memcached/conversation.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/memcached/item_value.h"

namespace cavalry::drivers::memcached {
namespace {

Column MakeColumn(std::string name, std::string_view type, bool nullable = false) {
  Column column;
  column.name = std::move(name);
  column.type = *ParseColumnType(type);
  column.nullable = nullable;
  return column;
}

}  // namespace

Plans::Plans(const std::vector<std::string>& natives) {
  table_.name = "t";
  table_.columns = {MakeColumn("id", "bigint"), MakeColumn("name", "varchar(25)", true),
                    MakeColumn("qty", "int")};
  const auto add = [&](std::string name, OperationKind kind, std::vector<std::uint32_t> columns) {
    OperationPlan plan;
    plan.name = std::move(name);
    plan.index = static_cast<std::uint32_t>(plans_.size());
    plan.kind = kind;
    plan.table = kind == OperationKind::kNative ? nullptr : &table_;
    plan.columns = std::move(columns);
    plans_.push_back(std::move(plan));
  };
  add("get", OperationKind::kRead, {2, 0, 1});
  add("some", OperationKind::kMultiRead, {0, 1});
  plans_.back().batch = 3;
  add("add", OperationKind::kInsert, {0, 1, 2});
  add("add two", OperationKind::kInsert, {0, 1, 2});
  plans_.back().batch = 2;
  add("set", OperationKind::kUpdate, {2, 1});
  add("drop", OperationKind::kDelete, {});
  for (const std::string& native : natives) {
    add("native", OperationKind::kNative, {});
    plans_.back().statement = native;
  }
}

Options TextOptions() {
  Options options;
  Endpoint endpoint;
  endpoint.host = "127.0.0.1";
  endpoint.port = 11211;
  endpoint.label = "cache:1";
  options.servers = {endpoint};
  options.key = "k:{table}:{key}";
  return options;
}

void Scribe::OnRow(std::span<const Field> fields) {
  script_ += "row";
  for (const Field& field : fields) {
    script_ += field.is_null ? " NULL" : fmt::format(" '{}'", field.text);
  }
  script_ += '\n';
}

void Scribe::OnDone(Ticket ticket, const OpResult& result) {
  script_ += fmt::format("{} {} rows {}", ticket, OutcomeName(result.outcome), result.rows);
  if (!result.code.empty()) script_ += fmt::format(" [{}] {}", result.code, result.text);
  if (result.outcome_unknown) script_ += " unknown";
  if (result.severity == Severity::kReconnect) script_ += " reconnect";
  if (result.severity == Severity::kFatal) script_ += " fatal";
  script_ += '\n';
}

Talk::Talk(Options options, const std::vector<std::string>& natives) : plans_(natives) {
  std::vector<PlanRequest> requests;
  for (const OperationPlan& plan : plans_.all()) {
    auto request = PlanOperation(options, plan);
    // One that cannot be planned is asked by no test.
    if (!request.ok()) request = PlanRequest{};
    requests.push_back(*std::move(request));
  }
  factory_ = std::make_unique<MemcachedFactory>(std::move(options), std::move(requests), nullptr);
  codec_ = factory_->NewCodec(0);
  codec_->Start(out_);
}

bool Talk::Ask(std::uint32_t plan, const std::vector<Value>& keys, const std::vector<Value>& values,
               bool visit) {
  asked_.push_back(std::make_unique<Asked>(Asked{keys, values, {}}));
  Asked& asked = *asked_.back();
  asked.operation.plan = &plans_.all()[plan];
  asked.operation.key = Key(std::span<const Value>(asked.keys));
  asked.operation.values = asked.values;
  asked.operation.rows = visit ? &scribe_ : nullptr;
  return codec_->Encode(asked.operation, static_cast<Ticket>(asked_.size()), out_);
}

std::string Talk::Sent() {
  codec_->EndBatch(out_);
  std::string sent(out_.view());
  out_.Clear();
  return sent;
}

ConnectionState Talk::Hear(std::string_view bytes, std::size_t piece) {
  ConnectionState state = codec_->Feed({}, out_, scribe_);
  while (!bytes.empty() && state != ConnectionState::kFailed) {
    // A copy of exactly these bytes, so that a sanitizer sees a read beyond them.
    const std::string head(bytes.substr(0, piece));
    const std::vector<char> copy(head.begin(), head.end());
    state = codec_->Feed({copy.data(), copy.size()}, out_, scribe_);
    bytes.remove_prefix(head.size());
  }
  if (state == ConnectionState::kFailed) {
    scribe_.Add(fmt::format("failed [{}] {}\n", codec_->error().code, codec_->error().text));
  }
  return state;
}

std::string Packed(const std::vector<std::string>& columns) {
  ByteBuffer out;
  for (const std::string& column : columns) {
    AppendPacked(column == "-" ? Value::Null() : Value::Text(column), out);
  }
  return std::string(out.view());
}

}  // namespace cavalry::drivers::memcached
