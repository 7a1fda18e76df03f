#include "core/stats/operation_counters.h"

#include <string>

#include <gtest/gtest.h>

namespace cavalry::stats {
namespace {

TEST(OperationCountersTest, CountsEveryClassOnce) {
  OperationCounters counters;
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    for (std::size_t n = 0; n <= i; ++n) {
      ++counters.attempted;
      EXPECT_FALSE(counters.balanced());
      counters.Count(static_cast<Outcome>(i));
    }
  }
  EXPECT_EQ(counters.ended(), 45u);
  EXPECT_EQ(counters[Outcome::kOk], 1u);
  EXPECT_EQ(counters[Outcome::kSent], 9u);
  EXPECT_EQ(counters.failed(), 45u - 1 - 2 - 9);
  EXPECT_TRUE(counters.balanced());
}

TEST(OperationCountersTest, AddsEveryField) {
  OperationCounters a;
  a.attempted = 3;
  a.Count(Outcome::kOk);
  a.rows = 5;
  a.bytes = 7;
  a.wrong_answers = 1;
  a.CountKeys(40, 30);
  OperationCounters twice = a;
  twice.Add(a);
  EXPECT_EQ(twice.attempted, 6u);
  EXPECT_EQ(twice[Outcome::kOk], 2u);
  EXPECT_EQ(twice.rows, 10u);
  EXPECT_EQ(twice.bytes, 14u);
  EXPECT_EQ(twice.wrong_answers, 2u);
  EXPECT_EQ(twice.keys_asked, 80u);
  EXPECT_EQ(twice.keys_found, 60u);
}

TEST(IterationCountersTest, BalancesAndAdds) {
  IterationCounters counters{.attempted = 10, .ok = 4, .failed = 3, .dropped = 2, .abandoned = 1};
  EXPECT_TRUE(counters.balanced());
  counters.Add({.attempted = 1});
  EXPECT_FALSE(counters.balanced());
  counters.Add({.abandoned = 1});
  EXPECT_TRUE(counters.balanced());
}

TEST(ErrorTableTest, KeepsCountClassAndFirstText) {
  ErrorTable table;
  table.Count("1062", Outcome::kRejected, "Duplicate entry '1'");
  table.Count("1062", Outcome::kRejected, "Duplicate entry '2'", 4);
  table.Count("1062", Outcome::kBroken, "gone");
  ASSERT_EQ(table.entries().size(), 2u);
  const ErrorTable::Entry& entry = table.entries().begin()->second;
  EXPECT_EQ(entry.count, 5u);
  EXPECT_EQ(entry.outcome, Outcome::kRejected);
  EXPECT_EQ(entry.text, "Duplicate entry '1'");
}

TEST(ErrorTableTest, IsBoundedInKindsCodesAndTexts) {
  ErrorTable table;
  for (int i = 0; i < 1'000; ++i) {
    const std::string code = "code " + std::to_string(i);
    table.Count(code, i % 2 == 0 ? Outcome::kRejected : Outcome::kBroken, "text");
  }
  table.Count(std::string(10'000, 'x'), Outcome::kTimeout, std::string(10'000, 'y'));
  EXPECT_LE(table.entries().size(), ErrorTable::kMaxKinds + kOutcomeCount);
  std::uint64_t total = 0;
  for (const auto& [key, entry] : table.entries()) total += entry.count;
  EXPECT_EQ(total, 1'001u);
  EXPECT_EQ(table.entries().find(std::pair("other", Outcome::kRejected))->second.count, 468u);

  ErrorTable small;
  small.Count(std::string(10'000, 'x'), Outcome::kTimeout, std::string(10'000, 'y'));
  const auto& [key, entry] = *small.entries().begin();
  EXPECT_EQ(key.first.size(), ErrorTable::kMaxCodeBytes);
  EXPECT_EQ(entry.text.size(), ErrorTable::kMaxTextBytes);
}

TEST(ErrorTableTest, MergesByCodeAndClass) {
  ErrorTable a, b;
  a.Count("1213", Outcome::kRejected, "Deadlock", 2);
  b.Count("1213", Outcome::kRejected, "another text", 3);
  b.Count("2013", Outcome::kBroken, "Lost connection");
  a.Add(b);
  EXPECT_EQ(a.entries().size(), 2u);
  EXPECT_EQ(a.entries().begin()->second.count, 5u);
  EXPECT_EQ(a.entries().begin()->second.text, "Deadlock");
  a.Clear();
  EXPECT_TRUE(a.empty());
}

}  // namespace
}  // namespace cavalry::stats
