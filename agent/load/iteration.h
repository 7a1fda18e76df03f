// What one iteration sends: for each step of the script the key, the version and the values, from
// the iteration's number alone. A Recipe is shared and immutable; an IterationState belongs to one
// iteration in flight.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/load/key_sequence.h"
#include "agent/load/ledger.h"
#include "agent/load/row_generator.h"
#include "core/base/clock.h"
#include "drivers/core/operation.h"

namespace cavalry::load {

enum class Verification : std::uint8_t { kSampled, kAlways, kNever };
inline constexpr std::uint64_t kVerifyOneIn = 64;

// How a parameter of a native statement gets its value.
struct ParameterRecipe {
  std::optional<KeySequence> keys;       // a key; else a value of the row of the first key
  std::optional<std::uint32_t> same_as;  // index of the operation whose last key it takes
  std::shared_ptr<const drivers::TableSchema> schema;  // of `values`, where no table's
  RowGenerator values;                                 // one column: the parameter
};

// How one operation of the spec gets its key and values.
struct OperationRecipe {
  const drivers::OperationPlan* plan = nullptr;
  std::uint32_t table = 0;          // index among the step's tables; of kinds without one not used
  std::uint32_t per_iteration = 1;  // times it occurs in the script: most of all variants
  std::optional<KeySequence> keys;  // not of inserts, nor with same_as
  std::optional<std::uint32_t> same_as;  // index of the operation whose last key it takes
  bool exclusive = false;                // keys are moved to the session's class
  std::uint64_t exclusive_first = 1, exclusive_last = 1;  // range of the classes
  // Values of the key columns (scan: of the index's) by row number; none: the number itself.
  std::optional<RowGenerator> key_values;
  std::uint64_t insert_first = 0;  // of inserts: first key of iteration 0
  // Of inserts: keys that a block of iterations (ScriptPlan::Turn) inserts into the table.
  std::uint64_t insert_slots = 1;
  std::uint32_t update_slots = 1;  // of updates: updates per iteration
  std::uint32_t update_slot = 0;   // of updates: this operation's first slot among them
  // Of writes: the step has only one writer of each of its keys. If not, they are counted as
  // unaudited.
  bool auditable = true;
  std::optional<RowGenerator> values;  // insert, update: what is sent; read: what is expected
  Verification verification = Verification::kNever;
  std::vector<std::uint32_t> checked;       // read: positions in plan->columns that can be checked
  std::vector<ParameterRecipe> parameters;  // native
};

// One line of a script, repeats unrolled: an operation, or a wait.
struct ScriptStep {
  std::uint32_t operation = 0;  // index; of a wait not looked at
  std::uint32_t slot = 0;       // which occurrence of its operation within its variant it is
  Nanos sleep = 0;              // above 0: waits so long instead
  // Of inserts: its first key in the block of iterations when it is the first of its variant there,
  // and how far on the next iteration of the variant is.
  std::uint32_t insert_slot = 0;
  std::uint32_t insert_stride = 0;
};

// One alternative of what an iteration does: steps first .. first + count - 1 of the plan.
struct ScriptVariant {
  std::string name;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  // Of kMixBlock iterations in a row, shuffled, those at `begin` to before `end` are of it.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// A step's script over its operations. Without variants all steps are done by each iteration.
struct ScriptPlan {
  std::vector<ScriptStep> steps;
  std::vector<ScriptVariant> variants;
  // Operation to do where an iteration fails between a begin and a commit; none: no transactions.
  std::optional<std::uint32_t> rollback;
  std::uint64_t seed = 0;  // of the draw of variants

  // What iteration `number` does; null when there are no variants.
  const ScriptVariant* VariantFor(std::uint64_t number) const;

  // Where an iteration stands among those of its variant: which block of iterations, and which of
  // the variant's in it. Without variants each iteration is a block.
  struct Turn {
    const ScriptVariant* variant = nullptr;
    std::uint64_t block = 0;
    std::uint64_t ordinal = 0;
  };
  Turn TurnOf(std::uint64_t number) const;
  // Blocks that the iterations of all numbers below `numbers` are in.
  std::uint64_t BlocksOf(std::uint64_t numbers) const;
};

struct PreparedOperation {
  drivers::Operation operation;
  std::uint64_t key = 0;      // row number; of an insert the first of plan->batch in a row
  std::uint64_t version = 0;  // of updates
  bool verify = false;
};

// The rows and keys of one iteration in flight; its memory is reused.
class IterationState {
 public:
  explicit IterationState(std::size_t operation_count) : last_keys_(operation_count) {}

  // Prepares step `index` of the script, which is no wait; valid until the next call. `session` and
  // `sessions` are global; `next_version` is the first version of the step.
  PreparedOperation Prepare(const std::vector<OperationRecipe>& recipes, const ScriptPlan& script,
                            std::size_t index, std::uint64_t number, std::uint64_t session,
                            std::uint64_t sessions, std::uint64_t next_version);

 private:
  // Who asks for what: the arguments of Prepare.
  struct Request {
    const OperationRecipe& recipe;
    std::uint64_t number;
    std::uint32_t slot;
    std::uint64_t session;
    std::uint64_t sessions;
  };

  std::uint64_t DrawKey(const Request& request) const;
  void SetKey(const OperationRecipe& recipe, PreparedOperation* prepared);
  void PrepareInsert(const ScriptPlan& script, const ScriptStep& step, const Request& request,
                     PreparedOperation* prepared);
  void PrepareMultiRead(const Request& request, PreparedOperation* prepared);
  void PrepareNative(const Request& request, PreparedOperation* prepared);

  std::vector<std::uint64_t> last_keys_;
  RowBuffer row_;
  RowBuffer key_row_;
  std::vector<RowBuffer> parameter_rows_;
  std::vector<drivers::Value> values_;  // of multi-reads and native statements
  std::vector<std::uint64_t> drawn_;    // keys of a multi-read, rising
};

// Compares a read's rows with what the seed gives; owned by a session, used for one operation at a
// time.
class RowChecker final : public drivers::RowVisitor {
 public:
  // Before the operation: what to expect.
  void Expect(const OperationRecipe& recipe, std::uint64_t key);
  void OnRow(std::span<const drivers::Field> fields) override;
  // After it: whether every row was right.
  bool right() const { return right_; }

 private:
  const OperationRecipe* recipe_ = nullptr;
  RowBuffer expected_;
  bool right_ = true;
};

// Whether an operation's end leaves open if it was done: there is no answer, or none that says so.
bool LeavesOpen(const drivers::OpResult& result);

// Enters a write's end into the ledger (others are passed over). The one way to fill a ledger. Of
// the result class, outcome_unknown and insert_id are looked at.
void RecordInLedger(const OperationRecipe& recipe, const PreparedOperation& prepared,
                    const drivers::OpResult& result, Ledger* ledger);

}  // namespace cavalry::load
