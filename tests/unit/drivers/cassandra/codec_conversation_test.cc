// The codec against answers written down here, whole and in pieces: start-up, operations, pages,
// statements prepared again, late answers, errors.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "drivers/cassandra/cassandra_codec.h"
#include "drivers/cassandra/checksum.h"
#include "drivers/cassandra/segment.h"

namespace cavalry::drivers::cassandra {
namespace {

std::string Number(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text.push_back(static_cast<char>(number >> (8 * i)));
  return text;
}
std::string Short(const std::string& text) { return Number(text.size(), 2) + text; }
std::string Bytes(const std::string& text) { return Number(text.size(), 4) + text; }
const std::string kNull = Number(0xffffffff, 4);

std::string Envelope(int version, int stream, int opcode, const std::string& body, int flags = 0) {
  return Number(static_cast<std::uint64_t>(version), 1) +
         Number(static_cast<std::uint64_t>(flags), 1) +
         Number(static_cast<std::uint64_t>(stream), 2) +
         Number(static_cast<std::uint64_t>(opcode), 1) + Number(body.size(), 4) + body;
}

// A RESULT of rows without metadata.
std::string Rows(int columns, const std::vector<std::string>& values,
                 const std::string& paging_state = "") {
  std::string body = Number(2, 4) + Number(paging_state.empty() ? 4 : 6, 4) +
                     Number(static_cast<std::uint64_t>(columns), 4);
  if (!paging_state.empty()) body += Bytes(paging_state);
  body += Number(values.size() / static_cast<std::size_t>(columns), 4);
  for (const std::string& value : values) body += value;
  return body;
}

std::string Error(std::uint32_t code, const std::string& message, const std::string& more = "") {
  return Number(code, 4) + Short(message) + more;
}

std::string Prepared(int version, const std::string& id, int parameters) {
  std::string body = Number(4, 4) + Short(id);
  if (version == 5) body += Short("m" + id);
  body += Number(1, 4) + Number(static_cast<std::uint64_t>(parameters), 4) + Number(0, 4) +
          Short("k") + Short("t");
  for (int i = 0; i < parameters; ++i) body += Short("c") + Number(9, 2);
  return body;
}

class Scribe final : public RowVisitor, public CompletionSink {
 public:
  void OnRow(std::span<const Field> fields) override {
    script += "row";
    for (const Field& field : fields) {
      script += field.is_null ? " NULL" : fmt::format(" '{}'", field.text);
    }
    script += '\n';
  }
  void OnDone(Ticket ticket, const OpResult& result) override {
    script += fmt::format("{} {} rows {}", ticket, OutcomeName(result.outcome), result.rows);
    if (!result.code.empty()) script += fmt::format(" [{}] {}", result.code, result.text);
    if (result.outcome_unknown) script += " unknown";
    if (result.retryable) script += " retryable";
    if (result.reprepared) script += " reprepared";
    if (!result.warning.empty()) script += fmt::format(" warned: {}", result.warning);
    script += '\n';
  }
  std::string script;
};

// A table k.t (id int, name text, price decimal(6,2)) with get, add, many (batch of 2) and put (IF
// EXISTS).
class CodecTest : public testing::TestWithParam<int> {
 protected:
  CodecTest() {
    options_.version = static_cast<std::uint8_t>(GetParam());
    table_.name = "t";
    for (const char* type : {"int", "varchar(20)", "decimal(6,2)"}) {
      Column column;
      column.name = "c";
      column.type = *ParseColumnType(type);
      table_.columns.push_back(column);
    }
    plans_.resize(4);
    statements_.resize(4);
    for (std::uint32_t i = 0; i < plans_.size(); ++i) {
      plans_[i].index = i;
      plans_[i].name = fmt::format("op{}", i);
      plans_[i].table = &table_;
      statements_[i].operation = &plans_[i];
      statements_[i].cql = fmt::format("cql{}", i);
      statements_[i].parameters = {{Parameter::Source::kKey, 0, CqlType::kInt, {}}};
    }
    statements_[0].reads = true;
    statements_[0].columns = table_.columns;
    plans_[1].kind = OperationKind::kInsert;
    statements_[1].parameters = {{Parameter::Source::kValue, 0, CqlType::kInt, {}},
                                 {Parameter::Source::kValue, 1, CqlType::kText, {}}};
    plans_[2].kind = OperationKind::kInsert;
    plans_[2].batch = 2;
    statements_[2].is_batch = true;
    statements_[2].parameters = statements_[1].parameters;
    plans_[3].kind = OperationKind::kUpdate;
    statements_[3].conditional = true;
  }

