// First unused keys and versions, by owner of the tables: what one step hands to the next, so that
// no two steps since the last reset ever insert the same key. Pure; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cavalry/v1/control.pb.h"
#include "cavalry/v1/results.pb.h"
#include "cavalry/v1/workload.pb.h"

namespace cavalry::run {

class KeyBook {
 public:
  // Tables as a phase found or left them. After a reset the highest used key is forgotten.
  void Learn(const std::string& owner, const v1::TableState& table, bool forget);
  // The keys 1..rows of the table are in use.
  void Filled(const std::string& owner, const std::string& table, std::uint64_t rows);
  // Versions begin anew (after a reset).
  void ResetVersions(const std::string& owner) { versions_[owner] = 1; }

  std::uint64_t NextKey(const std::string& owner, const std::string& table) const;
  std::uint64_t NextVersion(const std::string& owner) const;
  void FillAssignment(const std::string& owner, const v1::Workload& workload,
                      v1::Assignment* assignment) const;

  // Keys and versions that an agent's step report says are used.
  void Advance(const std::string& owner, const v1::StepReport& report);
  // Keys and versions that a lost agent can have used in a step of `workload`: it began no
  // iteration number above `largest_number`. `before`: an assignment of that step. Returns a text
  // that says where keys go on, "" when the step inserts nothing.
  std::string AdvanceLost(const std::string& owner, const v1::Workload& workload,
                          const v1::Assignment& before, std::uint64_t largest_number);

 private:
  std::map<std::string, std::map<std::string, std::uint64_t>> next_keys_;
  std::map<std::string, std::uint64_t> versions_;
};

}  // namespace cavalry::run
