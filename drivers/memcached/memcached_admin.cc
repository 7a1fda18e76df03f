#include "drivers/memcached/memcached_admin.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "drivers/core/blocking_channel.h"
#include "drivers/core/table_mark.h"
#include "drivers/core/tls_codec.h"
#include "drivers/memcached/ketama.h"
#include "drivers/memcached/memcached_codec.h"
#include "drivers/memcached/requests.h"

namespace cavalry::drivers::memcached {
namespace {

constexpr Nanos kConnectTimeout = 5 * kSecond;
constexpr Nanos kOperationTimeout = 30 * kSecond;
constexpr std::uint32_t kInFlight = 256;
// memcached (1.6.18) waits for its socket while decrypted requests wait in the TLS library, so no
// more may be in flight than it takes at once.
constexpr std::uint32_t kInFlightOverTls = 1;
// Keys looked at or deleted at a time; so many in a row without an item end a table.
constexpr std::uint64_t kKeysAtATime = 10'000;
// Rows looked at to see whether a filled table is still whole: memcached evicts without a word.
constexpr std::uint64_t kProbes = 1'000;

// Collects all fields of all rows.
class Rows final : public RowVisitor {
 public:
  void OnRow(std::span<const Field> fields) override {
    rows_.emplace_back();
    for (const Field& field : fields) rows_.back().emplace_back(field.text);
  }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Hands rows on with the number that leads them.
class NumberedRows final : public RowVisitor {
 public:
  explicit NumberedRows(const std::function<void(std::uint64_t, std::span<const Field>)>& visit)
      : visit_(visit) {}
  void OnRow(std::span<const Field> fields) override {
    std::uint64_t number = 0;
    const std::string_view text = fields.front().text;
    std::from_chars(text.data(), text.data() + text.size(), number);
    visit_(number, fields.subspan(1));
  }

 private:
  const std::function<void(std::uint64_t, std::span<const Field>)>& visit_;
};

class OneRow final : public RowVisitor {
 public:
  explicit OneRow(const std::function<void(std::span<const Field>)>& visit) : visit_(visit) {}
  void OnRow(std::span<const Field> fields) override { visit_(fields); }

 private:
  const std::function<void(std::span<const Field>)>& visit_;
};

Status StatusOf(const OpResult& result) {
  if (result.outcome == Outcome::kOk || result.outcome == Outcome::kMiss) return absl::OkStatus();
  return Unavailable("memcached: {} {}", result.code, result.text);
}

// Speaks text, whatever the load does: a server that takes one protocol takes the other.
class MemcachedAdmin final : public Admin {
 public:
  MemcachedAdmin(Options options, std::shared_ptr<const TlsContext> tls)
      : options_(std::move(options)), tls_(std::move(tls)), ketama_(options_.servers) {
    options_.blind = false;
  }

  Status Connect() override {
    servers_.clear();
    for (const Endpoint& endpoint : options_.servers) {
      CAVALRY_ASSIGN_OR_RETURN(
          auto channel,
          BlockingChannel::Open(endpoint, NewCodec(endpoint), kConnectTimeout, kOperationTimeout));
      servers_.push_back(std::move(channel));
    }
    // Some refuse only what is asked of them.
    return Ask("version").status();
  }

  StatusOr<std::vector<std::pair<std::string, std::string>>> ServerVariables() override {
    std::vector<std::pair<std::string, std::string>> variables;
    CAVALRY_ASSIGN_OR_RETURN(const auto version, Ask("version"));
    CAVALRY_ASSIGN_OR_RETURN(const auto settings, Ask("stats settings"));
    variables.emplace_back("version", version.front().front().back());
    for (const char* name : {"maxbytes", "maxconns", "num_threads", "item_size_max"}) {
      variables.emplace_back(name, SettingOf(settings, name));
    }
    if (servers_.size() > 1) variables.emplace_back("servers", fmt::format("{}", servers_.size()));
    variables.emplace_back("durability", "none");
    return variables;
  }

