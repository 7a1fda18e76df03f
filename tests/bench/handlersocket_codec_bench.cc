// What the HandlerSocket codec costs: nanoseconds per operation for Encode and Feed of a find of
// three small columns, at several depths, and of an update. CPU time of the thread, the best of
// several rounds. Not a test; run the release build. An argument is a number of operations for a
// single round, for counting instructions.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "drivers/handlersocket/handlersocket_factory.h"

namespace cavalry::drivers::handlersocket {
namespace {

constexpr int kRounds = 7;
constexpr std::uint64_t kOperationsPerRound = 2'000'000;

Column MakeColumn(std::string name, std::string_view type) {
  auto parsed = ParseColumnType(type);
  CAVALRY_CHECK(parsed.ok());
  Column column;
  column.name = std::move(name);
  column.type = *parsed;
  return column;
}

// Looks at every value, as a check of rows would.
class Reader final : public RowVisitor, public CompletionSink {
 public:
  void OnRow(std::span<const Field> fields) override {
    for (const Field& field : fields) sum_ += field.text.size();
  }
  void OnDone(Ticket /*ticket*/, const OpResult& result) override { sum_ += result.rows; }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

class Bench {
 public:
  Bench() {
    table_.name = "customer";
    table_.columns = {MakeColumn("C_CUSTKEY", "int"), MakeColumn("C_NAME", "varchar(25)"),
                      MakeColumn("C_ADDRESS", "varchar(40)")};
    plans_.resize(2);
    plans_[0] = {.name = "find",
                 .index = 0,
                 .kind = OperationKind::kRead,
                 .table = &table_,
                 .columns = {0, 1, 2}};
    plans_[1] = {.name = "change",
                 .index = 1,
                 .kind = OperationKind::kUpdate,
                 .table = &table_,
                 .columns = {1, 2}};
    Options options;
    options.host = "127.0.0.1";
    options.database = "test";
    factory_ = std::make_unique<HandlerSocketFactory>(options, plans_);
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      codecs_.push_back(factory_->NewCodec(i));
      codecs_[i]->Start(out_);
      out_.Clear();
      const ConnectionState state = codecs_[i]->Feed("0\t1\n", out_, reader_);
      CAVALRY_CHECK(state == ConnectionState::kReady);
    }
  }

  // Nanoseconds per operation of `depth` requests at a time, their answers in one chunk.
  double Run(std::size_t plan, std::uint64_t operations, std::size_t depth, bool visit,
             std::string_view answer) {
    const Value values[] = {Value::Text("Customer#000123456"),
                            Value::Text("7 Long Street, Some Town, XY")};
    std::string answers;
    for (std::size_t i = 0; i < depth; ++i) answers += answer;
    Operation operation;
    operation.plan = &plans_[plan];
    operation.rows = visit ? &reader_ : nullptr;
    operation.values = values;
    Codec& codec = *codecs_[plan];
    const Nanos begin = ThreadCpuNow();
    for (std::uint64_t done = 0; done < operations; done += depth) {
      for (std::size_t i = 0; i < depth; ++i) {
        operation.key = Value::Integer(static_cast<std::int64_t>(100'000 + (done + i) % 100'000));
        CAVALRY_CHECK(codec.Encode(operation, static_cast<Ticket>(i), out_));
      }
      out_.Clear();
      codec.Feed(answers, out_, reader_);
    }
    return static_cast<double>(ThreadCpuNow() - begin) / static_cast<double>(operations);
  }

  std::uint64_t sum() const { return reader_.sum(); }

 private:
  TableSchema table_;
  std::vector<OperationPlan> plans_;
  std::unique_ptr<HandlerSocketFactory> factory_;
  std::vector<std::unique_ptr<Codec>> codecs_;
  ByteBuffer out_;
  Reader reader_;
};

void Main(std::uint64_t operations, int rounds) {
  constexpr std::string_view kRow =
      "0\t3\t123456\tCustomer#000123456\t7 Long Street, Some Town, XY\n";
  struct Case {
    const char* name;
    std::size_t plan;
    std::size_t depth;
    bool visit;
    std::string_view answer;
  };
  const Case cases[] = {{"find of 3 columns, rows looked at, depth 1", 0, 1, true, kRow},
                        {"find of 3 columns, rows looked at, depth 16", 0, 16, true, kRow},
                        {"find of 3 columns, rows counted, depth 1", 0, 1, false, kRow},
                        {"find, no such row, depth 1", 0, 1, true, "0\t3\n"},
                        {"update of 2 columns, depth 1", 1, 1, true, "0\t1\t1\n"}};
  Bench bench;
  for (const Case& one : cases) {
    double best = 1e9;
    for (int round = 0; round < rounds; ++round) {
      best = std::min(best, bench.Run(one.plan, operations, one.depth, one.visit, one.answer));
    }
    fmt::print("{:45} {:6.1f} ns for Encode and Feed\n", one.name, best);
  }
  CAVALRY_CHECK(bench.sum() != 0);
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket

int main(int argc, char** argv) {
  using cavalry::drivers::handlersocket::kOperationsPerRound;
  using cavalry::drivers::handlersocket::kRounds;
  if (argc > 1) {
    cavalry::drivers::handlersocket::Main(std::strtoull(argv[1], nullptr, 10), 1);
  } else {
    cavalry::drivers::handlersocket::Main(kOperationsPerRound, kRounds);
  }
  return 0;
}
