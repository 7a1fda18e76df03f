// What a session does, top to bottom; and the memory of its frames.
#include <exception>

#include "agent/run/script_slot.h"
#include "agent/run/session_task.h"
#include "core/base/check.h"

namespace cavalry::run {
namespace {

// A frame remembers its pool in front of it.
struct FrameHeader {
  alignas(std::max_align_t) FramePool* pool;
};

}  // namespace

void* SessionTask::promise_type::operator new(std::size_t bytes, FramePool* pool, ScriptSlot*) {
  void* const block = pool->Allocate(bytes + sizeof(FrameHeader));
  return new (block) FrameHeader{pool} + 1;
}

void SessionTask::promise_type::operator delete(void* frame, std::size_t bytes) {
  FrameHeader* const header = static_cast<FrameHeader*>(frame) - 1;
  header->pool->Free(header, bytes + sizeof(FrameHeader));
}

void SessionTask::promise_type::unhandled_exception() { std::terminate(); }

SessionTask RunSession(FramePool*, ScriptSlot* slot) {
  // Ends when its slot is destroyed, at one of the points where it waits.
  for (;;) {
    co_await slot->NextIssue();
    co_await slot->TakeConnections();
    bool any_ok = false;
    bool failed = false;
    std::uint32_t retries = 0;
    std::size_t step = slot->first_step();
    std::size_t restart = step;  // where a retry begins: the last begin, or the step itself
    while (step < slot->end_step() && !failed) {
      if (const Nanos pause = slot->SleepOf(step); pause > 0) {
        co_await slot->Sleep(pause);
        ++step;
        continue;
      }
      if (!slot->in_transaction()) restart = step;
      co_await slot->Connected();
      co_await slot->Execute(step);
      if (slot->succeeded()) {
        any_ok = any_ok || slot->did();
        ++step;
        continue;
      }
      failed = !slot->retryable() || retries == slot->most_retries();
      if (slot->in_transaction()) co_await slot->RollBack();
      if (failed) break;
      ++retries;
      co_await slot->Sleep(slot->BeginRetry(retries));
      step = restart;
    }
    // Of a script without a commit: nothing of it may be there for the next iteration.
    if (slot->in_transaction()) co_await slot->RollBack();
    slot->EndIteration(any_ok && !failed);
    co_await slot->GiveBackConnections();
    if (slot->think_time() > 0) co_await slot->Sleep(slot->think_time());
  }
}

}  // namespace cavalry::run
