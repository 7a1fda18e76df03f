// Counts by outcome of one operation name, and of iterations. Plain numbers: one writer, handed
// over whole.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/outcome.h"

namespace cavalry::stats {

struct OperationCounters {
  std::uint64_t attempted = 0;
  std::array<std::uint64_t, kOutcomeCount> by_outcome{};  // index: Outcome
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wrong_answers = 0;
  std::uint64_t keys_asked = 0;  // by answered reads and multi-reads
  std::uint64_t keys_found = 0;  // of those

  std::uint64_t operator[](Outcome outcome) const {
    return by_outcome[static_cast<std::size_t>(outcome)];
  }
  void Count(Outcome outcome) { ++by_outcome[static_cast<std::size_t>(outcome)]; }
  void CountKeys(std::uint64_t asked, std::uint64_t found) {
    keys_asked += asked;
    keys_found += found;
  }
  std::uint64_t ended() const;  // sum of the nine classes
  // Neither ok nor miss, nor sent without asking for an answer.
  std::uint64_t failed() const;
  // attempted = sum of the nine classes; holds once a step has drained.
  bool balanced() const { return attempted == ended(); }
  void Add(const OperationCounters& other);
  bool operator==(const OperationCounters&) const = default;
};

struct IterationCounters {
  std::uint64_t attempted = 0;
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
  std::uint64_t abandoned = 0;

  bool balanced() const { return attempted == ok + failed + dropped + abandoned; }
  void Add(const IterationCounters& other);
  bool operator==(const IterationCounters&) const = default;
};

// Errors by code, each with its class, count and first text. Bounded: kinds beyond kMaxKinds are
// counted under the code "other". Allocates only on a code's first appearance.
class ErrorTable {
 public:
  // Orders keys by code, then class; also finds one by a code that is not a std::string.
  struct KeyLess {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      const int order = std::string_view(a.first).compare(std::string_view(b.first));
      return order != 0 ? order < 0 : a.second < b.second;
    }
  };
  static constexpr std::size_t kMaxKinds = 64;
  static constexpr std::size_t kMaxCodeBytes = 128;
  static constexpr std::size_t kMaxTextBytes = 512;
  struct Entry {
    Outcome outcome = Outcome::kRejected;
    std::uint64_t count = 0;
    std::string text;
  };

  void Count(std::string_view code, Outcome outcome, std::string_view text,
             std::uint64_t count = 1);
  void Add(const ErrorTable& other);
  void Clear() { entries_.clear(); }
  bool empty() const { return entries_.empty(); }
  // By code, sorted. The same code in two classes has two entries.
  const std::map<std::pair<std::string, Outcome>, Entry, KeyLess>& entries() const {
    return entries_;
  }

 private:
  std::map<std::pair<std::string, Outcome>, Entry, KeyLess> entries_;
};

}  // namespace cavalry::stats
