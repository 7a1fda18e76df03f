// What one operation sent and received, for --trace. Made for the first operations of an agent
// only; bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "drivers/core/operation.h"

namespace cavalry::run {

// Of each direction so many bytes are kept and shown.
inline constexpr std::size_t kTracedBytes = 512;

class OperationTrace {
 public:
  void AddSent(std::string_view bytes) { Add(bytes, &sent_, &sent_bytes_); }
  void AddReceived(std::string_view bytes) { Add(bytes, &received_, &received_bytes_); }

  const std::string& sent() const { return sent_; }
  const std::string& received() const { return received_; }
  std::size_t sent_bytes() const { return sent_bytes_; }
  std::size_t received_bytes() const { return received_bytes_; }

 private:
  static void Add(std::string_view bytes, std::string* kept, std::size_t* count) {
    *count += bytes.size();
    kept->append(bytes.substr(0, kTracedBytes - kept->size()));
  }

  std::string sent_, received_;
  std::size_t sent_bytes_ = 0, received_bytes_ = 0;
};

// Bytes as one printable line: \t, \n, \r, \\ and \xNN; of `total` bytes those that were kept, with
// the total where some are missing.
std::string Printable(std::string_view kept, std::size_t total);

// The lines of one operation: what it was and what became of it, what was sent, what was received.
std::string Describe(const OperationTrace& trace, const drivers::Operation& operation,
                     std::uint32_t session, std::uint64_t number, const drivers::OpResult& result,
                     Nanos took);

}  // namespace cavalry::run