  void Begin() {
    codec_ = NewCassandraCodec(options_, statements_);
    codec_->Start(out_);
    out_.Clear();
  }
  // To where operations can be asked.
  void MakeReady() {
    Begin();
    Hear(Envelope(0x80 | GetParam(), 0, 2, ""), false);
    for (int i = 0; i < 4; ++i) {
      const auto parameters =
          static_cast<int>(statements_[static_cast<std::size_t>(i)].parameters.size());
      Say(i, 8, Prepared(GetParam(), fmt::format("id{}", i), parameters));
    }
    ASSERT_EQ(state_, ConnectionState::kReady) << codec_->error().text;
    codec_->EndBatch(out_);
    out_.Clear();
  }
  bool Ask(std::uint32_t plan, Ticket ticket, const std::vector<Value>& values = {}) {
    auto operation = std::make_unique<Operation>();
    values_.push_back(std::make_unique<std::vector<Value>>(values));
    operation->plan = &plans_[plan];
    operation->key = Value::Integer(7);
    operation->values = *values_.back();
    operation->rows = &scribe_;
    operations_.push_back(std::move(operation));
    return codec_->Encode(*operations_.back(), ticket, out_);
  }
  // What was encoded, without v5's segments.
  std::string Sent() {
    codec_->EndBatch(out_);
    std::string plain;
    std::string_view bytes = out_.view();
    ByteBuffer unpacked;
    while (GetParam() == 5 && !bytes.empty()) {
      const Segment segment = ReadSegment(bytes, false, unpacked);
      EXPECT_EQ(segment.state, Segment::State::kWhole);
      plain += segment.payload;
      bytes.remove_prefix(segment.taken);
    }
    if (GetParam() != 5) plain = bytes;
    out_.Clear();
    return plain;
  }
  void Hear(const std::string& envelopes, bool framed = true) {
    std::string bytes = envelopes;
    if (framed && GetParam() == 5) {
      ByteBuffer segments;
      AppendSegments(envelopes, false, segments);
      bytes = segments.view();
    }
    for (std::size_t at = 0; at < bytes.size(); at += piece_) {
      state_ = codec_->Feed(std::string_view(bytes).substr(at, piece_), out_, scribe_);
      if (state_ == ConnectionState::kFailed) return;
    }
  }
  void Say(int stream, int opcode, const std::string& body, int flags = 0) {
    Hear(Envelope(0x80 | GetParam(), stream, opcode, body, flags));
  }
  std::string Flags(std::uint32_t flags) const { return Number(flags, GetParam() == 5 ? 4 : 1); }
  std::string ResultId(const std::string& id) const {
    return GetParam() == 5 ? Short("m" + id) : std::string();
  }

