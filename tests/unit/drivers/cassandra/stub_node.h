// A node of a cluster as far as the driver's own questions go: native protocol v4, other versions
// refused, answers by the text of a statement, prepared or not. Tells what it was asked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "tests/fakes/stub_server.h"

namespace cavalry::drivers::cassandra {

// What a statement is answered with: rows of bytes that are called texts, nothing (no columns), or
// an error.
struct StubAnswer {
  std::size_t columns = 0;
  std::vector<std::vector<std::optional<std::string>>> rows;
  std::int32_t error = 0;
  std::string message;
};

struct StubNodeOptions {
  std::string datacenter = "dc1";
  std::vector<std::vector<std::string>> peers;  // address, port, datacenter
  // Asked first; nothing: the node's own answer. `asked`: how often this text was sent before.
  std::function<std::optional<StubAnswer>(std::string_view cql, std::size_t asked)> answer;
};

class StubNode {
 public:
  explicit StubNode(StubNodeOptions options);

  std::uint16_t port() const { return server_.port(); }
  std::size_t connections() const { return server_.connections(); }
  // Consistency levels of the statements that began so, in order.
  std::vector<std::uint16_t> Asked(std::string_view begin) const;

 private:
  void Serve(fakes::StubConnection& client);
  StubAnswer AnswerTo(const std::string& cql, std::uint16_t level);

  const StubNodeOptions options_;
  mutable absl::Mutex mutex_;
  std::vector<std::pair<std::string, std::uint16_t>> asked_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string> prepared_ ABSL_GUARDED_BY(mutex_);  // by id
  fakes::StubServer server_;  // last: its threads use the rest
};

}  // namespace cavalry::drivers::cassandra
