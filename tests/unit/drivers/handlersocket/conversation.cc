#include "tests/unit/drivers/handlersocket/conversation.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/base/check.h"

namespace cavalry::drivers::handlersocket {
namespace {

Options SampleOptions(std::string_view secret) {
  Options options;
  options.host = "127.0.0.1";
  options.read_secret = std::string(secret);
  options.write_secret = std::string(secret);
  options.database = "test";
  return options;
}

OperationPlan MakePlan(std::string name, OperationKind kind, const TableSchema* table,
                       std::vector<std::uint32_t> columns) {
  OperationPlan plan;
  plan.name = std::move(name);
  plan.kind = kind;
  plan.table = table;
  plan.columns = std::move(columns);
  return plan;
}

// Where some plan of the port goes.
std::size_t EndpointOf(const HandlerSocketFactory& factory, const std::vector<OperationPlan>& plans,
                       Port port) {
  Operation operation;
  for (const OperationPlan& plan : plans) {
    if (PortOf(plan.kind) == port) operation.plan = &plan;
  }
  CAVALRY_CHECK(operation.plan != nullptr);
  return factory.EndpointsOf(*operation.plan).front();
}

Done ToDone(Ticket ticket, const OpResult& result) {
  Done done;
  done.ticket = ticket;
  done.outcome = result.outcome;
  done.severity = result.severity;
  done.outcome_unknown = result.outcome_unknown;
  done.retryable = result.retryable;
  done.rows = result.rows;
  done.insert_id = result.insert_id;
  done.bytes = result.bytes;
  done.code = std::string(result.code);
  done.text = std::string(result.text);
  return done;
}

void FeedInPieces(Codec& codec, std::string_view bytes, Cut cut, Collector& collector,
                  ByteBuffer& out) {
  std::size_t piece = cut.first_bytes != 0 ? cut.first_bytes : cut.fragment_bytes;
  while (!bytes.empty()) {
    const std::string_view head = bytes.substr(0, piece);
    // A copy of exactly these bytes, so that a sanitizer sees a read beyond them.
    const std::vector<char> copy(head.begin(), head.end());
    codec.Feed({copy.data(), copy.size()}, out, collector);
    bytes.remove_prefix(head.size());
    piece = cut.fragment_bytes;
  }
}

}  // namespace

Column MakeColumn(std::string name, std::string_view type, bool nullable) {
  auto parsed = ParseColumnType(type);
  CAVALRY_CHECK(parsed.ok());
  Column column;
  column.name = std::move(name);
  column.type = *parsed;
  column.nullable = nullable;
  return column;
}

SamplePlans::SamplePlans() {
  table_.name = "customer";
  table_.columns = {MakeColumn("C_CUSTKEY", "int"), MakeColumn("C_NAME", "varchar(25)"),
                    MakeColumn("C_ADDRESS", "varchar(40)", true),
                    MakeColumn("V", "varbinary(300)", true)};
  table_.engine = "InnoDB";
  plans_ = {MakePlan("find", OperationKind::kRead, &table_, {0, 1, 2}),
            MakePlan("add", OperationKind::kInsert, &table_, {0, 1, 2, 3}),
            MakePlan("change", OperationKind::kUpdate, &table_, {1, 2}),
            MakePlan("drop", OperationKind::kDelete, &table_, {}),
            MakePlan("get", OperationKind::kRead, &table_, {3})};
  for (std::uint32_t i = 0; i < plans_.size(); ++i) plans_[i].index = i;
}

void Collector::OnRow(std::span<const Field> fields) {
  Row row;
  for (const Field& field : fields) {
    if (field.is_null) {
      row.emplace_back(std::nullopt);
    } else {
      row.emplace_back(std::string(field.text));
    }
  }
  visited_.push_back(std::move(row));
}

void Collector::OnDone(Ticket ticket, const OpResult& result) {
  done.push_back(ToDone(ticket, result));
  done.back().visited = std::move(visited_);
  visited_.clear();
}

std::ostream& operator<<(std::ostream& out, const Transcript& transcript) {
  out << "state " << static_cast<int>(transcript.state) << ", sent "
      << testing::PrintToString(transcript.handshake + transcript.requests) << ", refused "
      << transcript.refused << ", error " << transcript.error.code << ": " << transcript.error.text;
  for (const Done& done : transcript.done) {
    out << "\n  ticket " << done.ticket << " " << OutcomeName(done.outcome) << " rows " << done.rows
        << " id " << done.insert_id << " bytes " << done.bytes << " code \"" << done.code
        << "\" visited " << testing::PrintToString(done.visited);
  }
  return out;
}

Transcript Talk(const Conversation& conversation, Cut cut) {
  const SamplePlans sample;
  const std::vector<OperationPlan>& plans =
      conversation.plans != nullptr ? *conversation.plans : sample.all();
  const HandlerSocketFactory factory(SampleOptions(conversation.secret), plans);
  const std::unique_ptr<Codec> codec =
      factory.NewCodec(EndpointOf(factory, plans, conversation.port));
  Collector collector;
  ByteBuffer out;
  Transcript transcript;

  codec->Start(out);
  transcript.handshake = std::string(out.view());
  out.Clear();
  FeedInPieces(*codec, conversation.greeting, cut, collector, out);
  transcript.state = codec->Feed({}, out, collector);
  if (transcript.state == ConnectionState::kReady) {
    Ticket ticket = 100;
    for (const Ask& ask : conversation.asks) {
      Operation operation;
      operation.plan = &plans[ask.plan];
      operation.key = ask.keys.empty() ? Key(ask.key) : Key(std::span<const Value>(ask.keys));
      operation.values = ask.values;
      operation.rows = ask.visit ? &collector : nullptr;
      if (!codec->Encode(operation, ticket++, out)) {
        ++transcript.refused;
        transcript.error = ToDone(0, codec->error());
      }
    }
    transcript.requests = std::string(out.view());
    FeedInPieces(*codec, conversation.answers, cut, collector, out);
    transcript.state = codec->Feed({}, out, collector);
  }
  transcript.done = collector.done;
  if (transcript.state == ConnectionState::kFailed) transcript.error = ToDone(0, codec->error());
  return transcript;
}

Transcript TalkAtEveryCut(const Conversation& conversation) {
  const std::size_t all = conversation.greeting.size() + conversation.answers.size() + 1;
  const Transcript whole = Talk(conversation, {.fragment_bytes = all});
  for (const std::size_t fragment : {1, 2, 3, 5, 10, 100}) {
    EXPECT_EQ(Talk(conversation, {.fragment_bytes = fragment}), whole)
        << "in fragments of " << fragment;
  }
  for (std::size_t at = 1; at < all; ++at) {
    EXPECT_EQ(Talk(conversation, {.first_bytes = at, .fragment_bytes = all}), whole)
        << "cut at byte " << at;
  }
  return whole;
}

std::string Welcome(Port port, bool secret) {
  const int answers = (port == Port::kRead ? 2 : 3) + (secret ? 1 : 0);
  std::string greeting;
  for (int i = 0; i < answers; ++i) greeting += "0\t1\n";
  return greeting;
}

ReadyCodec::ReadyCodec(Port port)
    : factory(SampleOptions(""), plans.all()),
      codec(factory.NewCodec(EndpointOf(factory, plans.all(), port))) {
  Collector collector;
  codec->Start(out);
  out.Clear();
  const ConnectionState state = codec->Feed(Welcome(port, false), out, collector);
  CAVALRY_CHECK(state == ConnectionState::kReady);
}

}  // namespace cavalry::drivers::handlersocket