  CodecOptions options_;
  TableSchema table_;
  std::vector<OperationPlan> plans_;
  std::vector<StatementPlan> statements_;
  std::unique_ptr<Codec> codec_;
  ByteBuffer out_;
  Scribe scribe_;
  ConnectionState state_ = ConnectionState::kHandshake;
  std::size_t piece_ = 1 << 20;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<std::unique_ptr<std::vector<Value>>> values_;
};

TEST_P(CodecTest, SendsExecuteAndBatch) {
  MakeReady();
  ASSERT_TRUE(Ask(0, 1));
  const std::string key = Bytes(Number(7, 4));
  EXPECT_EQ(Sent(), Envelope(GetParam(), 3, 0x0a,
                             Short("id0") + ResultId("id0") + Number(10, 2) + Flags(0x07) +
                                 Number(1, 2) + key + Number(5000, 4)));
  ASSERT_TRUE(Ask(1, 2, {Value::Integer(1), Value::Text("é")}));
  EXPECT_EQ(Sent(), Envelope(GetParam(), 2, 0x0a,
                             Short("id1") + ResultId("id1") + Number(10, 2) + Flags(0x01) +
                                 Number(2, 2) + Bytes(Number(1, 4)) + Bytes("é")));
  ASSERT_TRUE(Ask(2, 3, {Value::Integer(1), Value::Null(), Value::Integer(2), Value::Text("b")}));
  const std::string one = std::string("\1") + Short("id2") + Number(2, 2);
  EXPECT_EQ(Sent(),
            Envelope(GetParam(), 1, 0x0d,
                     std::string("\1") + Number(2, 2) + one + Bytes(Number(1, 4)) + kNull + one +
                         Bytes(Number(2, 4)) + Bytes("b") + Number(10, 2) + Flags(0)));
  ASSERT_TRUE(Ask(3, 4));
  EXPECT_EQ(Sent(), Envelope(GetParam(), 0, 0x0a,
                             Short("id3") + ResultId("id3") + Number(10, 2) + Flags(0x11) +
                                 Number(1, 2) + key + Number(8, 2)))
      << "a conditional write names its serial level";
}

TEST_P(CodecTest, TakesAnswersInAnyOrderCutAnywhere) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{5}, std::size_t{1} << 20}) {
    scribe_.script.clear();
    piece_ = 1 << 20;
    MakeReady();
    for (Ticket ticket = 1; ticket <= 4; ++ticket) Ask(0, ticket);
    Sent();
    piece_ = piece;
    // Tickets 1 to 4 have streams 3 to 0.
    Say(1, 8, Rows(3, {Bytes(Number(7, 4)), Bytes("a"), Bytes(Number(2, 4) + "\x05\x14")}));
    Say(0xffff, 0x0c, Short("STATUS_CHANGE"));  // an event
    Say(3, 8, Rows(3, {}));
    Say(0, 8, Number(1, 2) + Short("careful") + Rows(3, {Bytes(Number(8, 4)), kNull, kNull}), 8);
    Say(2, 0, Error(0x1200, "late", Number(4, 2) + Number(1, 4) + Number(2, 4) + "\1"));
    EXPECT_EQ(
        scribe_.script,
        "row '7' 'a' '13.00'\n3 ok rows 1\n1 miss rows 0\n"
        "row '8' NULL NULL\n4 ok rows 1 warned: careful\n"
        "2 rejected rows 0 [0x1200 read_timeout] late (1 of 2 replicas answered for QUORUM)\n");
  }
}

TEST_P(CodecTest, ReadsAllPagesAnEmptyOneAmongThem) {
  MakeReady();
  Ask(0, 1);
  Sent();
  const std::vector<std::string> row = {Bytes(Number(7, 4)), Bytes("a"), kNull};
  Say(3, 8, Rows(3, row, "one"));
  EXPECT_NE(Sent().find(Bytes("one")), std::string::npos);
  Say(3, 8, Rows(3, {}, "two"));
  EXPECT_NE(Sent().find(Bytes("two")), std::string::npos);
  Say(3, 8, Rows(3, row));
  EXPECT_EQ(scribe_.script, "row '7' 'a' NULL\nrow '7' 'a' NULL\n1 ok rows 2\n");
  Ask(0, 2);
  EXPECT_EQ(Sent().find("two"), std::string::npos) << "the next operation begins anew";
}

TEST_P(CodecTest, AStatementIsPreparedAgainOnce) {
  MakeReady();
  Ask(0, 1);
  Sent();
  Say(3, 0, Error(0x2500, "who", Short("id0")));
  EXPECT_EQ(Sent(), Envelope(GetParam(), 3, 9,
                             Bytes("cql0") + (GetParam() == 5 ? Number(0, 4) : std::string())));
  Say(3, 8, Prepared(GetParam(), "id0", 1));
  EXPECT_EQ(Sent().substr(4, 1), "\x0a");
  Say(3, 0, Error(0x2500, "who", Short("id0")));
  EXPECT_EQ(scribe_.script, "1 rejected rows 0 [0x2500 unprepared] who reprepared\n");
}

