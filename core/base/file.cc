#include "core/base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/unique_fd.h"

namespace cavalry {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

}  // namespace

StatusOr<std::string> ReadFile(const std::string& path, std::size_t max_bytes) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, path);
  std::string text;
  // Of a regular file the size is known, so that it is not copied while it grows.
  if (struct stat info; ::fstat(file.get(), &info) == 0 && info.st_size > 0) {
    text.reserve(std::min(static_cast<std::size_t>(info.st_size), max_bytes) + kReadBytes);
  }
  while (text.size() <= max_bytes) {
    const std::size_t size = text.size();
    text.resize(size + kReadBytes);
    const ssize_t got = ::read(file.get(), text.data() + size, kReadBytes);
    const int error = errno;
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) return ErrnoStatus(error, path);
    if (got == 0) return text;
  }
  return InvalidArgument("{}: larger than {} bytes", path, max_bytes);
}

}  // namespace cavalry
