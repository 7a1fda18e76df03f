#include "drivers/memcached/requests.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "drivers/memcached/item_value.h"

namespace cavalry::drivers::memcached {
namespace {

// doc/protocol.txt, "Expiration times": beyond it the number is a point in time.
constexpr std::uint64_t kMaxRelativeSeconds = 60 * 60 * 24 * 30;

constexpr std::array<std::pair<std::string_view, Command>, 15> kWords = {{
    {"get", Command::kGet},
    {"gets", Command::kGet},
    {"set", Command::kSet},
    {"add", Command::kAdd},
    {"replace", Command::kReplace},
    {"append", Command::kAppend},
    {"prepend", Command::kPrepend},
    {"cas", Command::kCas},
    {"delete", Command::kDelete},
    {"incr", Command::kIncr},
    {"decr", Command::kDecr},
    {"touch", Command::kTouch},
    {"stats", Command::kStats},
    {"version", Command::kVersion},
    {"flush_all", Command::kFlushAll},
}};

bool IsAdministration(Command command) {
  return command == Command::kStats || command == Command::kVersion ||
         command == Command::kFlushAll;
}

std::vector<std::uint32_t> ValueColumns(const TableSchema& table) {
  std::vector<std::uint32_t> columns;
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
    const bool key =
        std::find(table.key_columns.begin(), table.key_columns.end(), i) != table.key_columns.end();
    if (!key) columns.push_back(i);
  }
  return columns;
}

std::uint64_t ExpireAt(std::uint64_t seconds) {
  if (seconds <= kMaxRelativeSeconds) return seconds;
  return static_cast<std::uint64_t>(std::time(nullptr)) + seconds;
}

std::uint32_t PositionIn(const std::vector<std::uint32_t>& columns, std::uint32_t column) {
  return static_cast<std::uint32_t>(std::find(columns.begin(), columns.end(), column) -
                                    columns.begin());
}

Command CommandOf(const OperationPlan& plan) {
  switch (plan.kind) {
    case OperationKind::kInsert:
      return Command::kAdd;
    case OperationKind::kUpdate:
      return Command::kReplace;
    case OperationKind::kDelete:
      return Command::kDelete;
    case OperationKind::kIncrement:
      return plan.amount < 0 ? Command::kDecr : Command::kIncr;
    default:
      return Command::kGet;
  }
}

std::string_view WordOf(Command command) {
  for (const auto& [word, of] : kWords) {
    if (of == command) return word;
  }
  return "";
}

Status PlanTable(const Options& options, const OperationPlan& plan, PlanRequest* request) {
  const TableSchema& table = *plan.table;
  CAVALRY_ASSIGN_OR_RETURN(ItemKey key, ItemKey::Make(options.key, table.name));
  request->key = std::move(key);
  request->command = CommandOf(plan);
  request->blind = options.blind && IsWrite(plan.kind);
  request->form = options.value;
  request->flags = options.value == ValueForm::kPacked ? kPackedFlags : kBytesFlags;
  request->expire_at = ExpireAt(options.expire_after_seconds);
  request->amount = static_cast<std::uint64_t>(plan.amount < 0 ? -plan.amount : plan.amount);
  request->key_columns = static_cast<std::uint32_t>(table.key_columns.size());
  const bool many = plan.kind == OperationKind::kMultiRead || plan.kind == OperationKind::kInsert;
  request->times = many ? plan.batch : 1;
  const std::vector<std::uint32_t> packed = ValueColumns(table);
  if (plan.kind == OperationKind::kInsert || plan.kind == OperationKind::kUpdate) {
    request->width = static_cast<std::uint32_t>(plan.columns.size());
    for (const std::uint32_t column : packed) {
      const std::uint32_t at = PositionIn(plan.columns, column);
      request->sources.push_back(at < plan.columns.size() ? std::optional(at) : std::nullopt);
    }
  } else {
    for (const std::uint32_t column : plan.columns) {
      const std::uint32_t of_key = PositionIn(table.key_columns, column);
      const bool is_key = of_key < table.key_columns.size();
      request->shown.push_back({is_key, is_key ? of_key : PositionIn(packed, column)});
    }
  }
  request->text_head = fmt::format("{} ", WordOf(request->command));
  return absl::OkStatus();
}

std::vector<Word> SplitWords(std::string_view statement) {
  std::vector<Word> words;
  std::uint32_t parameters = 0;
  while (true) {
    const std::size_t begin = statement.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return words;
    statement.remove_prefix(begin);
    const std::size_t end = std::min(statement.find_first_of(" \t\r\n"), statement.size());
    Word word;
    if (statement.substr(0, end) == "?") {
      word.parameter = parameters++;
    } else {
      word.literal = statement.substr(0, end);
    }
    words.push_back(std::move(word));
    statement.remove_prefix(end);
  }
}

bool IsNumber(const Word& word) {
  return word.parameter || (!word.literal.empty() &&
                            word.literal.find_first_not_of("0123456789") == std::string::npos);
}

Status PlanNative(const Options& options, const OperationPlan& plan, bool admin,
                  PlanRequest* request) {
  std::vector<Word> words = SplitWords(plan.statement);
  const auto known = std::find_if(kWords.begin(), kWords.end(), [&](const auto& entry) {
    return !words.empty() && entry.first == words.front().literal;
  });
  if (known == kWords.end()) {
    return InvalidArgument(
        "'{}' is no command that is known here: get, set, add, replace, append, prepend, cas, "
        "delete, incr, decr and touch are",
        words.empty() ? "" : words.front().literal);
  }
  const Command command = known->second;
  request->command = command;
  request->text_head = fmt::format("{} ", known->first);
  words.erase(words.begin());
  if (IsAdministration(command)) {
    if (!admin) {
      return InvalidArgument("'{}' is for administration, not for a load", known->first);
    }
    request->keys = std::move(words);
    return absl::OkStatus();
  }
  if (options.protocol == Protocol::kBinary) {
    return InvalidArgument("native statements go with protocol: text or meta");
  }
  request->expire_at = ExpireAt(options.expire_after_seconds);
  // get KEY…, delete KEY, incr KEY NUMBER, touch KEY SECONDS, set KEY VALUE [SECONDS]
  const bool data = HasData(command);
  const bool number = command == Command::kIncr || command == Command::kDecr;
  const bool touch = command == Command::kTouch;
  const std::size_t least = data || number || touch ? 2 : 1;
  const std::size_t most = command == Command::kGet ? words.size() : data ? 3 : least;
  if (words.size() < least || words.size() > most) {
    return InvalidArgument("'{}' is written '{}'", plan.statement,
                           data     ? fmt::format("{} KEY VALUE [SECONDS]", known->first)
                           : number ? fmt::format("{} KEY NUMBER", known->first)
                           : touch  ? "touch KEY SECONDS"
                           : least == 1 && most == 1 ? "delete KEY"
                                                     : "get KEY [KEY ...]");
  }
  if (command == Command::kGet) {
    request->times = static_cast<std::uint32_t>(words.size());
    request->keys = std::move(words);
    return absl::OkStatus();
  }
  request->keys.push_back(words[0]);
  if (data || number) request->value = words[1];
  if (touch) request->ttl = words[1];
  if (words.size() == 3) request->ttl = words[2];
  const bool numbers_fit = (!number || IsNumber(request->value)) &&
                           ((!touch && words.size() < 3) || IsNumber(request->ttl));
  if (!numbers_fit) return InvalidArgument("'{}': a whole number is missing", plan.statement);
  for (const Word& word : request->keys) {
    if (word.parameter) continue;
    const std::string_view fault = KeyFault(word.literal);
    if (!fault.empty()) return InvalidArgument("'{}': {}", word.literal, fault);
  }
  return absl::OkStatus();
}

Status CheckTable(const Options& options, const OperationPlan& plan) {
  const TableSchema& table = *plan.table;
  const std::vector<std::uint32_t> packed = ValueColumns(table);
  if (options.value == ValueForm::kBytes && packed.size() != 1) {
    return InvalidArgument(
        "value: bytes takes the one column beside the key, and table '{}' has {}; use value: "
        "packed",
        table.name, packed.size());
  }
  for (const std::uint32_t column : packed) {
    if (options.value == ValueForm::kBytes && table.columns[column].nullable) {
      return InvalidArgument("value: bytes cannot tell NULL from nothing, and '{}' is nullable",
                             table.columns[column].name);
    }
  }
  const auto numbered = std::find_if(table.columns.begin(), table.columns.end(),
                                     [](const Column& column) { return column.auto_increment; });
  if (plan.kind == OperationKind::kInsert && numbered != table.columns.end()) {
    return InvalidArgument("memcached numbers no rows: '{}' cannot be auto_increment",
                           numbered->name);
  }
  for (std::size_t i = 0; i < plan.server_values.size(); ++i) {
    if (plan.server_values[i].empty()) continue;
    return InvalidArgument("'{}' is to be {}, which memcached cannot work out",
                           table.columns[plan.columns[i]].name, plan.server_values[i]);
  }
  if (plan.returning) return InvalidArgument("memcached returns no row from before");
  if (plan.kind == OperationKind::kIncrement && options.value != ValueForm::kBytes) {
    return InvalidArgument(
        "memcached increments items that are decimal digits alone: value: bytes, and one column of "
        "numbers beside the key");
  }
  if (options.servers.size() == 1) return absl::OkStatus();
  if (plan.kind == OperationKind::kMultiRead) {
    return InvalidArgument(
        "the keys of a multi_read may lie on several servers, which would be several requests; use "
        "one server, or reads");
  }
  if (plan.kind == OperationKind::kInsert && plan.batch > 1) {
    return InvalidArgument(
        "the rows of a batch may lie on several servers, which would be several requests; use one "
        "server, or batch: 1");
  }
  return absl::OkStatus();
}

}  // namespace

