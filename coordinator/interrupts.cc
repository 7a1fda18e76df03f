#include "coordinator/interrupts.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace cavalry::coordinator {

StatusOr<Interrupts> Interrupts::Create() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&signals, signal);
  // Under nohup the end of the terminal must not end the run. A blocked signal would arrive here
  // even though it is ignored.
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  if (hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  if (const int error = pthread_sigmask(SIG_BLOCK, &signals, nullptr); error != 0) {
    return ErrnoStatus(error, "block signals");
  }
  UniqueFd fd(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return ErrnoStatus(errno, "signalfd");
  return Interrupts(std::move(fd));
}

int Interrupts::Take() {
  int count = 0;
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) ++count;
  return count;
}

}  // namespace cavalry::coordinator
