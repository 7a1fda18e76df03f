// After warm-up neither Encode nor Feed allocates.
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/drivers/handlersocket/conversation.h"

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
void TalkWithoutAllocating(ReadyCodec& ready, Operation operation, const std::string& answer) {
  Counter counter;
  operation.rows = &counter;
  constexpr std::size_t kDepth = 16;
  std::string answers;
  for (std::size_t i = 0; i < kDepth; ++i) answers += answer;
  std::size_t before = 0;
  for (int round = 0; round < 100; ++round) {
    if (round == 2) before = allocations;
    for (std::size_t i = 0; i < kDepth; ++i) {
      ASSERT_TRUE(ready.codec->Encode(operation, static_cast<Ticket>(i), ready.out));
    }
    ready.out.Clear();
    const std::string_view bytes = answers;
    const std::size_t piece = round % 2 == 0 ? bytes.size() : 7;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      ready.codec->Feed(bytes.substr(at, piece), ready.out, counter);
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
  TalkWithoutAllocating(ready, operation, "0\t3\t1\tCustomer#000000001\tSome \x01\x4astreet\n");
  TalkWithoutAllocating(ready, operation, "0\t3\n");
  TalkWithoutAllocating(ready, operation, "1\t1\t146\n");
  TalkWithoutAllocating(ready, operation, "1\t1\tunknown_word_of_some_length\n");
}

TEST(Allocation, NoneForWrites) {
  ReadyCodec ready(Port::kWrite);
  Operation operation;
  const Value row[] = {Value::Integer(1), Value::Text("a name"), Value::Text("Straße\n"),
                       Value::Binary("\x01\x02\x03 and more bytes than fit a small buffer")};
  operation.plan = &ready.plans.all()[SamplePlans::kAdd];
  operation.values = row;
  TalkWithoutAllocating(ready, operation, "0\t1\n");
  const Value changed[] = {Value::Text("another name"), Value::Null()};
  operation.plan = &ready.plans.all()[SamplePlans::kChange];
  operation.key = Value::Integer(1);
  operation.values = changed;
  TalkWithoutAllocating(ready, operation, "0\t1\t1\n");
  operation.plan = &ready.plans.all()[SamplePlans::kDrop];
  TalkWithoutAllocating(ready, operation, "0\t1\t0\n");
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