bool HasData(Command command) {
  switch (command) {
    case Command::kSet:
    case Command::kAdd:
    case Command::kReplace:
    case Command::kAppend:
    case Command::kPrepend:
    case Command::kCas:
      return true;
    default:
      return false;
  }
}

Status CheckOperation(const Options& options, const OperationPlan& plan) {
  switch (plan.kind) {
    case OperationKind::kRead:
    case OperationKind::kMultiRead:
    case OperationKind::kInsert:
    case OperationKind::kUpdate:
    case OperationKind::kDelete:
    case OperationKind::kIncrement:
      CAVALRY_RETURN_IF_ERROR(Annotate(CheckTable(options, plan), plan.name));
      break;
    case OperationKind::kNative:
      if (options.servers.size() > 1) {
        return InvalidArgument("{}: native statements go to one server; this target has {}",
                               plan.name, options.servers.size());
      }
      break;
    default:
      return InvalidArgument("{}: memcached has no {}", plan.name, OperationKindName(plan.kind));
  }
  return PlanOperation(options, plan).status();
}

StatusOr<PlanRequest> PlanOperation(const Options& options, const OperationPlan& plan, bool admin) {
  PlanRequest request;
  request.plan = &plan;
  const Status status = plan.kind == OperationKind::kNative
                            ? PlanNative(options, plan, admin, &request)
                            : PlanTable(options, plan, &request);
  if (!status.ok()) return Annotate(status, plan.name);
  return request;
}

}  // namespace cavalry::drivers::memcached
