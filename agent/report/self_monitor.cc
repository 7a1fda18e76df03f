#include "agent/report/self_monitor.h"

#include <sys/resource.h>

namespace cavalry::agent {
namespace {

constexpr double kLimitedCpuShare = 0.9;
constexpr double kLimitedWaitShare = 0.1;

}  // namespace

std::uint64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void ToMessage(const run::WorkerResult& worker, v1::WorkerUsage* usage) {
  usage->set_cpu_user_ns(static_cast<std::uint64_t>(worker.cpu_user));
  usage->set_cpu_system_ns(static_cast<std::uint64_t>(worker.cpu_system));
  usage->set_run_queue_wait_ns(static_cast<std::uint64_t>(worker.run_queue_wait));
  usage->set_wall_ns(static_cast<std::uint64_t>(worker.wall));
  usage->set_loop_turns(worker.loop_turns);
  const double wall = static_cast<double>(worker.wall);
  usage->set_limited(
      worker.wall > 0 &&
      (static_cast<double>(worker.cpu_user + worker.cpu_system) >= kLimitedCpuShare * wall ||
       static_cast<double>(worker.run_queue_wait) >= kLimitedWaitShare * wall));
}

std::uint64_t RaiseOpenFileLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) return raised.rlim_cur;
  }
  return limit.rlim_cur;
}

}  // namespace cavalry::agent
