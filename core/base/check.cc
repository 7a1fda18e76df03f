#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace cavalry {

void CheckFailed(const char* file, int line, const char* condition) {
  // Straight to stderr: the logger's state may be what is broken.
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace cavalry
