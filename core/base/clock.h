// Time. Every duration and instant that is measured comes from CLOCK_MONOTONIC, in nanoseconds;
// wall time is for labels only.
#pragma once

#include <cstdint>
#include <ctime>

namespace cavalry {

// Nanoseconds of CLOCK_MONOTONIC. Two instants of one host may be subtracted, never of two hosts.
using Nanos = std::int64_t;

inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

inline Nanos MonotonicNow() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Nanos>(time.tv_sec) * kSecond + time.tv_nsec;
}

// Wall clock in nanoseconds since 1970. Labels only: file names, "started at".
inline std::int64_t WallClockForLabels() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::int64_t>(time.tv_sec) * kSecond + time.tv_nsec;
}

// CPU time of the calling thread in nanoseconds (user + system).
inline Nanos ThreadCpuNow() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<Nanos>(time.tv_sec) * kSecond + time.tv_nsec;
}

}  // namespace cavalry
