// What each operation of the spec is in memcached's terms: planned once per step, read by all
// codecs. Immutable; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/operation.h"
#include "drivers/memcached/item_key.h"
#include "drivers/memcached/options.h"

namespace cavalry::drivers::memcached {

// Commands of doc/protocol.txt. kStats, kVersion and kFlushAll are for administration.
enum class Command : std::uint8_t {
  kGet,
  kSet,
  kAdd,
  kReplace,
  kAppend,
  kPrepend,
  kCas,  // a gets, then the cas with the unique number that it gave: one operation
  kDelete,
  kIncr,
  kDecr,
  kTouch,
  kStats,
  kVersion,
  kFlushAll,
};

// Whether the command carries a value, which must be skipped should the server refuse its line.
bool HasData(Command command);

// A word of a native statement: literal, or a value of the operation.
struct Word {
  std::optional<std::uint32_t> parameter;
  std::string literal;
};

struct PlanRequest {
  const OperationPlan* plan = nullptr;
  Command command = Command::kGet;
  bool blind = false;       // asks for no answer
  std::uint32_t times = 1;  // requests or keys in one operation
  // Of operations on a table.
  std::optional<ItemKey> key;
  ValueForm form = ValueForm::kPacked;
  std::uint32_t flags = 0;
  std::uint64_t expire_at = 0;  // seconds, or a point in time beyond 30 days; 0: never
  std::uint64_t amount = 0;     // of kIncr and kDecr
  // Of the table's columns beside the key, in its order: where an insert or update has its value
  // among Operation::values; nothing: NULL.
  std::vector<std::optional<std::uint32_t>> sources;
  std::uint32_t width = 0;  // values of a row
  // Of a read: what each column asked for is.
  struct Shown {
    bool of_key = false;
    std::uint32_t position = 0;  // among the key's columns, or among the packed ones
  };
  std::vector<Shown> shown;
  std::uint32_t key_columns = 0;
  // Of native statements.
  std::vector<Word> keys;  // at least one, but for administration
  Word value;              // data, or a number
  Word ttl;
  // What the text protocol sends before and behind the key, all lengths and values aside.
  std::string text_head;
};

// What a plan cannot be, in a sentence that names the operation and what to change.
Status CheckOperation(const Options& options, const OperationPlan& plan);
// `admin`: statements that change the whole server are planned, too. REQUIRES: CheckOperation
// passed, or admin.
StatusOr<PlanRequest> PlanOperation(const Options& options, const OperationPlan& plan,
                                    bool admin = false);

}  // namespace cavalry::drivers::memcached
