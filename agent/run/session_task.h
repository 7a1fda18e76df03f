// The coroutine of a session: RunSession in session_runner.cc says what a session does, top to
// bottom. It runs when resumed, on the thread that resumes it, and never ends by itself; its frame
// is of the pool that it was made with.
#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

#include "agent/run/frame_pool.h"

namespace cavalry::run {

class ScriptSlot;

class SessionTask {
 public:
  // The language wants this name.
  struct promise_type {  // NOLINT(readability-identifier-naming)
    // The coroutine's parameters are offered to operator new: it has a pool.
    static void* operator new(std::size_t bytes, FramePool* pool, ScriptSlot*);
    static void operator delete(void* frame, std::size_t bytes);

    SessionTask get_return_object() {
      return SessionTask(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] void unhandled_exception();
  };

  SessionTask() = default;
  explicit SessionTask(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  SessionTask(SessionTask&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  SessionTask& operator=(SessionTask&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~SessionTask() {
    if (handle_) handle_.destroy();
  }
  void Resume() { handle_.resume(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

SessionTask RunSession(FramePool* pool, ScriptSlot* slot);

}  // namespace cavalry::run
