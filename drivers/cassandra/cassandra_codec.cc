#include "drivers/cassandra/cassandra_codec.h"

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/cassandra/answer_rows.h"
#include "drivers/cassandra/compression.h"
#include "drivers/cassandra/prepared.h"
#include "drivers/cassandra/segment.h"
#include "drivers/cassandra/server_error.h"
#include "drivers/cassandra/value_format.h"
#include "drivers/cassandra/wire.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::size_t kMaxEnvelopeBytes = std::size_t{64} * 1024 * 1024;
constexpr std::uint8_t kAnswerBit = 0x80;
constexpr std::uint8_t kVersionMask = 0x7f;
constexpr std::int16_t kEventStream = -1;
constexpr std::uint32_t kMaxStreams = 32'768;

enum Opcode : std::uint8_t {
  kError = 0x00,
  kStartup = 0x01,
  kReady = 0x02,
  kAuthenticate = 0x03,
  kQuery = 0x07,
  kResult = 0x08,
  kPrepare = 0x09,
  kExecute = 0x0a,
  kEvent = 0x0c,
  kBatch = 0x0d,
  kAuthResponse = 0x0f,
  kAuthSuccess = 0x10,
};

enum HeaderFlag : std::uint8_t {
  kCompressed = 0x01,
  kTraced = 0x02,
  kCustomPayload = 0x04,
  kWarning = 0x08,
};

enum QueryFlag : std::uint32_t {
  kWithValues = 0x01,
  kSkipMetadata = 0x02,
  kWithPageSize = 0x04,
  kWithPagingState = 0x08,
  kWithSerial = 0x10,
};

enum ResultKind : std::int32_t {
  kVoid = 1,
  kRows = 2,
  kSetKeyspace = 3,
  kPreparedKind = 4,
  kSchemaChange = 5,
};

constexpr std::string_view kCodeValue = "value";
constexpr std::string_view kCodeFull = "queue_full";
constexpr std::string_view kCodeProtocol = "protocol";

struct Stream {
  enum class State : std::uint8_t {
    kFree,
    kHandshakePrepare,
    kOperation,
    kPreparingAgain,
    kOrphan,  // given up; its answer may still come
  };
  State state = State::kFree;
  bool reprepared = false;
  Ticket ticket = 0;
  const StatementPlan* statement = nullptr;
  const Operation* operation = nullptr;
  std::uint32_t rows = 0;    // of the pages so far
  std::uint64_t bytes = 0;   // of the answers so far
  std::string paging_state;  // of the page that is being asked for
};

class CassandraCodec final : public Codec {
 public:
  CassandraCodec(const CodecOptions& options, const std::vector<StatementPlan>& statements)
      : options_(options),
        statements_(statements),
        most_streams_(std::min(options.max_in_flight, kMaxStreams)) {}

  ConnectionState Start(ByteBuffer& out) override {
    prepared_.resize(statements_.size());
    BeginEnvelope(kStartup, 0, out);
    std::vector<std::pair<std::string_view, std::string_view>> words = {
        {"CQL_VERSION", "3.0.0"},
        {"DRIVER_NAME", "cavalry"},
        {"DRIVER_VERSION", CAVALRY_VERSION},
        // An overloaded node says so instead of making the client wait.
        {"THROW_ON_OVERLOAD", "1"}};
    if (options_.compression == Compression::kLz4) words.emplace_back("COMPRESSION", "lz4");
    if (options_.compression == Compression::kSnappy) words.emplace_back("COMPRESSION", "snappy");
    AppendNumber(words.size(), 2, out);
    for (const auto& [name, value] : words) {
      AppendString(name, out);
      AppendString(value, out);
    }
    EndEnvelope(out);
    return state_;
  }