TEST_P(CodecTest, AnotherIdThanBeforeIsNoEndlessLoop) {
  MakeReady();
  Ask(0, 1);
  Sent();
  Say(3, 0, Error(0x2500, "who", Short("id0")));
  Say(3, 8, Prepared(GetParam(), "other", 1));
  EXPECT_EQ(scribe_.script,
            "1 rejected rows 0 [prepared_id] the server gave the statement another id than before "
            "reprepared\n");
}

TEST_P(CodecTest, WritesThatMayHaveBeenDoneAreTold) {
  MakeReady();
  for (Ticket ticket = 1; ticket <= 4; ++ticket) {
    Ask(1, ticket, {Value::Integer(1), Value::Text("a")});
  }
  Sent();
  Say(3, 0, Error(0x1100, "late", Number(1, 2) + Number(0, 4) + Number(1, 4) + Short("SIMPLE")));
  Say(2, 0, Error(0x1000, "down", Number(1, 2) + Number(1, 4) + Number(0, 4)));
  Say(1, 8, Number(1, 4));
  Say(0, 0, Error(0x2200, "no such column"));
  EXPECT_EQ(
      scribe_.script,
      "1 rejected rows 0 [0x1100 write_timeout] late (0 of 1 replicas answered for ONE, write "
      "type SIMPLE) unknown\n"
      "2 rejected rows 0 [0x1000 unavailable] down (0 of 1 replicas alive for ONE) retryable\n"
      "3 ok rows 1\n4 rejected rows 0 [0x2200 invalid] no such column\n");
}

TEST_P(CodecTest, AConditionThatIsNotMetIsAMiss) {
  MakeReady();
  Ask(3, 1);
  Ask(3, 2);
  Sent();
  // With metadata: [applied] is a boolean.
  const auto applied = [](const char* value) {
    return Number(2, 4) + Number(1, 4) + Number(1, 4) + Short("k") + Short("t") +
           Short("[applied]") + Number(4, 2) + Number(1, 4) + Bytes(std::string(value, 1));
  };
  Say(3, 8, applied("\1"));
  Say(2, 8, applied("\0"));
  EXPECT_EQ(scribe_.script, "1 ok rows 1\n2 miss rows 0\n");
}

TEST_P(CodecTest, LateAnswersAreDroppedUpToABound) {
  options_.max_orphans = 1;
  MakeReady();
  Ask(0, 1);
  Ask(0, 2);
  EXPECT_TRUE(codec_->Forget(1));
  EXPECT_FALSE(codec_->Forget(2));
  // The ticket is free at once, its stream when the answer has come.
  Ask(0, 1);
  Sent();
  Say(3, 8, Rows(3, {}));
  Say(1, 8, Rows(3, {}));
  EXPECT_EQ(scribe_.script, "1 miss rows 0\n");
  EXPECT_TRUE(codec_->Forget(2));
}

TEST_P(CodecTest, ValuesThatCannotBeWrittenAreRefused) {
  MakeReady();
  EXPECT_FALSE(Ask(1, 1, {Value::Integer(std::int64_t{1} << 40), Value::Text("a")}));
  EXPECT_EQ(codec_->error().text,
            "op1: the value of parameter 1 is larger than the column's CQL type holds (int)");
  EXPECT_FALSE(Ask(1, 1, {Value::Integer(1), Value::Text("\xff")}));
  EXPECT_EQ(codec_->error().text,
            "op1: the value of parameter 2 is no UTF-8, as a text of CQL has to be (text)");
  EXPECT_EQ(Sent(), "");
}

TEST_P(CodecTest, NoMoreIsInFlightThanItsStreams) {
  options_.max_in_flight = 5;
  MakeReady();
  for (Ticket ticket = 0; ticket < 5; ++ticket) EXPECT_TRUE(Ask(0, ticket));
  EXPECT_FALSE(Ask(0, 5));
  EXPECT_EQ(codec_->error().code, "queue_full");
}

TEST_P(CodecTest, LogsIn) {
  options_.user = "me";
  options_.password = "pw";
  Begin();
  Hear(Envelope(0x80 | GetParam(), 0, 3, Short("PasswordAuthenticator")), false);
  EXPECT_EQ(Sent(), Envelope(GetParam(), 0, 0x0f, Bytes(std::string("\0me\0pw", 6))));
  Say(0, 0, Error(0x0100, "wrong"));
  EXPECT_EQ(state_, ConnectionState::kFailed);
  EXPECT_EQ(codec_->error().severity, Severity::kFatal);
  EXPECT_EQ(codec_->error().text, "wrong: is the target's password right?");
}

