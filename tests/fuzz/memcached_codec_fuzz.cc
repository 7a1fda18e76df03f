// Any bytes from a memcached server, cut anywhere: the codec waits or fails, tells of no more
// operations than were asked for, and says the same whatever the cut. The first byte chooses the
// protocol, blind writes and visiting of rows; the second the fragments' size; the rest are the
// server's bytes.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "drivers/memcached/memcached_factory.h"

namespace cavalry::drivers::memcached {
namespace {

class Scribe final : public RowVisitor, public CompletionSink {
 public:
  void OnRow(std::span<const Field> fields) override {
    for (const Field& field : fields) {
      script += field.is_null ? std::string("null") : std::string(field.text);
      script += '|';
    }
  }
  void OnDone(Ticket ticket, const OpResult& result) override {
    ++done;
    script += std::to_string(ticket) + std::string(OutcomeName(result.outcome)) +
              std::to_string(result.rows) + std::string(result.code) + std::string(result.text) +
              '\n';
  }
  std::string script;
  std::size_t done = 0;
};

std::string Run(std::uint8_t choice, std::string_view bytes, std::size_t fragment) {
  Options options;
  options.servers.emplace_back();
  options.servers.back().label = "s";
  options.key = "k{key}";
  options.protocol = static_cast<Protocol>(choice % 3);
  options.blind = (choice & 4) != 0;
  TableSchema table;
  table.name = "t";
  for (const char* name : {"id", "a", "b"}) {
    Column column;
    column.name = name;
    column.type = *ParseColumnType("varchar(20)");
    column.nullable = true;
    table.columns.push_back(column);
  }
  std::vector<OperationPlan> plans;
  for (const OperationKind kind :
       {OperationKind::kRead, OperationKind::kMultiRead, OperationKind::kInsert,
        OperationKind::kUpdate, OperationKind::kDelete, OperationKind::kNative}) {
    OperationPlan plan;
    plan.index = static_cast<std::uint32_t>(plans.size());
    plan.kind = kind;
    plan.table = &table;
    plan.columns = {0, 1, 2};
    if (kind == OperationKind::kUpdate) plan.columns = {1, 2};
    if (kind == OperationKind::kMultiRead || kind == OperationKind::kInsert) plan.batch = 2;
    if (kind == OperationKind::kNative) plan.statement = "cas k v";
    if (kind == OperationKind::kNative && options.protocol == Protocol::kBinary) continue;
    plans.push_back(plan);
  }
  std::vector<PlanRequest> requests;
  for (const OperationPlan& plan : plans) {
    auto request = PlanOperation(options, plan);
    CAVALRY_CHECK(request.ok());
    requests.push_back(*std::move(request));
  }
  const MemcachedFactory factory(options, requests, nullptr);
  const auto codec = factory.NewCodec(0);
  ByteBuffer out;
  Scribe scribe;
  codec->Start(out);
  const std::vector<Value> values(6, Value::Text("1"));
  std::vector<Operation> operations(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    operations[i].plan = &plans[i];
    operations[i].key = Key(std::span<const Value>(values).first(plans[i].batch));
    operations[i].values = values;
    operations[i].rows = (choice & 8) != 0 ? &scribe : nullptr;
    CAVALRY_CHECK(codec->Encode(operations[i], static_cast<Ticket>(i), out));
  }
  codec->EndBatch(out);
  ConnectionState state = ConnectionState::kReady;
  while (!bytes.empty() && state != ConnectionState::kFailed) {
    state = codec->Feed(bytes.substr(0, fragment), out, scribe);
    bytes.remove_prefix(std::min(fragment, bytes.size()));
  }
  CAVALRY_CHECK(scribe.done <= operations.size());
  if (state == ConnectionState::kFailed) scribe.script += codec->error().code;
  return scribe.script;
}

}  // namespace
}  // namespace cavalry::drivers::memcached

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cavalry::drivers::memcached::Run;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = Run(data[0], bytes, bytes.size() + 1);
  CAVALRY_CHECK(Run(data[0], bytes, data[1] % 32 + 1U) == whole);
  return 0;
}