  StatusOr<std::vector<std::string>> Limits(std::uint64_t sessions, std::uint64_t /*operations*/,
                                            std::uint64_t request_bytes) override {
    std::vector<std::string> limits;
    CAVALRY_ASSIGN_OR_RETURN(const auto settings, Ask("stats settings"));
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const std::uint64_t connections = NumberOf(settings[i], "maxconns");
      if (connections > 0 && sessions + 10 > connections) {
        limits.push_back(
            fmt::format("{} sessions, but {} takes {} connections: start memcached with "
                        "--conn-limit={} or more",
                        sessions, options_.servers[i].label, connections, sessions + 10));
      }
      const std::uint64_t item = NumberOf(settings[i], "item_size_max");
      if (item > 0 && request_bytes > item) {
        limits.push_back(fmt::format(
            "items of up to {} bytes, but {} takes {}: start memcached with --max-item-size",
            request_bytes, options_.servers[i].label, item));
      }
    }
    return limits;
  }

  StatusOr<TableInfo> Describe(const TableSchema& table, bool count) override {
    TableInfo info;
    CAVALRY_ASSIGN_OR_RETURN(const std::optional<MarkText> mark, ReadMark(table));
    if (!mark) {
      // Somebody else's items may be there all the same.
      if (!table.key_is_number) return info;
      CAVALRY_ASSIGN_OR_RETURN(const std::vector<bool> first, Look(table, 1, 1));
      info.exists = first.front();
      info.rows = info.exists ? 1 : 0;
      return info;
    }
    info.exists = true;
    info.marked = true;
    info.same_schema = mark->schema_hash == table.schema_hash;
    info.rows = mark->rows;
    info.max_key = mark->rows;
    if (!count) return info;
    bool whole = true;
    if (table.key_is_number) {
      CAVALRY_ASSIGN_OR_RETURN(whole, IsWhole(table, mark->rows));
      if (mark->state == TableMark::kUsed) {
        CAVALRY_ASSIGN_OR_RETURN(info.max_key, LastKey(table, mark->rows));
        info.rows = info.max_key;
      }
    }
    info.filled =
        mark->state == TableMark::kFilled && info.same_schema && mark->rows == table.rows && whole;
    return info;
  }

  Status Create(const TableSchema& table) override {
    return WriteMark(table, {table.schema_hash, 0, TableMark::kEmpty});
  }

  Status Mark(const TableSchema& table, TableMark mark) override {
    CAVALRY_ASSIGN_OR_RETURN(std::optional<MarkText> now, ReadMark(table));
    if (!now) return Unmarked(table);
    now->state = mark;
    if (mark == TableMark::kFilled) now->rows = table.rows;
    return WriteMark(table, *now);
  }

  Status Truncate(const TableSchema& table) override {
    CAVALRY_ASSIGN_OR_RETURN(const std::optional<MarkText> mark, ReadMark(table));
    if (!mark) return Unmarked(table);
    CAVALRY_RETURN_IF_ERROR(DeleteRows(table, mark->rows));
    return WriteMark(table, {table.schema_hash, 0, TableMark::kEmpty});
  }

  Status Drop(const TableSchema& table, bool allow_unmarked) override {
    CAVALRY_ASSIGN_OR_RETURN(const std::optional<MarkText> mark, ReadMark(table));
    if (!mark && !allow_unmarked) return Unmarked(table);
    CAVALRY_RETURN_IF_ERROR(DeleteRows(table, mark ? mark->rows : 0));
    CAVALRY_ASSIGN_OR_RETURN(const ItemKey key, ItemKey::Make(options_.key, table.name));
    const std::string name = key.MarkKey();
    const Value parameters[] = {Value::Text(name)};
    return StatusOf(RunNative(*ServerOf(name), "delete ?", parameters, nullptr));
  }

  Status InsertRows(const TableSchema& table, std::span<const Value> values) override {
    CAVALRY_ASSIGN_OR_RETURN(const std::optional<MarkText> mark, ReadMark(table));
    if (!mark) return Unmarked(table);
    OperationPlan plan = Plan(table, OperationKind::kInsert);
    CAVALRY_ASSIGN_OR_RETURN(PlanRequest request, PlanOperation(options_, plan));
    // A fill that was interrupted has left some of them.
    request.command = Command::kSet;
    request.text_head = "set ";
    const std::size_t width = table.columns.size();
    std::vector<std::vector<Operation>> by_server(servers_.size());
    ByteBuffer key;
    for (std::size_t row = 0; row + width <= values.size(); row += width) {
      Operation operation;
      operation.plan = &plan;
      operation.values = values.subspan(row, width);
      key.Clear();
      std::string_view why;
      std::vector<Value> parts;
      for (const std::uint32_t column : table.key_columns) {
        parts.push_back(operation.values[column]);
      }
      if (!request.key->Append(parts, key, &why)) return InvalidArgument("{}: {}", table.name, why);
      by_server[ketama_.ServerOf(key.view())].push_back(operation);
    }
    return RunOnServers(request, by_server, [&](std::size_t, std::size_t, const OpResult& result) {
      if (result.outcome == Outcome::kOk) return absl::OkStatus();
      return Unavailable("{}: a row could not be stored: {} {}", table.name, result.code,
                         result.text);
    });
  }

