// After warm-up neither Encode nor Feed allocates.
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/drivers/handlersocket/conversation.h"
#include "tests/unit/drivers/handlersocket/order_plans.h"

namespace {

std::size_t allocations = 0;

}  // namespace

// Not inlined: a compiler that sees through only one of the pair warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace cavalry::drivers::handlersocket {
namespace {

class Counter final : public RowVisitor, public CompletionSink {
 public:
  void OnRow(std::span<const Field> fields) override { values_ += fields.size(); }
  void OnDone(Ticket /*ticket*/, const OpResult& /*result*/) override { ++done_; }
  std::size_t values() const { return values_; }
  std::size_t done() const { return done_; }

 private:
  std::size_t values_ = 0;
  std::size_t done_ = 0;
};

// Encodes `operation` sixteen times, feeds the answers in pieces, and does it all again.
void TalkWithoutAllocating(Codec& codec, Operation operation, const std::string& answer) {
  Counter counter;
  ByteBuffer out;
  operation.rows = &counter;
  constexpr std::size_t kDepth = 16;
  std::string answers;
  for (std::size_t i = 0; i < kDepth; ++i) answers += answer;
  std::size_t before = 0;
  for (int round = 0; round < 100; ++round) {
    if (round == 2) before = allocations;
    for (std::size_t i = 0; i < kDepth; ++i) {
      ASSERT_TRUE(codec.Encode(operation, static_cast<Ticket>(i), out));
    }
    out.Clear();
    const std::string_view bytes = answers;
    const std::size_t piece = round % 2 == 0 ? bytes.size() : 7;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      codec.Feed(bytes.substr(at, piece), out, counter);
    }
  }
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(counter.done(), 100 * kDepth);
}

TEST(Allocation, NoneForReads) {
  ReadyCodec ready(Port::kRead);
  Operation operation;
  operation.plan = &ready.plans.all()[SamplePlans::kFind];
  operation.key = Value::Integer(123'456);
  TalkWithoutAllocating(*ready.codec, operation,
                        "0\t3\t1\tCustomer#000000001\tSome \x01\x4astreet\n");
  TalkWithoutAllocating(*ready.codec, operation, "0\t3\n");
  TalkWithoutAllocating(*ready.codec, operation, "1\t1\t146\n");
  TalkWithoutAllocating(*ready.codec, operation, "1\t1\tunknown_word_of_some_length\n");
}

TEST(Allocation, NoneForWrites) {
  ReadyCodec ready(Port::kWrite);
  Operation operation;
  const Value row[] = {Value::Integer(1), Value::Text("a name"), Value::Text("Straße\n"),
                       Value::Binary("\x01\x02\x03 and more bytes than fit a small buffer")};
  operation.plan = &ready.plans.all()[SamplePlans::kAdd];
  operation.values = row;
  TalkWithoutAllocating(*ready.codec, operation, "0\t1\n");
  const Value changed[] = {Value::Text("another name"), Value::Null()};
  operation.plan = &ready.plans.all()[SamplePlans::kChange];
  operation.key = Value::Integer(1);
  operation.values = changed;
  TalkWithoutAllocating(*ready.codec, operation, "0\t1\t1\n");
  operation.plan = &ready.plans.all()[SamplePlans::kDrop];
  TalkWithoutAllocating(*ready.codec, operation, "0\t1\t0\n");
}

TEST(Allocation, NoneForTheOtherForms) {
  const OrderPlans plans;
  Options options;
  options.host = "127.0.0.1";
  options.database = "test";
  const HandlerSocketFactory factory(options, plans.all());
  const auto talk = [&](OrderPlans::Index index, std::vector<Value> keys, std::vector<Value> values,
                        const std::string& answer) {
    Operation operation;
    operation.plan = &plans.all()[index];
    if (!keys.empty()) operation.key = Key(std::span<const Value>(keys));
    operation.values = values;
    const std::unique_ptr<Codec> codec =
        factory.NewCodec(factory.EndpointsOf(*operation.plan).front());
    Counter counter;
    ByteBuffer out;
    ConnectionState state = codec->Start(out);
    while (state == ConnectionState::kHandshake) state = codec->Feed("0\t1\n", out, counter);
    TalkWithoutAllocating(*codec, operation, answer);
  };
  const Value one = Value::Integer(1);
  talk(OrderPlans::kTickets, {one, one, one}, {}, "0\t2\t1\ta\n");
  talk(OrderPlans::kLines, {one, one, one, one}, {}, "0\t2\t1\ta\n0\t2\n");
  talk(OrderPlans::kByName, {Value::Text("nut"), one}, {}, "0\t2\t1\t2\t3\t4\n");
  const Value text = Value::Text("some longer text that has\ta TAB");
  const std::vector<Value> rows = {one, one, Value::Text("nut"), one, text,
                                   one, one, Value::Text("nut"), one, text};
  talk(OrderPlans::kAddLines, {}, rows, "0\t1\n0\t1\n");
  talk(OrderPlans::kAddLines, {}, rows, "0\t1\n1\t1\t121\n");
  talk(OrderPlans::kNewTicket, {}, {Value::Text("pump")}, "0\t1\t77\n");
  talk(OrderPlans::kRename, {one, one}, {Value::Text("bolt")}, "0\t1\tnut\n");
  talk(OrderPlans::kDownAndTell, {one, one}, {}, "0\t1\t7\n");
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
