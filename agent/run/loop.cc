#include "agent/run/loop.h"

namespace cavalry::run {

StatusOr<std::unique_ptr<Loop>> NewLoop(const LoopOptions& options) {
  if (options.kind == LoopKind::kEpoll) return NewEpollLoop();
  if (options.kind == LoopKind::kAuto && options.only_watches) return NewEpollLoop();
  StatusOr<std::unique_ptr<Loop>> uring = NewUringLoop(options);
  if (uring.ok() || options.kind == LoopKind::kIoUring) return uring;
  return NewEpollLoop();
}

}  // namespace cavalry::run