  Status ReadRows(
      const TableSchema& table, std::span<const std::uint64_t> keys,
      std::span<const std::uint32_t> columns,
      const std::function<void(std::uint64_t, std::span<const Field>)>& visit) override {
    OperationPlan plan = Plan(table, OperationKind::kRead);
    plan.columns = {table.key_columns.front()};
    plan.columns.insert(plan.columns.end(), columns.begin(), columns.end());
    CAVALRY_ASSIGN_OR_RETURN(const PlanRequest request, PlanOperation(options_, plan));
    NumberedRows rows(visit);
    return ReadByNumber(request, keys, &rows, {});
  }

  StatusOr<bool> ReadRow(const TableSchema& table, std::span<const Value> key,
                         std::span<const std::uint32_t> columns,
                         const std::function<void(std::span<const Field>)>& visit) override {
    OperationPlan plan = Plan(table, OperationKind::kRead);
    plan.columns.assign(columns.begin(), columns.end());
    CAVALRY_ASSIGN_OR_RETURN(const PlanRequest request, PlanOperation(options_, plan));
    ByteBuffer text;
    std::string_view why;
    if (!request.key->Append(key, text, &why)) return InvalidArgument("{}: {}", table.name, why);
    OneRow row(visit);
    Operation operation;
    operation.plan = &plan;
    operation.key = Key(key);
    operation.rows = &row;
    BlockingChannel& server = *ServerOf(text.view());
    UseRequest(request);
    const OpResult result = server.Run(operation);
    CAVALRY_RETURN_IF_ERROR(StatusOf(result));
    return result.outcome == Outcome::kOk;
  }

  StatusOr<std::uint64_t> RunNative(std::string_view statement) override {
    std::uint64_t rows = 0;
    for (const auto& server : servers_) {
      const OpResult result = RunNative(*server, statement, {}, nullptr);
      CAVALRY_RETURN_IF_ERROR(StatusOf(result));
      rows += result.rows;
    }
    return rows;
  }

  StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> Counters() override {
    CAVALRY_ASSIGN_OR_RETURN(const auto stats, Ask("stats"));
    std::vector<std::pair<std::string, std::uint64_t>> counters;
    for (const char* name :
         {"cmd_get", "get_hits", "get_misses", "cmd_set", "evictions", "reclaimed",
          "expired_unfetched", "evicted_unfetched", "bytes_read", "bytes_written", "conn_yields"}) {
      std::uint64_t sum = 0;
      for (const auto& server : stats) sum += NumberOf(server, name);
      counters.emplace_back(name, sum);
    }
    return counters;
  }

  Status CheckColumns(const TableSchema& table) override {
    // Only what an item says of itself can be looked at: the first.
    if (!table.key_is_number) return absl::OkStatus();
    std::vector<std::uint32_t> columns(table.columns.size());
    std::iota(columns.begin(), columns.end(), 0U);
    const std::uint64_t first[] = {1};
    return Annotate(ReadRows(table, first, columns, [](std::uint64_t, std::span<const Field>) {}),
                    table.name);
  }

  StatusOr<std::string> LookUpSecret(std::string_view driver, std::string_view setting) override {
    return InvalidArgument("memcached knows no {} of {}", setting, driver);
  }

 private:
  using Table = std::vector<std::vector<std::string>>;

  static Status Unmarked(const TableSchema& table) {
    return FailedPrecondition(
        "{}: these items are not cavalry's (no mark is there): use another 'key' or table name",
        table.name);
  }

  std::unique_ptr<Codec> NewCodec(const Endpoint& endpoint) const {
    auto codec = NewLineCodec(options_, requests_, endpoint.label);
    return tls_ == nullptr ? std::move(codec) : tls_->Wrap(std::move(codec), endpoint.host);
  }

  static OperationPlan Plan(const TableSchema& table, OperationKind kind) {
    OperationPlan plan;
    plan.name = table.name;
    plan.kind = kind;
    plan.table = &table;
    plan.columns.resize(table.columns.size());
    std::iota(plan.columns.begin(), plan.columns.end(), 0U);
    return plan;
  }

