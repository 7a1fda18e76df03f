// After warm-up neither Encode nor Feed nor routing allocates.
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/drivers/memcached/conversation.h"

namespace {

std::size_t allocations = 0;

}  // namespace

// Not inlined: a compiler that sees through only one of the pair warns of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size != 0 ? size : 1)) return memory;
  std::abort();
}
// std::stable_sort asks for its buffer in this way.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  std::free(memory);
}

namespace cavalry::drivers::memcached {
namespace {

class Counter final : public RowVisitor, public CompletionSink {
 public:
  void OnRow(std::span<const Field> fields) override { values += fields.size(); }
  void OnDone(Ticket /*ticket*/, const OpResult& /*result*/) override { ++done; }
  std::size_t values = 0;
  std::size_t done = 0;
};

class AllocationTest : public testing::TestWithParam<Protocol> {
 protected:
  AllocationTest() {
    options_ = TextOptions();
    options_.protocol = GetParam();
    options_.servers.push_back(options_.servers.front());
    options_.servers.back().port = 11212;
    std::vector<PlanRequest> requests;
    for (const OperationPlan& plan : plans_.all()) {
      requests.push_back(*PlanOperation(options_, plan));
    }
    factory_ = std::make_unique<MemcachedFactory>(options_, requests, nullptr);
  }

  // Sixteen at a time, the answers whole and in pieces.
  void Expect(Plans::Index plan, const std::vector<Value>& keys, const std::vector<Value>& values,
              const std::string& answer) {
    const auto codec = factory_->NewCodec(0);
    const auto router = factory_->NewRouter();
    Counter counter;
    ByteBuffer out;
    codec->Start(out);
    Operation operation;
    operation.plan = &plans_.all()[plan];
    operation.key = Key(std::span<const Value>(keys));
    operation.values = values;
    operation.rows = &counter;
    constexpr std::size_t kDepth = 16;
    std::string answers;
    for (std::size_t i = 0; i < kDepth; ++i) answers += answer;
    std::size_t before = 0;
    for (int round = 0; round < 100; ++round) {
      if (round == 2) before = allocations;
      for (std::size_t i = 0; i < kDepth; ++i) {
        ASSERT_LT(router->First(operation), 2u);
        ASSERT_TRUE(codec->Encode(operation, static_cast<Ticket>(i), out));
      }
      codec->EndBatch(out);
      out.Clear();
      const std::size_t piece = round % 2 == 0 ? answers.size() : 7;
      for (std::size_t at = 0; at < answers.size(); at += piece) {
        codec->Feed(std::string_view(answers).substr(at, piece), out, counter);
      }
    }
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(counter.done, 100 * kDepth);
  }

  const Plans plans_;
  Options options_;
  std::unique_ptr<MemcachedFactory> factory_;
};

TEST_P(AllocationTest, NoneForOperations) {
  const bool meta = GetParam() == Protocol::kMeta;
  const std::string row = Packed({"a name of some length, so that it is on the heap", "3"});
  const std::string size = std::to_string(row.size());
  const std::vector<Value> key = {Value::Integer(123'456)};
  Expect(Plans::kGet, key, {},
         (meta ? "VA " + size + " kk:t:123456 f1667331633\r\n"
               : "VALUE k:t:123456 1667331633 " + size + "\r\n") +
             row + (meta ? "\r\n" : "\r\nEND\r\n"));
  Expect(Plans::kGet, key, {}, meta ? "EN\r\n" : "END\r\n");
  Expect(Plans::kDrop, key, {}, meta ? "HD\r\n" : "DELETED\r\n");
  const std::vector<Value> values = {
      Value::Integer(1), Value::Text("some text that is long enough"), Value::Integer(2)};
  Expect(Plans::kAdd, {}, values, meta ? "HD\r\n" : "STORED\r\n");
  Expect(Plans::kAdd, {}, values, meta ? "NS\r\n" : "NOT_STORED\r\n");
}

INSTANTIATE_TEST_SUITE_P(Protocols, AllocationTest,
                         testing::Values(Protocol::kText, Protocol::kMeta));

}  // namespace
}  // namespace cavalry::drivers::memcached
