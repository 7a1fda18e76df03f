// The back-ends that the contract is held with: what a spec says of each, and what each cannot do.
// A driver joins by a line in AllBackEnds().
#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace cavalry::contract {

struct BackEnd {
  std::string name;
  // The target in a spec; @SQL@, @PREPARED@ and @HS@ as in the harness, @SPACE@ is a name of the
  // test's own. `owner`: another target that is needed beside it; "" for none.
  std::string target;
  std::string owner;
  // What it does.
  bool multi_read = true;
  bool batch_insert = true;
  bool transactions = false;
  bool tells_duplicates = true;  // an insert of a key that is there is rejected
  bool tells_missing = true;     // an update or delete of a missing row is a miss
};

std::ostream& operator<<(std::ostream& out, const BackEnd& back_end);

// Those whose server the environment names. Not one of them may be missing in CI: tests/run starts
// all.
std::vector<BackEnd> AllBackEnds();

}  // namespace cavalry::contract