  // The codecs' only request from now on.
  void UseRequest(const PlanRequest& request) { requests_ = {request}; }

  BlockingChannel* ServerOf(std::string_view key) { return servers_[ketama_.ServerOf(key)].get(); }

  // The views are valid until the next call.
  OpResult RunNative(BlockingChannel& server, std::string_view statement,
                     std::span<const Value> values, RowVisitor* rows) {
    native_ = OperationPlan{};
    native_.name = "administration";
    native_.kind = OperationKind::kNative;
    native_.statement = statement;
    const auto request = PlanOperation(options_, native_, true);
    if (!request.ok()) {
      refusal_ = StatusText(request.status());
      OpResult refused;
      refused.outcome = Outcome::kRejected;
      refused.code = "statement";
      refused.text = refusal_;
      return refused;
    }
    UseRequest(*request);
    Operation operation;
    operation.plan = &native_;
    operation.values = values;
    operation.rows = rows;
    return server.Run(operation);
  }

  // The rows that each server answers.
  StatusOr<std::vector<Table>> Ask(std::string_view statement) {
    std::vector<Table> answers;
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      Rows rows;
      const OpResult result = RunNative(*servers_[i], statement, {}, &rows);
      CAVALRY_RETURN_IF_ERROR(Annotate(StatusOf(result), options_.servers[i].label));
      answers.push_back(rows.rows());
    }
    if (answers.empty() || (answers.front().empty() && statement == "version")) {
      return DataLoss("memcached: no version in the answer");
    }
    return answers;
  }

  static std::string TextOf(const Table& table, std::string_view name) {
    for (const auto& row : table) {
      if (row.size() == 2 && row[0] == name) return row[1];
    }
    return "";
  }
  static std::uint64_t NumberOf(const Table& table, std::string_view name) {
    const std::string text = TextOf(table, name);
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  }
  // Equal on all servers, or each.
  static std::string SettingOf(const std::vector<Table>& servers, std::string_view name) {
    std::string all;
    for (const Table& table : servers) {
      const std::string one = TextOf(table, name);
      if (all.empty()) {
        all = one;
      } else if (all != one) {
        return "differs";
      }
    }
    return all;
  }

  StatusOr<std::optional<MarkText>> ReadMark(const TableSchema& table) {
    CAVALRY_ASSIGN_OR_RETURN(const ItemKey key, ItemKey::Make(options_.key, table.name));
    const std::string name = key.MarkKey();
    Rows rows;
    const Value parameters[] = {Value::Text(name)};
    CAVALRY_RETURN_IF_ERROR(StatusOf(RunNative(*ServerOf(name), "get ?", parameters, &rows)));
    if (rows.rows().empty()) return std::optional<MarkText>();
    return ParseMark(rows.rows().front().back());
  }

  Status WriteMark(const TableSchema& table, const MarkText& mark) {
    CAVALRY_ASSIGN_OR_RETURN(const ItemKey key, ItemKey::Make(options_.key, table.name));
    const std::string name = key.MarkKey();
    const std::string text = FormatMark(mark);
    // It lives as long as the cache does.
    const Value parameters[] = {Value::Text(name), Value::Text(text)};
    return StatusOf(RunNative(*ServerOf(name), "set ? ? 0", parameters, nullptr));
  }

  // Runs operations of one request on the servers that have them.
  template <typename Take>
  Status RunOnServers(const PlanRequest& request,
                      const std::vector<std::vector<Operation>>& by_server, const Take& take) {
    UseRequest(request);
    Status status;
    for (std::size_t server = 0; server < by_server.size(); ++server) {
      servers_[server]->RunAll(by_server[server], tls_ == nullptr ? kInFlight : kInFlightOverTls,
                               [&](std::size_t index, const OpResult& result) {
                                 const Status one = take(server, index, result);
                                 if (status.ok()) status = one;
                               });
    }
    return status;
  }

