// Any bytes from a Cassandra node, cut anywhere: the codec waits or fails, tells of no more
// operations than were asked for, and says the same whatever the cut. The first byte chooses
// version, compression, prepared or text statements and whether the bytes are put into v5's
// segments here, so that what is behind the checksums is reached; the second the fragments' size;
// the rest are the node's bytes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/check.h"
#include "drivers/cassandra/cassandra_codec.h"
#include "drivers/cassandra/segment.h"

namespace cavalry::drivers::cassandra {
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
              std::string(result.warning) + '\n';
  }
  std::string script;
  std::size_t done = 0;
};

class Statements {
 public:
  Statements() {
    table_.name = "t";
    for (const char* type : {"int", "decimal(6,2)", "varchar(20)"}) {
      Column column;
      column.name = "c";
      column.type = *ParseColumnType(type);
      table_.columns.push_back(column);
    }
    plans_.resize(3);
    for (std::uint32_t i = 0; i < plans_.size(); ++i) {
      plans_[i].index = i;
      plans_[i].name = "op";
      plans_[i].table = &table_;
    }
    plans_[1].kind = OperationKind::kInsert;
    plans_[2].kind = OperationKind::kNative;
    all.resize(3);
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i].operation = &plans_[i];
      all[i].cql = "x";
    }
    all[0].reads = true;
    all[0].columns = table_.columns;
    all[1].conditional = true;
    all[2].reads = true;
  }
  const OperationPlan& plan(std::size_t i) const { return plans_[i]; }
  std::vector<StatementPlan> all;

 private:
  TableSchema table_;
  std::vector<OperationPlan> plans_;
};

// A plain envelope of the kind that begins a connection or answers a PREPARE.
std::string Envelope(std::uint8_t version, std::uint16_t stream, std::uint8_t opcode,
                     const std::string& body) {
  const auto byte = [](std::size_t number) { return static_cast<char>(number & 0xff); };
  std::string text = {byte(version | 0x80U),
                      0,
                      byte(stream >> 8U),
                      byte(stream),
                      byte(opcode),
                      0,
                      0,
                      byte(body.size() >> 8U),
                      byte(body.size())};
  return text + body;
}

std::string Run(std::uint8_t choice, std::string_view bytes, std::size_t fragment) {
  static const Statements statements;
  CodecOptions options;
  options.version = (choice & 1) != 0 ? 5 : 4;
  const bool compressed = (choice & 2) != 0;
  options.compression = !compressed            ? Compression::kNone
                        : options.version == 5 ? Compression::kLz4
                        : (choice & 4) != 0    ? Compression::kSnappy
                                               : Compression::kLz4;
  options.prepared = (choice & 8) != 0;
  options.max_orphans = 1;
  const auto codec = NewCassandraCodec(options, statements.all);
  ByteBuffer out;
  Scribe scribe;
  ConnectionState state = codec->Start(out);
  const auto say = [&](const std::string& envelope, bool segments) {
    if (!segments) {
      state = codec->Feed(envelope, out, scribe);
      return;
    }
    ByteBuffer framed;
    AppendSegments(envelope, compressed, framed);
    state = codec->Feed(framed.view(), out, scribe);
  };
  std::vector<Operation> operations(statements.all.size());
  if ((choice & 16) != 0) {
    say(Envelope(options.version, 0, 2, ""), false);
    for (std::uint16_t i = 0; options.prepared && i < statements.all.size(); ++i) {
      // kind, id, (v5: the answer's id), no flags, no columns, no key
      std::string body = std::string("\0\0\0\4\0\1i", 7);
      if (options.version == 5) body += std::string("\0\1m", 3);
      body += std::string(12, '\0');
      say(Envelope(options.version, i, 8, body), options.version == 5);
    }
    CAVALRY_CHECK(state == ConnectionState::kReady);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      operations[i].plan = &statements.plan(i);
      operations[i].rows = (choice & 32) != 0 ? &scribe : nullptr;
      CAVALRY_CHECK(codec->Encode(operations[i], static_cast<Ticket>(i), out));
    }
    codec->EndBatch(out);
    if ((choice & 64) != 0) codec->Forget(0);
  }
  ByteBuffer framed;
  if ((choice & 128) != 0 && options.version == 5) {
    // Whole envelopes only, as AppendSegments wants them.
    std::string whole(bytes.substr(0, 60'000));
    whole = Envelope(5, static_cast<std::uint16_t>(choice & 3), 8, whole);
    AppendSegments(whole, compressed, framed);
    bytes = framed.view();
  }
  while (!bytes.empty() && state != ConnectionState::kFailed) {
    state = codec->Feed(bytes.substr(0, fragment), out, scribe);
    bytes.remove_prefix(std::min(fragment, bytes.size()));
  }
  CAVALRY_CHECK(scribe.done <= operations.size());
  if (state == ConnectionState::kFailed) scribe.script += codec->error().code;
  return scribe.script;
}

}  // namespace
}  // namespace cavalry::drivers::cassandra

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using cavalry::drivers::cassandra::Run;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = Run(data[0], bytes, bytes.size() + 1);
  CAVALRY_CHECK(Run(data[0], bytes, data[1] % 32 + 1U) == whole);
  return 0;
}
