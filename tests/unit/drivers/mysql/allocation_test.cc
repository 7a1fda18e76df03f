// After warm-up an operation allocates nothing of ours. The library allocates by malloc, which is
// its own affair; all of ours goes through operator new, counted here for the thread of the test.
#include <cstdlib>
#include <new>
#include <string>

#include <gtest/gtest.h>

#include "tests/unit/drivers/mysql/stub_mysql.h"

namespace {
thread_local std::size_t allocations = 0;
}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace cavalry::drivers::mysql {
namespace {

class CountingVisitor final : public RowVisitor {
 public:
  void OnRow(std::span<const Field> fields) override { bytes += fields[0].text.size(); }
  std::size_t bytes = 0;
};

TEST(MysqlAllocation, TextOperationsAllocateNothing) {
  fakes::StubServer server([](fakes::StubConnection& connection) {
    if (!Accept(&connection)) return;
    for (std::string command; !(command = ReadCommand(&connection)).empty();) {
      connection.Write(command.find("SELECT") == std::string::npos
                           ? Ok(1, 1)
                           : TextResult(1, {"a row of some length, for a start"}));
    }
  });
  StubClient client(server.port());
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  const std::string value(25, '\'');
  CountingVisitor rows;
  const auto run = [&] {
    for (int i = 0; i < 50; ++i) {
      EXPECT_EQ(client.Read(1'000'000, &rows).outcome, Outcome::kOk);
      EXPECT_EQ(client.Update(1'000'000, value).outcome, Outcome::kOk);
    }
  };
  run();
  const std::size_t before = allocations;
  run();
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(rows.bytes, 100u * 33u);
}

TEST(MysqlAllocation, PreparedOperationsAllocateNothing) {
  fakes::StubServer server([](fakes::StubConnection& connection) {
    if (!Accept(&connection)) return;
    ReadCommand(&connection);
    connection.Write(PrepareOk(1, 2));
    while (!ReadCommand(&connection).empty()) connection.Write(Ok(1, 1));
  });
  StubClient client(server.port(), "prepared");
  ASSERT_EQ(client.Connect().outcome, Outcome::kOk);
  const std::string value(25, 'x');
  const auto run = [&] {
    for (int i = 0; i < 50; ++i) EXPECT_EQ(client.Update(1, value).outcome, Outcome::kOk);
  };
  run();
  const std::size_t before = allocations;
  run();
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace cavalry::drivers::mysql
