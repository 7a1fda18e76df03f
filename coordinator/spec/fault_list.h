// Collects the faults of a spec, so that one look at a file names them all: one line each,
// "file:line:column: what". One thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/spec/spec_document.h"
#include "core/base/status.h"

namespace cavalry::spec {

class FaultList {
 public:
  // More are counted, not listed: after twenty a person fixes something first.
  static constexpr std::size_t kMaxListed = 20;

  // Places are positions in `file`.
  static FaultList InFile(std::string file);
  // Every fault is of one place outside of a file: "--set load.sessions".
  static FaultList AtPlace(std::string place);

  void Add(Position at, std::string_view text);
  // `place` as SpecDocument::Where gives it.
  void AddAt(std::string_view place, std::string_view text);
  // Place and text in one.
  void AddLine(std::string line);

  bool empty() const { return lines_.empty(); }
  // The lines as one InvalidArgument; ok if there are none.
  Status ToStatus() const;

 private:
  FaultList() = default;

  std::string file_;
  std::string place_;
  std::vector<std::string> lines_;  // without repeats
  std::size_t unlisted_ = 0;
};

}  // namespace cavalry::spec
