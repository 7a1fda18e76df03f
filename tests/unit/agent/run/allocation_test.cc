// After warm-up an operation allocates nothing: counted by an operator new of our own, on the
// worker threads only.
#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "tests/unit/agent/run/run_harness.h"

namespace {

// When allocations count, on CLOCK_MONOTONIC.
std::atomic<cavalry::Nanos> window_begin{INT64_MAX};
std::atomic<cavalry::Nanos> window_end{INT64_MAX};
std::atomic<std::uint64_t> allocations{0};
// Who made the first of them.
std::array<void*, 32> stack;
int stack_depth = 0;
// Set by threads that are not workers.
thread_local bool exempt = false;

void* Allocate(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  if (exempt || window_begin == INT64_MAX) return memory;
  const cavalry::Nanos now = cavalry::MonotonicNow();
  if (now >= window_begin && now < window_end && allocations++ == 0) {
    stack_depth = backtrace(stack.data(), static_cast<int>(stack.size()));
  }
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return Allocate(bytes); }
void* operator new[](std::size_t bytes) { return Allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace cavalry::run {
namespace {

// Three whole intervals: each of the recorders in turn has then been used once.
constexpr Nanos kSettled = 2200 * kMillisecond;
constexpr Nanos kDuration = 3300 * kMillisecond;

TEST(AllocationTest, OperationsAllocateNothingAfterWarmUp) {
  exempt = true;
  backtrace(stack.data(), static_cast<int>(stack.size()));  // loads what it needs
  fakes::LineServerOptions server_options;
  server_options.reply = [](std::uint64_t, std::uint64_t, std::string_view) {
    exempt = true;
    return fakes::LineReply{"OK 1\n"};
  };
  fakes::LineServer server(server_options);
  // All ways at a time, each a run of its own.
  std::vector<std::unique_ptr<TestPlan>> plans;
  std::vector<std::unique_ptr<LoadRun>> runs;
  for (const LoopKind loop : {LoopKind::kEpoll, LoopKind::kIoUring}) {
    for (const bool pollable : {false, true}) {
      PlanOptions options;
      options.port = server.port();
      options.loop = loop;
      options.pollable = pollable;
      options.pipeline = pollable ? 1 : 3;
      options.sessions = 4;
      options.duration = kDuration;
      options.script = {drivers::OperationKind::kRead, drivers::OperationKind::kInsert};
      plans.push_back(std::make_unique<TestPlan>(options));
      StatusOr<std::unique_ptr<LoadRun>> run = LoadRun::Create(plans.back()->plan);
      ASSERT_TRUE(run.ok());
      runs.push_back(*std::move(run));
    }
  }
  const Nanos start = MonotonicNow() + 100 * kMillisecond;
  // To the end of issuing: a result may allocate.
  window_end = start + kDuration;
  window_begin = start + kSettled;
  for (const auto& run : runs) run->StartAt(start);
  std::uint64_t ok = 0;
  std::size_t finished = 0;
  while (finished < runs.size()) {
    for (const auto& run : runs) {
      LoadEvent event = run->Next(MonotonicNow() + kMillisecond);
      if (auto* interval = std::get_if<IntervalEvent>(&event)) {
        ok += interval->recorder->TotalOperations()[Outcome::kOk];
        run->Recycle(interval->worker, std::move(interval->recorder));
      } else if (std::holds_alternative<FinishedEvent>(event)) {
        ++finished;
      }
    }
  }
  EXPECT_GT(ok, 1000u);
  EXPECT_EQ(allocations.load(), 0u);
  backtrace_symbols_fd(stack.data(), stack_depth, STDERR_FILENO);
}

}  // namespace
}  // namespace cavalry::run