  // Does the request for each of these row numbers; `found` gets their positions.
  Status ReadByNumber(const PlanRequest& request, std::span<const std::uint64_t> numbers,
                      RowVisitor* rows, const std::function<void(std::size_t)>& found) {
    std::vector<std::vector<Operation>> by_server(servers_.size());
    std::vector<std::vector<std::size_t>> positions(servers_.size());
    ByteBuffer key;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Value number = Value::Unsigned(numbers[i]);
      key.Clear();
      std::string_view why;
      if (!request.key->Append({&number, 1}, key, &why)) return InvalidArgument("{}", why);
      Operation operation;
      operation.plan = request.plan;
      operation.key = Key(number);
      operation.rows = rows;
      const std::size_t server = ketama_.ServerOf(key.view());
      by_server[server].push_back(operation);
      positions[server].push_back(i);
    }
    return RunOnServers(request, by_server,
                        [&](std::size_t server, std::size_t index, const OpResult& result) {
                          if (result.outcome == Outcome::kOk && found) {
                            found(positions[server][index]);
                          }
                          return StatusOf(result);
                        });
  }

  // Which of `count` rows from `first` on are there.
  StatusOr<std::vector<bool>> Look(const TableSchema& table, std::uint64_t first,
                                   std::uint64_t count) {
    OperationPlan plan = Plan(table, OperationKind::kRead);
    CAVALRY_ASSIGN_OR_RETURN(const PlanRequest request, PlanOperation(options_, plan));
    std::vector<std::uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    std::vector<bool> there(count, false);
    CAVALRY_RETURN_IF_ERROR(ReadByNumber(request, numbers, nullptr,
                                         [&](std::size_t position) { there[position] = true; }));
    return there;
  }

  // Whether rows spread evenly over the table, the first and the last among them, are all there.
  StatusOr<bool> IsWhole(const TableSchema& table, std::uint64_t rows) {
    if (rows == 0) return true;
    OperationPlan plan = Plan(table, OperationKind::kRead);
    CAVALRY_ASSIGN_OR_RETURN(const PlanRequest request, PlanOperation(options_, plan));
    std::vector<std::uint64_t> numbers;
    const std::uint64_t probes = std::min(rows, kProbes);
    for (std::uint64_t i = 0; i < probes; ++i) {
      numbers.push_back(probes == 1 ? 1 : 1 + i * (rows - 1) / (probes - 1));
    }
    std::uint64_t found = 0;
    CAVALRY_RETURN_IF_ERROR(ReadByNumber(request, numbers, nullptr, [&](std::size_t) { ++found; }));
    return found == probes;
  }

  StatusOr<std::uint64_t> LastKey(const TableSchema& table, std::uint64_t rows) {
    std::uint64_t last = rows;
    for (std::uint64_t first = rows + 1;; first += kKeysAtATime) {
      CAVALRY_ASSIGN_OR_RETURN(const std::vector<bool> there, Look(table, first, kKeysAtATime));
      const std::uint64_t before = last;
      for (std::uint64_t i = 0; i < there.size(); ++i) {
        if (there[i]) last = first + i;
      }
      if (last == before) return last;
    }
  }

  Status DeleteRows(const TableSchema& table, std::uint64_t rows) {
    if (!table.key_is_number) {
      return FailedPrecondition(
          "{}: memcached cannot list its items, and this table's key is more than the row's "
          "number: "
          "empty the cache yourself (flush_all), or use reset: never",
          table.name);
    }
    OperationPlan plan = Plan(table, OperationKind::kDelete);
    plan.columns.clear();
    CAVALRY_ASSIGN_OR_RETURN(const PlanRequest request, PlanOperation(options_, plan));
    std::vector<std::uint64_t> numbers(kKeysAtATime);
    for (std::uint64_t first = 1;; first += kKeysAtATime) {
      std::iota(numbers.begin(), numbers.end(), first);
      std::uint64_t found = 0;
      CAVALRY_RETURN_IF_ERROR(
          ReadByNumber(request, numbers, nullptr, [&](std::size_t) { ++found; }));
      if (found == 0 && first > rows) return absl::OkStatus();
    }
  }

  Options options_;
  const std::shared_ptr<const TlsContext> tls_;
  Ketama ketama_;
  std::vector<PlanRequest> requests_;  // of the codecs; what UseRequest set
  std::vector<std::unique_ptr<BlockingChannel>> servers_;
  OperationPlan native_;
  std::string refusal_;
};

}  // namespace

StatusOr<std::unique_ptr<Admin>> NewMemcachedAdmin(const Settings& settings) {
  CAVALRY_ASSIGN_OR_RETURN(Options options, ReadOptions(settings));
  CAVALRY_ASSIGN_OR_RETURN(auto tls, TlsContext::FromSettings(settings));
  options.protocol = Protocol::kText;
  return std::make_unique<MemcachedAdmin>(std::move(options), std::move(tls));
}

}  // namespace cavalry::drivers::memcached