TEST_P(CodecTest, ARefusedVersionAndARefusedStatementAreNamed) {
  Begin();
  Hear(Envelope(0x83, 0, 0, Error(0x000a, "use v3")), false);
  EXPECT_EQ(codec_->error().code, "0x000A");
  Begin();
  Hear(Envelope(0x80 | GetParam(), 0, 2, ""), false);
  Say(1, 0, Error(0x2200, "unconfigured table t"));
  EXPECT_EQ(codec_->error().text, "op1: unconfigured table t: cql1");
  EXPECT_EQ(codec_->error().severity, Severity::kFatal);
}

TEST_P(CodecTest, BytesOfSomethingElseFailTheConnection) {
  Begin();
  Hear("HTTP/1.1 400 Bad Request\r\n", false);
  EXPECT_EQ(state_, ConnectionState::kFailed);
  MakeReady();
  Say(77, 8, Number(1, 4));
  EXPECT_EQ(codec_->error().text, "an answer on a stream that was never used");
  MakeReady();
  Say(2, 8, Number(1, 4));
  EXPECT_EQ(codec_->error().text, "an answer that nobody asked for");
  for (const std::string& body : {Number(2, 4) + Number(4, 4) + Number(0x7fffffff, 4),
                                  Number(2, 4) + Number(4, 4) + Number(3, 4) + Number(1'000'000, 4),
                                  Number(9, 4), std::string("x")}) {
    MakeReady();
    Ask(0, 1);
    Sent();
    Say(3, 8, body);
    EXPECT_EQ(state_, ConnectionState::kFailed);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, CodecTest, testing::Values(4, 5));

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<std::uint8_t>(c));
  return text;
}

// native_protocol_v5.spec, section 2.
TEST(Segments, HaveTheKnownChecksums) {
  ByteBuffer out;
  const std::string envelope("\x05\x00\x00\x00\x05\x00\x00\x00\x00", 9);
  AppendSegments(envelope, false, out);
  EXPECT_EQ(Hex(out.view()),
            "090002a4c8c1"
            "050000000500000000"
            "1086284d");
  EXPECT_EQ(Crc32(""), 0x44777ed3U);
}

TEST(Segments, LargeEnvelopesAreCutAndPutTogetherAgain) {
  const std::string large = Envelope(5, 0, 7, std::string(400'000, 'x'));
  const std::string small = Envelope(5, 1, 7, "y");
  ByteBuffer out;
  AppendSegments(small + large + small, false, out);
  std::string_view bytes = out.view();
  std::string plain;
  std::vector<bool> contained;
  ByteBuffer unpacked;
  while (!bytes.empty()) {
    const Segment segment = ReadSegment(bytes, false, unpacked);
    ASSERT_EQ(segment.state, Segment::State::kWhole);
    plain += segment.payload;
    contained.push_back(segment.self_contained);
    bytes.remove_prefix(segment.taken);
  }
  EXPECT_EQ(plain, small + large + small);
  EXPECT_EQ(contained, (std::vector<bool>{true, false, false, false, false, true}));
}

TEST(Segments, DamageIsSeen) {
  for (const bool lz4 : {false, true}) {
    ByteBuffer out;
    AppendSegments(Envelope(5, 0, 7, std::string(200, 'x')), lz4, out);
    const std::string whole(out.view());
    ByteBuffer unpacked;
    EXPECT_EQ(ReadSegment(whole, lz4, unpacked).payload, Envelope(5, 0, 7, std::string(200, 'x')));
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i] ^= 1;
      EXPECT_NE(ReadSegment(damaged, lz4, unpacked).state, Segment::State::kWhole) << i;
      EXPECT_EQ(ReadSegment(std::string_view(whole).substr(0, i), lz4, unpacked).state,
                Segment::State::kMore);
    }
  }
}

}  // namespace
}  // namespace cavalry::drivers::cassandra
