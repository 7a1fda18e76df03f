// What a session does, top to bottom; and the memory of its frames.
#include <exception>

#include "agent/run/session.h"
#include "core/base/check.h"

namespace cavalry::run {
namespace {

// A frame remembers its pool in front of it.
struct FrameHeader {
  alignas(std::max_align_t) FramePool* pool;
};

}  // namespace

void* SessionTask::promise_type::operator new(std::size_t bytes, FramePool* pool, SessionSlot*) {
  void* const block = pool->Allocate(bytes + sizeof(FrameHeader));
  return new (block) FrameHeader{pool} + 1;
}

void SessionTask::promise_type::operator delete(void* frame, std::size_t bytes) {
  FrameHeader* const header = static_cast<FrameHeader*>(frame) - 1;
  header->pool->Free(header, bytes + sizeof(FrameHeader));
}

void SessionTask::promise_type::unhandled_exception() { std::terminate(); }

SessionTask RunSession(FramePool*, SessionSlot* slot) {
  // Ends when its slot is destroyed, at one of the points where it waits.
  for (;;) {
    const Issue issue = co_await slot->NextIssue();
    slot->BeginIteration(issue);
    bool any_ok = false;
    bool failed = false;
    for (std::size_t step = 0; step < slot->steps() && !failed; ++step) {
      co_await slot->Connected();
      const Outcome outcome = co_await slot->Execute(step);
      any_ok = any_ok || outcome == Outcome::kOk;
      failed = outcome != Outcome::kOk && outcome != Outcome::kMiss;
    }
    slot->EndIteration(any_ok && !failed);
  }
}

}  // namespace cavalry::run
