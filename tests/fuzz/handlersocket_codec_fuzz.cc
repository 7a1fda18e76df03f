// Any bytes from a HandlerSocket server, cut anywhere: the codec waits or fails, tells of no more
// operations than were asked for, and says the same whatever the cut. The first byte chooses port,
// visiting of rows, whether the handshake is answered as it should be, and plain operations or
// those of many keys, rows and forms; the second the fragments' size; the rest are the server's
// bytes.
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
               std::to_string(result.rows) + '#' + std::to_string(result.insert_id) +
               std::string(result.code) + std::string(result.text) + '\n';
  }
  void Add(const OpResult& error) { script_ += std::string(error.code) + std::string(error.text); }
  const std::string& script() const { return script_; }
  std::size_t done() const { return done_; }

 private:
  std::string script_;
  std::size_t done_ = 0;
};

// A step's operations, those of the read port first, and the keys and values they are asked with.
class Operations {
 public:
  Operations() { table_.name = "t"; }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  TableSchema& table() { return table_; }
  OperationPlan& Add(OperationKind kind, std::vector<std::uint32_t> columns) {
    const auto index = static_cast<std::uint32_t>(plans_.size());
    if (!IsWrite(kind)) ++reads_;
    return plans_.emplace_back(MakePlan(kind, table_, std::move(columns), index));
  }
  void MakeFactory() {
    Options options;
    options.host = "h";
    options.database = "d";
    factory_ = std::make_unique<HandlerSocketFactory>(options, plans_);
  }
  std::unique_ptr<Codec> NewCodec(bool writes) const { return factory_->NewCodec(writes ? 1 : 0); }

  void Ask(Codec& codec, bool writes, std::size_t number, bool visit, Scribe& scribe,
           ByteBuffer& out) const {
    const std::size_t first = writes ? reads_ : 0;
    const OperationPlan& plan = plans_[first + number % (writes ? plans_.size() - reads_ : reads_)];
    const std::size_t parts =
        plan.kind == OperationKind::kScan ? plan.scan.columns.size() : table_.key_columns.size();
    const std::vector<Value> keys(parts * plan.batch,
                                  Value::Integer(static_cast<std::int64_t>(number)));
    std::vector<Value> values;
    for (std::uint32_t row = 0; row < plan.batch; ++row) {
      for (const std::uint32_t column : plan.columns) {
        values.push_back(table_.columns[column].type.is_integer() ? Value::Integer(1)
                                                                  : Value::Binary("\n"));
      }
    }
    Operation operation;
    operation.plan = &plan;
    operation.key = Key(std::span<const Value>(keys));
    operation.values = values;
    operation.rows = visit ? &scribe : nullptr;
    CAVALRY_CHECK(codec.Encode(operation, static_cast<Ticket>(number), out));
  }

 private:
  TableSchema table_;
  std::vector<OperationPlan> plans_;
  std::size_t reads_ = 0;
  std::unique_ptr<HandlerSocketFactory> factory_;
};

class Server {
 public:
  Server() {
    plain_.table().columns = {MakeColumn("k", "int"), MakeColumn("v", "varbinary(300)")};
    plain_.Add(OperationKind::kRead, {0, 1});
    plain_.Add(OperationKind::kRead, {1});
    plain_.Add(OperationKind::kInsert, {0, 1});
    plain_.Add(OperationKind::kUpdate, {1});
    plain_.Add(OperationKind::kDelete, {});
    plain_.MakeFactory();

    TableSchema& table = forms_.table();
    table.columns = {MakeColumn("k", "int"), MakeColumn("l", "int"),
                     MakeColumn("v", "varbinary(300)")};
    table.key_columns = {0, 1};
    forms_.Add(OperationKind::kMultiRead, {2}).batch = 3;
    ScanPlan& scan = forms_.Add(OperationKind::kScan, {0, 1}).scan;
    scan.columns = {0};
    scan.in = {1, 2};
    scan.filters = {{.column = 1, .value = "7"}};
    forms_.Add(OperationKind::kInsert, {0, 1, 2}).batch = 2;
    forms_.Add(OperationKind::kUpdate, {2}).returning = true;
    forms_.Add(OperationKind::kDelete, {1, 2}).returning = true;
    forms_.Add(OperationKind::kIncrement, {1}).amount = -2;
    forms_.MakeFactory();
  }

  std::string Run(std::uint8_t choice, std::string_view bytes, std::size_t fragment) const {
    const bool writes = (choice & 1) != 0;
    const Operations& operations = (choice & 8) != 0 ? forms_ : plain_;
    const std::unique_ptr<Codec> codec = operations.NewCodec(writes);
    ByteBuffer out;
    Scribe scribe;
    codec->Start(out);
    ConnectionState state = ConnectionState::kHandshake;
    while ((choice & 2) == 0 && state == ConnectionState::kHandshake) {
      state = codec->Feed("0\t1\n", out, scribe);
    }
    std::size_t asked = 0;
    while (!bytes.empty()) {
      if (state == ConnectionState::kReady && asked == 0) {
        for (; asked < kAsks; ++asked) {
          operations.Ask(*codec, writes, asked, (choice & 4) != 0, scribe, out);
        }
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
  Operations plain_;
  Operations forms_;
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
