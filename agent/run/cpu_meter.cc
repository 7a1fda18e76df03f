#include "agent/run/cpu_meter.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "core/base/unique_fd.h"

namespace cavalry::run {
namespace {

Nanos FromTimeval(const timeval& time) {
  return static_cast<Nanos>(time.tv_sec) * kSecond +
         static_cast<Nanos>(time.tv_usec) * kMicrosecond;
}

// The second figure of schedstat: time on the run queue in ns.
Nanos RunQueueWait() {
  const UniqueFd file(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return 0;
  std::array<char, 128> text;
  const ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got <= 0) return 0;
  const char* const end = text.data() + got;
  const void* const space = std::memchr(text.data(), ' ', static_cast<std::size_t>(got));
  if (space == nullptr) return 0;
  Nanos wait = 0;
  std::from_chars(static_cast<const char*>(space) + 1, end, wait);
  return wait;
}

}  // namespace

CpuMeter::Usage CpuMeter::Read() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {FromTimeval(usage.ru_utime), FromTimeval(usage.ru_stime), RunQueueWait(), MonotonicNow()};
}

CpuMeter::Usage CpuMeter::End() const {
  const Usage now = Read();
  return {now.user - began_.user, now.system - began_.system,
          now.run_queue_wait - began_.run_queue_wait, now.wall - began_.wall};
}

}  // namespace cavalry::run
