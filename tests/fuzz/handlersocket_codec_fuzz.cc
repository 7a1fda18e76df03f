// Any bytes from a HandlerSocket server, cut anywhere: the codec waits or fails, tells of no more
// operations than were asked for, and says the same whatever the cut. The first byte chooses port,
// visiting of rows and whether the handshake is answered as it should be; the second the fragments'
// size; the rest are the server's bytes.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "drivers/handlersocket/handlersocket_factory.h"

namespace cavalry::drivers::handlersocket {
namespace {

constexpr std::size_t kAsks = 8;

Column MakeColumn(std::string name, std::string_view type) {
  auto parsed = ParseColumnType(type);
  CAVALRY_CHECK(parsed.ok());
  Column column;
  column.name = std::move(name);
  column.type = *parsed;
  column.nullable = true;
  return column;
}

OperationPlan MakePlan(OperationKind kind, const TableSchema& table,
                       std::vector<std::uint32_t> columns, std::uint32_t index) {
  OperationPlan plan;
  plan.name = std::string(OperationKindName(kind));
  plan.index = index;
  plan.kind = kind;
  plan.table = &table;
  plan.columns = std::move(columns);
  return plan;
}

// Writes down all that comes of the bytes.
class Scribe final : public RowVisitor, public CompletionSink {
 public:
  void OnRow(std::span<const Field> fields) override {
    for (const Field& field : fields) {
      script_ += field.is_null ? std::string("null") : std::string(field.text);
      script_ += '|';
    }
  }
  void OnDone(Ticket ticket, const OpResult& result) override {
    ++done_;
    script_ += std::to_string(ticket) + std::string(OutcomeName(result.outcome)) +
               std::to_string(result.rows) + std::string(result.code) + std::string(result.text) +
               '\n';
  }
  void Add(const OpResult& error) { script_ += std::string(error.code) + std::string(error.text); }
  const std::string& script() const { return script_; }
  std::size_t done() const { return done_; }

 private:
  std::string script_;
  std::size_t done_ = 0;
};

class Server {
 public:
  Server() {
    table_.name = "t";
    table_.columns = {MakeColumn("k", "int"), MakeColumn("v", "varbinary(300)")};
    plans_ = {MakePlan(OperationKind::kRead, table_, {0, 1}, 0),
              MakePlan(OperationKind::kRead, table_, {1}, 1),
              MakePlan(OperationKind::kInsert, table_, {0, 1}, 2),
              MakePlan(OperationKind::kUpdate, table_, {1}, 3),
              MakePlan(OperationKind::kDelete, table_, {}, 4)};
    Options options;
    options.host = "h";
    options.database = "d";
    factory_ = std::make_unique<HandlerSocketFactory>(options, plans_);
  }

  std::string Run(std::uint8_t choice, std::string_view bytes, std::size_t fragment) const {
    const bool writes = (choice & 1) != 0;
    const std::unique_ptr<Codec> codec = factory_->NewCodec(writes ? 1 : 0);
    ByteBuffer out;
    Scribe scribe;
    codec->Start(out);
    ConnectionState state = ConnectionState::kHandshake;
    if ((choice & 2) == 0)
      state = codec->Feed(writes ? "0\t1\n0\t1\n0\t1\n" : "0\t1\n0\t1\n", out, scribe);
    std::size_t asked = 0;
    while (!bytes.empty()) {
      if (state == ConnectionState::kReady && asked == 0) {
        for (; asked < kAsks; ++asked) Ask(*codec, writes, asked, (choice & 4) != 0, scribe, out);
      }
      const std::size_t taken = std::min(fragment, bytes.size());
      // With a handshake in the bytes the operations are asked for at its end, so it goes alone.
      const std::size_t line = bytes.find('\n');
      const std::size_t piece =
          asked == 0 && line != std::string_view::npos ? std::min(taken, line + 1) : taken;
      state = codec->Feed(bytes.substr(0, piece), out, scribe);
      bytes.remove_prefix(piece);
    }
    CAVALRY_CHECK(scribe.done() <= asked);
    if (state == ConnectionState::kFailed) scribe.Add(codec->error());
    return scribe.script();
  }

 private:
  void Ask(Codec& codec, bool writes, std::size_t number, bool visit, Scribe& scribe,
           ByteBuffer& out) const {
    const Value row[] = {Value::Integer(1), Value::Binary("\n")};
    Operation operation;
    operation.plan = &plans_[writes ? 2 + number % 3 : number % 2];
    operation.key = Value::Integer(static_cast<std::int64_t>(number));
    operation.values = std::span(row).last(operation.plan->columns.size());
    operation.rows = visit ? &scribe : nullptr;
    CAVALRY_CHECK(codec.Encode(operation, static_cast<Ticket>(number), out));
  }

  TableSchema table_;
  std::vector<OperationPlan> plans_;
  std::unique_ptr<HandlerSocketFactory> factory_;
};

}  // namespace
}  // namespace cavalry::drivers::handlersocket

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cavalry::drivers::handlersocket::Server server;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = server.Run(data[0], bytes, bytes.size() + 1);
  CAVALRY_CHECK(server.Run(data[0], bytes, data[1] % 32 + 1U) == whole);
  return 0;
}