  bool Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) override {
    CAVALRY_CHECK(state_ == ConnectionState::kReady);
    const StatementPlan& statement = statements_[operation.plan->index];
    const int id = TakeStream();
    if (id < 0) [[unlikely]] {
      return Refuse(kCodeFull, "all streams of the connection are in use");
    }
    Stream& stream = streams_[static_cast<std::size_t>(id)];
    stream.statement = &statement;
    stream.operation = &operation;
    stream.ticket = ticket;
    stream.rows = 0;
    stream.bytes = 0;
    stream.reprepared = false;
    stream.paging_state.clear();
    ByteBuffer& to = Outgoing(out);
    const std::size_t before = to.size();
    if (!AppendRequest(id, to)) [[unlikely]] {
      to.Truncate(before);
      FreeStream(id);
      return false;
    }
    stream.state = Stream::State::kOperation;
    if (stream_of_.size() <= ticket) stream_of_.resize(ticket + 1, -1);
    stream_of_[ticket] = id;
    return true;
  }

  void EndBatch(ByteBuffer& out) override {
    if (envelopes_.empty()) return;
    AppendSegments(envelopes_.view(), options_.compression == Compression::kLz4, out);
    envelopes_.Clear();
  }

  bool Forget(Ticket ticket) override {
    if (orphans_ >= options_.max_orphans) return false;
    CAVALRY_CHECK(ticket < stream_of_.size() && stream_of_[ticket] >= 0);
    Stream& stream = streams_[static_cast<std::size_t>(std::exchange(stream_of_[ticket], -1))];
    stream.state = Stream::State::kOrphan;
    ++orphans_;
    return true;
  }

  ConnectionState Feed(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) override {
    if (!received_.empty()) {
      received_.Append(bytes);
      bytes = received_.view();
    }
    std::size_t taken = 0;
    while (taken < bytes.size() && state_ != ConnectionState::kFailed) {
      const std::size_t one = framed_ ? TakeSegment(bytes.substr(taken), out, sink)
                                      : TakeEnvelope(bytes.substr(taken), out, sink);
      if (one == 0) break;
      taken += one;
    }
    if (state_ == ConnectionState::kFailed) return state_;
    if (received_.empty()) {
      received_.Append(bytes.substr(taken));
    } else {
      received_.Consume(taken);
    }
    if (received_.overflowed()) Break("an answer that is too long");
    return state_;
  }

  const OpResult& error() const override { return error_; }

 private:
  // Where envelopes go: to the segments of v5, once they have begun, else straight out.
  ByteBuffer& Outgoing(ByteBuffer& out) { return framed_ ? envelopes_ : out; }

  // --- streams

  int TakeStream() {
    if (!free_.empty()) {
      const int id = free_.back();
      free_.pop_back();
      return id;
    }
    if (streams_.size() >= most_streams_) return -1;
    streams_.emplace_back();
    free_.reserve(streams_.capacity());
    return static_cast<int>(streams_.size()) - 1;
  }

  void FreeStream(int id) {
    streams_[static_cast<std::size_t>(id)].state = Stream::State::kFree;
    free_.push_back(id);
  }

  // --- requests

  void BeginEnvelope(std::uint8_t opcode, int stream, ByteBuffer& out) {
    envelope_ = out.size();
    std::array<char, kEnvelopeHeaderBytes> header{};
    header[0] = static_cast<char>(options_.version);
    PutNumber(header.data() + 2, static_cast<std::uint64_t>(stream), 2);
    header[4] = static_cast<char>(opcode);
    out.Append({header.data(), header.size()});
  }

  void EndEnvelope(ByteBuffer& out) {
    if (out.overflowed()) return;
    std::size_t size = out.size() - envelope_ - kEnvelopeHeaderBytes;
    char* header = const_cast<char*>(out.view().data()) + envelope_;
    if (compresses_ && size > 0) {
      packed_.Clear();
      const std::string_view body = out.view().substr(envelope_ + kEnvelopeHeaderBytes);
      if (options_.compression == Compression::kLz4) {
        AppendNumber(size, 4, packed_);
        AppendLz4(body, packed_);
      } else {
        AppendSnappy(body, packed_);
      }
      out.Truncate(envelope_ + kEnvelopeHeaderBytes);
      out.Append(packed_.view());
      header = const_cast<char*>(out.view().data()) + envelope_;
      header[1] = static_cast<char>(kCompressed);
      size = packed_.size();
    }
    PutNumber(header + 5, size, 4);
  }

  bool AppendRequest(int id, ByteBuffer& out) {
    const Stream& stream = streams_[static_cast<std::size_t>(id)];
    const StatementPlan& statement = *stream.statement;
    if (!options_.prepared) return AppendQuery(id, out);
    return statement.is_batch ? AppendBatch(id, out) : AppendExecute(id, out);
  }

  bool AppendExecute(int id, ByteBuffer& out) {
    const Stream& stream = streams_[static_cast<std::size_t>(id)];
    const StatementPlan& statement = *stream.statement;
    const Prepared& prepared = PreparedOf(statement);
    BeginEnvelope(kExecute, id, out);
    AppendString(prepared.id, out);
    if (options_.version >= 5) AppendString(prepared.result_id, out);
    const bool values = !statement.parameters.empty();
    AppendNumber(static_cast<std::uint16_t>(statement.consistency), 2, out);
    AppendFlags(FlagsOf(stream) | (values ? std::uint32_t{kWithValues} : 0U) |
                    (statement.columns.empty() ? 0U : std::uint32_t{kSkipMetadata}),
                out);
    if (values) {
      AppendNumber(statement.parameters.size(), 2, out);
      if (!AppendValues(stream, 0, out)) return false;
    }
    AppendTail(stream, out);
    EndEnvelope(out);
    return true;
  }

  bool AppendQuery(int id, ByteBuffer& out) {
    const Stream& stream = streams_[static_cast<std::size_t>(id)];
    const StatementPlan& statement = *stream.statement;
    BeginEnvelope(kQuery, id, out);
    const std::size_t begin = out.size();
    AppendNumber(0, 4, out);
    if (!AppendText(statement, *stream.operation, out)) {
      return Refuse(kCodeValue,
                    fmt::format("{}: a value cannot be written in CQL", statement.operation->name));
    }
    if (!out.overflowed()) {
      PutNumber(const_cast<char*>(out.view().data()) + begin, out.size() - begin - 4, 4);
    }
    AppendNumber(static_cast<std::uint16_t>(statement.consistency), 2, out);
    AppendFlags(FlagsOf(stream), out);
    AppendTail(stream, out);
    EndEnvelope(out);
    return true;
  }

  bool AppendBatch(int id, ByteBuffer& out) {
    const Stream& stream = streams_[static_cast<std::size_t>(id)];
    const StatementPlan& statement = *stream.statement;
    const Prepared& prepared = PreparedOf(statement);
    BeginEnvelope(kBatch, id, out);
    out.Append(static_cast<char>(statement.logged ? 0 : 1));
    AppendNumber(statement.operation->batch, 2, out);
    for (std::uint32_t row = 0; row < statement.operation->batch; ++row) {
      out.Append(char{1});  // by its id
      AppendString(prepared.id, out);
      AppendNumber(statement.parameters.size(), 2, out);
      if (!AppendValues(stream, row * statement.parameters.size(), out)) return false;
    }
    AppendNumber(static_cast<std::uint16_t>(statement.consistency), 2, out);
    AppendFlags(statement.conditional ? std::uint32_t{kWithSerial} : 0U, out);
    if (statement.conditional) {
      AppendNumber(static_cast<std::uint16_t>(statement.serial), 2, out);
    }
    EndEnvelope(out);
    return true;
  }

  std::uint32_t FlagsOf(const Stream& stream) const {
    const StatementPlan& statement = *stream.statement;
    return (statement.reads ? std::uint32_t{kWithPageSize} : 0U) |
           (stream.paging_state.empty() ? 0U : std::uint32_t{kWithPagingState}) |
           (statement.conditional ? std::uint32_t{kWithSerial} : 0U);
  }

  void AppendFlags(std::uint32_t flags, ByteBuffer& out) const {
    AppendNumber(flags, options_.version >= 5 ? 4 : 1, out);
  }

  // What the flags announced, but for values.
  void AppendTail(const Stream& stream, ByteBuffer& out) const {
    const StatementPlan& statement = *stream.statement;
    if (statement.reads) AppendNumber(options_.page_size, 4, out);
    if (!stream.paging_state.empty()) AppendLongString(stream.paging_state, out);
    if (statement.conditional) {
      AppendNumber(static_cast<std::uint16_t>(statement.serial), 2, out);
    }
  }

  bool AppendValues(const Stream& stream, std::size_t shift, ByteBuffer& out) {
    const StatementPlan& statement = *stream.statement;
    const Operation& operation = *stream.operation;
    const bool native = statement.operation->kind == OperationKind::kNative;
    for (std::size_t i = 0; i < statement.parameters.size(); ++i) {
      const Parameter& parameter = statement.parameters[i];
      if (parameter.source == Parameter::Source::kFixed) {
        AppendLongString(parameter.fixed, out);
        continue;
      }
      const std::span<const Value> values =
          parameter.source == Parameter::Source::kKey ? operation.key.values() : operation.values;
      const std::size_t index = parameter.index + shift;
      CAVALRY_CHECK(index < values.size());
      const CqlType type = native && options_.prepared
                               ? ParameterType(PreparedOf(statement).type_codes[i])
                               : parameter.type;
      std::string_view why;
      if (!AppendValue(type, values[index], out, &why)) [[unlikely]] {
        return Refuse(kCodeValue,
                      fmt::format("{}: the value of parameter {} {} ({})",
                                  statement.operation->name, i + 1, why, CqlTypeName(type)));
      }
    }
    if (!out.overflowed()) return true;
    return Refuse(kCodeFull, "too many bytes wait to be sent");
  }

  void AppendPrepare(const StatementPlan& statement, int id, ByteBuffer& out) {
    BeginEnvelope(kPrepare, id, out);
    AppendLongString(statement.cql, out);
    if (options_.version >= 5) AppendNumber(0, 4, out);
    EndEnvelope(out);
  }

  Prepared& PreparedOf(const StatementPlan& statement) {
    return prepared_[static_cast<std::size_t>(&statement - statements_.data())];
  }

  bool Refuse(std::string_view code, std::string text) {
    text_ = std::move(text);
    error_ = OpResult{};
    error_.outcome = Outcome::kNotSent;
    error_.code = code;
    error_.text = text_;
    return false;
  }

  // --- answers

  // Takes one segment; 0: more is needed, or the connection has failed.
  std::size_t TakeSegment(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) {
    const Segment segment =
        ReadSegment(bytes, options_.compression == Compression::kLz4, unpacked_);
    if (segment.state == Segment::State::kMore) return 0;
    if (segment.state == Segment::State::kDamaged) {
      Break("a segment's checksum is wrong");
      return 0;
    }
    std::string_view payload = segment.payload;
    // An envelope that is cut over segments is put together first.
    if (!segment.self_contained || !cut_.empty()) {
      cut_.Append(payload);
      if (cut_.size() > kMaxEnvelopeBytes || cut_.overflowed()) {
        Break("an answer of more than 64 MiB: ask for smaller pages");
        return 0;
      }
      payload = cut_.view();
    }
    std::size_t taken = 0;
    while (taken < payload.size()) {
      const std::size_t one = TakeEnvelope(payload.substr(taken), out, sink);
      if (state_ == ConnectionState::kFailed) return 0;
      if (one == 0) break;
      taken += one;
    }
    if (!cut_.empty()) {
      cut_.Consume(taken);
    } else if (taken < payload.size()) {
      Break("an envelope that does not end with its segment");
      return 0;
    }
    return segment.taken;
  }

  // Takes one envelope; 0: more is needed, or the connection has failed.
  std::size_t TakeEnvelope(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) {
    if (bytes.size() < kEnvelopeHeaderBytes) return 0;
    WireReader header(bytes);
    const std::uint8_t version = header.Byte();
    const std::uint8_t flags = header.Byte();
    const auto stream = static_cast<std::int16_t>(header.Short());
    const std::uint8_t opcode = header.Byte();
    const auto length = static_cast<std::uint32_t>(header.Int());
    const bool refused = opcode == kError && state_ == ConnectionState::kHandshake;
    if ((version & kAnswerBit) == 0 || ((version & kVersionMask) != options_.version && !refused)) {
      Break("no answer of CQL's native protocol: is this the port for clients?");
      return 0;
    }
    if (length > kMaxEnvelopeBytes) {
      Break("an answer of more than 64 MiB: ask for smaller pages");
      return 0;
    }
    if (bytes.size() < kEnvelopeHeaderBytes + length) return 0;
    std::string_view body = bytes.substr(kEnvelopeHeaderBytes, length);
    if ((flags & kCompressed) != 0 && !framed_ && !body.empty() && !Unpack(&body)) {
      Break("an answer that cannot be unpacked");
      return 0;
    }
    WireReader reader(body);
    warning_ = {};
    if ((flags & kTraced) != 0) reader.Take(16);
    if ((flags & kWarning) != 0) {
      const std::uint16_t warnings = reader.Short();
      for (std::uint16_t i = 0; i < warnings && reader.ok(); ++i) {
        const std::string_view warning = reader.String();
        if (i == 0) warning_ = warning;
      }
    }
    if ((flags & kCustomPayload) != 0) {
      const std::uint16_t entries = reader.Short();
      bool is_null = false;
      for (std::uint16_t i = 0; i < entries && reader.ok(); ++i) {
        reader.String();
        reader.Bytes(&is_null);
      }
    }
    if (!reader.ok()) {
      Break("a malformed answer");
      return 0;
    }
    if (stream == kEventStream) return kEnvelopeHeaderBytes + length;
    const bool right = state_ == ConnectionState::kHandshake
                           ? TakeHandshake(opcode, stream, reader, out)
                           : TakeAnswer(opcode, stream, reader, length, out, sink);
    return right ? kEnvelopeHeaderBytes + length : 0;
  }

  bool Unpack(std::string_view* body) {
    unpacked_.Clear();
    if (options_.compression == Compression::kLz4) {
      WireReader reader(*body);
      const auto size = static_cast<std::uint32_t>(reader.Int());
      if (!reader.ok() || size > kMaxEnvelopeBytes) return false;
      if (!UnpackLz4(reader.rest(), size, unpacked_)) return false;
    } else if (!UnpackSnappy(*body, kMaxEnvelopeBytes, unpacked_)) {
      return false;
    }
    *body = unpacked_.view();
    return true;
  }

  bool TakeHandshake(std::uint8_t opcode, int id, WireReader reader, ByteBuffer& out) {
    switch (opcode) {
      case kReady:
      case kAuthenticate:
        // All that follows is in segments, or compressed.
        framed_ = options_.version >= 5;
        compresses_ = !framed_ && options_.compression != Compression::kNone;
        if (opcode == kReady) return PrepareAll(out);
        if (options_.user.empty()) {
          return FailConnection("0x0100 bad_credentials",
                                "the server wants a user and a password: give the target both",
                                Severity::kFatal);
        }
        BeginEnvelope(kAuthResponse, 0, Outgoing(out));
        AppendLongString(fmt::format("{}{}{}{}", '\0', options_.user, '\0', options_.password),
                         Outgoing(out));
        EndEnvelope(Outgoing(out));
        return true;
      case kAuthSuccess:
        return PrepareAll(out);
      case kError:
        return TakeHandshakeError(id, reader);
      case kResult:
        return TakeHandshakePrepared(id, reader);
      default:
        return Break("an answer that nobody asked for");
    }
  }

  bool PrepareAll(ByteBuffer& out) {
    unprepared_ = 0;
    if (options_.prepared) {
      for (const StatementPlan& statement : statements_) {
        if (statement.operation == nullptr) continue;
        const int id = TakeStream();
        if (id < 0) return Break("more statements than streams");
        Stream& stream = streams_[static_cast<std::size_t>(id)];
        stream.state = Stream::State::kHandshakePrepare;
        stream.statement = &statement;
        AppendPrepare(statement, id, Outgoing(out));
        ++unprepared_;
      }
    }
    if (unprepared_ == 0) state_ = ConnectionState::kReady;
    return true;
  }

  bool TakeHandshakePrepared(int id, WireReader reader) {
    if (!IsIn(id, Stream::State::kHandshakePrepare) || reader.Int() != kPreparedKind) {
      return Break("an answer that nobody asked for");
    }
    const StatementPlan& statement = *streams_[static_cast<std::size_t>(id)].statement;
    Prepared& prepared = PreparedOf(statement);
    if (!ReadPrepared(&reader, options_.version, &prepared)) return Break("a malformed answer");
    if (prepared.type_codes.size() != statement.parameters.size()) {
      return FailConnection(
          kCodeProtocol,
          fmt::format("{}: the server counts {} parameters, and the spec gives {}: {}",
                      statement.operation->name, prepared.type_codes.size(),
                      statement.parameters.size(), statement.cql),
          Severity::kFatal);
    }
    FreeStream(id);
    if (--unprepared_ == 0) state_ = ConnectionState::kReady;
    return true;
  }

  bool TakeHandshakeError(int id, WireReader reader) {
    ServerError error;
    if (!ReadServerError(reader.rest(), options_.version, false, &error)) {
      return Break("a malformed answer");
    }
    if (IsIn(id, Stream::State::kHandshakePrepare)) {
      // A missing table or column, or a statement of the spec's that is none.
      const StatementPlan& statement = *streams_[static_cast<std::size_t>(id)].statement;
      const bool passing = error.retryable || error.code == 0;
      return FailConnection(
          error.word,
          fmt::format("{}: {}: {}", statement.operation->name, error.text, statement.cql),
          passing ? Severity::kReconnect : Severity::kFatal);
    }
    if (error.code == kErrorProtocol) {
      // The driver tries another version.
      return FailConnection("0x000A", error.text, Severity::kFatal);
    }
    if (error.code == kErrorCredentials) error.text += ": is the target's password right?";
    const bool passing = error.retryable || error.code == 0;
    return FailConnection(error.word, error.text,
                          passing ? Severity::kReconnect : Severity::kFatal);
  }

  bool IsIn(int id, Stream::State state) const {
    return id >= 0 && static_cast<std::size_t>(id) < streams_.size() &&
           streams_[static_cast<std::size_t>(id)].state == state;
  }

  bool TakeAnswer(std::uint8_t opcode, int id, WireReader reader, std::uint32_t length,
                  ByteBuffer& out, CompletionSink& sink) {
    if (id < 0 || static_cast<std::size_t>(id) >= streams_.size()) {
      return Break("an answer on a stream that was never used");
    }
    Stream& stream = streams_[static_cast<std::size_t>(id)];
    if (stream.state == Stream::State::kOrphan) {
      --orphans_;
      FreeStream(id);
      return true;
    }
    if (stream.state == Stream::State::kPreparingAgain) {
      return TakePreparedAgain(opcode, id, reader, out, sink);
    }
    if (stream.state != Stream::State::kOperation) {
      return Break("an answer that nobody asked for");
    }
    stream.bytes += length;
    OpResult result;
    if (opcode == kError) return TakeError(id, reader, out, sink);
    if (opcode != kResult) return Break("an answer of another kind than the request");
    const std::int32_t kind = reader.Int();
    if (kind == kRows) return TakeRows(id, reader, out, sink);
    if (kind != kVoid && kind != kSetKeyspace && kind != kSchemaChange) {
      return Break("a result of another kind than the request");
    }
    result.rows = stream.statement->operation->kind == OperationKind::kInsert
                      ? stream.statement->operation->batch
                      : 1;
    End(id, result, sink);
    return true;
  }

  bool TakeRows(int id, WireReader reader, ByteBuffer& out, CompletionSink& sink) {
    Stream& stream = streams_[static_cast<std::size_t>(id)];
    const StatementPlan& statement = *stream.statement;
    AnswerHead head;
    if (!rows_.ReadHead(&reader, &head)) return Break("a malformed answer");
    if (!head.new_result_id.empty()) PreparedOf(statement).result_id = head.new_result_id;
    OpResult result;
    if (statement.conditional) {
      bool applied = false;
      if (head.rows < 1 || !AnswerRows::ReadApplied(reader, &applied)) {
        return Break("no answer to a conditional write");
      }
      if (applied) {
        result.rows =
            statement.operation->kind == OperationKind::kInsert ? statement.operation->batch : 1;
      } else if (statement.operation->kind == OperationKind::kInsert) {
        result.outcome = Outcome::kRejected;
        result.code = "not applied";
        result.text = "there is such a row";
      } else {
        result.outcome = Outcome::kMiss;
      }
      End(id, result, sink);
      return true;
    }
    if (!rows_.ReadRows(&reader, head, statement, stream.operation->rows)) {
      return Break("a malformed row");
    }
    stream.rows += static_cast<std::uint32_t>(head.rows);
    if (head.more_pages) {
      // A page may be empty and still not be the last.
      stream.paging_state = head.paging_state;
      return AppendAgain(id, out, sink);
    }
    result.rows = stream.rows;
    const bool native = statement.operation->kind == OperationKind::kNative;
    if (result.rows == 0 && !native) result.outcome = Outcome::kMiss;
    End(id, result, sink);
    return true;
  }

  // Sends the operation's request again, for the next page or after preparing it again.
  bool AppendAgain(int id, ByteBuffer& out, CompletionSink& sink) {
    ByteBuffer& to = Outgoing(out);
    const std::size_t before = to.size();
    if (AppendRequest(id, to)) return true;
    to.Truncate(before);
    OpResult result = error_;
    result.outcome = Outcome::kRejected;
    End(id, result, sink);
    return true;
  }

  bool TakeError(int id, WireReader reader, ByteBuffer& out, CompletionSink& sink) {
    Stream& stream = streams_[static_cast<std::size_t>(id)];
    const OperationPlan& plan = *stream.statement->operation;
    const bool write = IsWrite(plan.kind) || plan.kind == OperationKind::kNative;
    if (!ReadServerError(reader.rest(), options_.version, write, &server_error_)) {
      return Break("a malformed answer");
    }
    if (server_error_.code == kErrorUnprepared && options_.prepared && !stream.reprepared) {
      // The node has forgotten the statement: once more, and the operation's time goes on.
      stream.reprepared = true;
      stream.state = Stream::State::kPreparingAgain;
      AppendPrepare(*stream.statement, id, Outgoing(out));
      return true;
    }
    EndWithServerError(id, sink);
    return true;
  }

  bool TakePreparedAgain(std::uint8_t opcode, int id, WireReader reader, ByteBuffer& out,
                         CompletionSink& sink) {
    Stream& stream = streams_[static_cast<std::size_t>(id)];
    if (opcode == kError) {
      if (!ReadServerError(reader.rest(), options_.version, false, &server_error_)) {
        return Break("a malformed answer");
      }
      EndWithServerError(id, sink);
      return true;
    }
    Prepared again;
    if (opcode != kResult || reader.Int() != kPreparedKind ||
        !ReadPrepared(&reader, options_.version, &again)) {
      return Break("no answer to a statement that was to be prepared");
    }
    Prepared& known = PreparedOf(*stream.statement);
    if (again.id != known.id || again.type_codes.size() != known.type_codes.size()) {
      OpResult result;
      result.outcome = Outcome::kRejected;
      result.code = "prepared_id";
      result.text = "the server gave the statement another id than before";
      End(id, result, sink);
      return true;
    }
    known.result_id = again.result_id;
    stream.state = Stream::State::kOperation;
    return AppendAgain(id, out, sink);
  }

  void EndWithServerError(int id, CompletionSink& sink) {
    OpResult result;
    result.outcome = Outcome::kRejected;
    result.severity = server_error_.severity;
    result.outcome_unknown = server_error_.outcome_unknown;
    result.retryable = server_error_.retryable;
    result.code = server_error_.word;
    result.text = server_error_.text;
    End(id, result, sink);
  }

  void End(int id, OpResult result, CompletionSink& sink) {
    Stream& stream = streams_[static_cast<std::size_t>(id)];
    result.bytes = stream.bytes;
    result.reprepared = stream.reprepared;
    result.warning = warning_;
    const Ticket ticket = stream.ticket;
    stream_of_[ticket] = -1;
    FreeStream(id);
    sink.OnDone(ticket, result);
  }

  bool Break(std::string_view what) {
    text_ = what;
    error_ = OpResult{};
    error_.outcome = Outcome::kBroken;
    error_.severity = Severity::kReconnect;
    error_.outcome_unknown = true;
    error_.code = kCodeProtocol;
    error_.text = text_;
    state_ = ConnectionState::kFailed;
    return false;
  }

  bool FailConnection(std::string_view code, std::string text, Severity severity) {
    code_ = code;
    text_ = std::move(text);
    error_ = OpResult{};
    error_.outcome = Outcome::kRejected;
    error_.severity = severity;
    error_.code = code_;
    error_.text = text_;
    state_ = ConnectionState::kFailed;
    return false;
  }

  const CodecOptions options_;
  const std::vector<StatementPlan>& statements_;
  const std::uint32_t most_streams_;
  ConnectionState state_ = ConnectionState::kHandshake;
  bool framed_ = false;      // v5, after the start: segments
  bool compresses_ = false;  // v4, after the start: envelope by envelope
  std::size_t unprepared_ = 0;
  std::vector<Prepared> prepared_;  // by statement
  std::vector<Stream> streams_;     // by id
  std::vector<int> free_;
  std::vector<int> stream_of_;  // by ticket; -1: none
  std::uint32_t orphans_ = 0;
  std::size_t envelope_ = 0;  // where the one being written begins
  ByteBuffer envelopes_;      // of the segments to be sent
  ByteBuffer packed_;
  ByteBuffer received_;  // what has not ended yet
  ByteBuffer cut_;       // an envelope over several segments
  ByteBuffer unpacked_;
  AnswerRows rows_;
  std::string_view warning_;  // of the answer being read
  ServerError server_error_;
  std::string code_;
  std::string text_;
  OpResult error_;
};

}  // namespace

std::unique_ptr<Codec> NewCassandraCodec(const CodecOptions& options,
                                         const std::vector<StatementPlan>& statements) {
  return std::make_unique<CassandraCodec>(options, statements);
}

}  // namespace cavalry::drivers::cassandra
