#include "agent/load/number_source.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace cavalry::load {
namespace {

NumberPlan Counted(std::uint64_t first, std::uint64_t count) {
  NumberPlan plan;
  plan.first = first;
  plan.count = count;
  return plan;
}

void Append(const NumberSource::Block& block, std::vector<std::uint64_t>* numbers) {
  for (std::uint64_t i = 0; i < block.count; ++i) {
    numbers->push_back(block.first + i * block.stride);
  }
}

std::vector<std::uint64_t> TakeAll(NumberSource* source) {
  std::vector<std::uint64_t> numbers;
  for (auto block = source->TakeMeasure(); block.count > 0; block = source->TakeMeasure()) {
    Append(block, &numbers);
  }
  return numbers;
}

TEST(NumberSource, GivesEachNumberOfACountedRunOnceOverThreads) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint64_t kCount = 20'011;
  NumberSource source(Counted(1'000, kCount), kThreads);
  std::mutex mutex;
  std::vector<std::uint64_t> all;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      std::vector<std::uint64_t> mine;
      std::uint64_t taken = 0;
      for (auto block = source.TakeMeasure(); block.count > 0; block = source.TakeMeasure()) {
        // Every seventh block is begun and its rest given back.
        if (++taken % 7 == 0 && block.count > 1) {
          source.GiveBackMeasure({block.first + block.stride, block.stride, block.count - 1});
          block.count = 1;
        }
        Append(block, &mine);
      }
      const std::lock_guard lock(mutex);
      all.insert(all.end(), mine.begin(), mine.end());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::uint64_t rest : TakeAll(&source)) all.push_back(rest);
  std::sort(all.begin(), all.end());
  ASSERT_EQ(all.size(), kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(all[i], 1'000 + i);
  EXPECT_TRUE(source.exhausted());
}

TEST(NumberSource, HandsOutSmallBlocksTowardsTheEnd) {
  NumberSource source(Counted(0, 1'000), 2);
  std::uint64_t left = 1'000;
  while (left > 0) {
    const auto block = source.TakeMeasure();
    ASSERT_GT(block.count, 0U);
    EXPECT_LE(block.count, kMaxNumberBlock);
    // No worker holds more than its share of what is left.
    EXPECT_LE(block.count, std::max<std::uint64_t>(left / 4, 1));
    left -= block.count;
  }
  EXPECT_EQ(source.TakeMeasure().count, 0U);
}

TEST(NumberSource, WithoutNumbersIsExhaustedAtOnce) {
  NumberSource source(Counted(5, 0), 3);
  EXPECT_TRUE(source.exhausted());
  EXPECT_EQ(source.TakeMeasure().count, 0U);
}

TEST(NumberSource, StridesThroughATimedRunWithoutEnd) {
  NumberPlan plan;
  plan.first = 2;
  plan.stride = 5;
  NumberSource source(plan, 1);
  std::vector<std::uint64_t> numbers;
  // Warm-up and measure share the stream.
  Append(source.TakeWarmup(), &numbers);
  Append(source.TakeMeasure(), &numbers);
  ASSERT_EQ(numbers.size(), 2 * kMaxNumberBlock);
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], 2 + 5 * i);
  EXPECT_FALSE(source.exhausted());
}

TEST(NumberSource, GivesBackWhatATimedRunsWarmUpDidNotBegin) {
  NumberSource source(NumberPlan{}, 1);
  const auto block = source.TakeWarmup();
  source.GiveBackMeasure({block.first + 10, block.stride, block.count - 10});
  const auto again = source.TakeMeasure();
  EXPECT_EQ(again.first, 10U);
  EXPECT_EQ(again.count, kMaxNumberBlock - 10);
}

TEST(NumberSource, KeepsWarmUpOfACountedRunApart) {
  NumberPlan plan = Counted(100, 50);
  plan.warmup_first = 1'001;
  plan.warmup_stride = 3;
  NumberSource source(plan, 1);
  std::vector<std::uint64_t> warmup;
  for (int i = 0; i < 5; ++i) Append(source.TakeWarmup(), &warmup);
  for (std::size_t i = 0; i < warmup.size(); ++i) EXPECT_EQ(warmup[i], 1'001 + 3 * i);
  EXPECT_FALSE(source.exhausted());
  EXPECT_EQ(TakeAll(&source).size(), 50U);
}

TEST(NumberSource, IsNotExhaustedWhileNumbersCameBack) {
  NumberSource source(Counted(0, 8), 1);
  std::vector<NumberSource::Block> blocks;
  while (!source.exhausted()) blocks.push_back(source.TakeMeasure());
  source.GiveBackMeasure(blocks.back());
  EXPECT_FALSE(source.exhausted());
  const auto again = source.TakeMeasure();
  EXPECT_EQ(again.first, blocks.back().first);
  EXPECT_TRUE(source.exhausted());
  source.GiveBackMeasure({0, 1, 0});
  EXPECT_TRUE(source.exhausted());
}

}  // namespace
}  // namespace cavalry::load
