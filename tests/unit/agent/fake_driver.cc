#include "tests/unit/agent/fake_driver.h"

#include "drivers/registry.h"

namespace cavalry::drivers {
namespace {

class FakeAdmin final : public Admin {
 public:
  Status Connect() override {
    const std::lock_guard lock(server_.mutex);
    ++server_.connects;
    if (server_.comes_back && server_.connects > 2) {
      server_.reads_until_error = std::numeric_limits<int>::max();
    }
    return server_.connect_error;
  }

  StatusOr<std::vector<std::pair<std::string, std::string>>> ServerVariables() override {
    return std::vector<std::pair<std::string, std::string>>{{"version", "fake"}};
  }

  StatusOr<std::vector<std::string>> Limits(std::uint64_t sessions, std::uint64_t operations,
                                            std::uint64_t /*request_bytes*/) override {
    const std::lock_guard lock(server_.mutex);
    server_.asked_operations = operations;
    if (sessions <= 1'000) return std::vector<std::string>{};
    return std::vector<std::string>{"raise max_connections"};
  }

  StatusOr<TableInfo> Describe(const TableSchema& table, bool) override {
    const std::lock_guard lock(server_.mutex);
    TableInfo info;
    const auto found = server_.tables.find(table.name);
    if (found == server_.tables.end()) return info;
    const FakeTable& there = found->second;
    info.exists = true;
    info.marked = there.marked;
    info.same_schema = there.marked && there.schema_hash == table.schema_hash;
    info.rows = there.rows.size();
    info.max_key = there.rows.empty() ? 0 : there.rows.rbegin()->first;
    info.filled = info.same_schema && there.mark == TableMark::kFilled &&
                  there.mark_rows == info.rows && table.rows == info.rows;
    return info;
  }

  Status Create(const TableSchema& table) override {
    const std::lock_guard lock(server_.mutex);
    if (server_.tables.contains(table.name)) return FailedPrecondition("exists");
    server_.tables[table.name] = {true, table.schema_hash, TableMark::kEmpty, table.rows, {}};
    server_.changes.push_back("create " + table.name);
    return absl::OkStatus();
  }

  Status Mark(const TableSchema& table, TableMark mark) override {
    const std::lock_guard lock(server_.mutex);
    CAVALRY_ASSIGN_OR_RETURN(FakeTable* const there, Marked(table));
    there->schema_hash = table.schema_hash;
    there->mark = mark;
    there->mark_rows = table.rows;
    server_.changes.push_back("mark " + table.name);
    return absl::OkStatus();
  }

  Status Truncate(const TableSchema& table) override {
    const std::lock_guard lock(server_.mutex);
    CAVALRY_ASSIGN_OR_RETURN(FakeTable* const there, Marked(table));
    there->rows.clear();
    there->mark = TableMark::kEmpty;
    server_.changes.push_back("truncate " + table.name);
    return absl::OkStatus();
  }

  Status Drop(const TableSchema& table, bool allow_unmarked) override {
    const std::lock_guard lock(server_.mutex);
    if (!allow_unmarked) CAVALRY_RETURN_IF_ERROR(Marked(table).status());
    server_.tables.erase(table.name);
    server_.changes.push_back("drop " + table.name);
    return absl::OkStatus();
  }

  Status InsertRows(const TableSchema& table, std::span<const Value> values) override {
    const std::lock_guard lock(server_.mutex);
    CAVALRY_ASSIGN_OR_RETURN(FakeTable* const there, Marked(table));
    if (server_.inserts_until_error-- <= 0) return Unavailable("gone");
    const std::size_t width = table.columns.size();
    for (std::size_t begin = 0; begin < values.size(); begin += width) {
      FakeRow row;
      for (std::size_t i = 0; i < width; ++i) row.push_back(PrintValue(values[begin + i]));
      const auto key =
          static_cast<std::uint64_t>(values[begin + table.key_columns.front()].integer);
      if (!there->rows.emplace(key, std::move(row)).second) return FailedPrecondition("duplicate");
    }
    if (server_.changes.empty() || server_.changes.back() != "insert " + table.name) {
      server_.changes.push_back("insert " + table.name);
    }
    return absl::OkStatus();
  }

  Status ReadRows(
      const TableSchema& table, std::span<const std::uint64_t> keys,
      std::span<const std::uint32_t> columns,
      const std::function<void(std::uint64_t, std::span<const Field>)>& visit) override {
    const std::lock_guard lock(server_.mutex);
    if (server_.reads_until_error-- <= 0) return Unavailable("gone");
    const FakeTable& there = server_.tables[table.name];
    for (const std::uint64_t key : keys) {
      const auto found = there.rows.find(key);
      if (found == there.rows.end()) continue;
      std::vector<Field> fields;
      for (const std::uint32_t column : columns) {
        const std::optional<std::string>& text = found->second[column];
        fields.push_back({!text.has_value(), text ? std::string_view(*text) : ""});
      }
      visit(key, fields);
    }
    return absl::OkStatus();
  }

  Status CheckColumns(const TableSchema&) override { return absl::OkStatus(); }
  StatusOr<bool> ReadRow(const TableSchema&, std::span<const Value>, std::span<const std::uint32_t>,
                         const std::function<void(std::span<const Field>)>&) override {
    return false;
  }
  StatusOr<std::uint64_t> RunNative(std::string_view) override { return 0; }
  StatusOr<std::vector<std::pair<std::string, std::uint64_t>>> Counters() override {
    return std::vector<std::pair<std::string, std::uint64_t>>();
  }
  StatusOr<std::string> LookUpSecret(std::string_view, std::string_view setting) override {
    return "secret of " + std::string(setting);
  }

 private:
  StatusOr<FakeTable*> Marked(const TableSchema& table) {
    const auto found = server_.tables.find(table.name);
    if (found == server_.tables.end() || !found->second.marked) {
      return FailedPrecondition("{} has no mark", table.name);
    }
    return &found->second;
  }

  FakeServer& server_ = FakeServer::Get();
};

class NoClients final : public CodecFactory {
 public:
  const std::vector<Endpoint>& endpoints() const override { return endpoints_; }
  std::vector<std::size_t> EndpointsOf(const OperationPlan&) const override { return {0}; }
  std::unique_ptr<Router> NewRouter() const override { return nullptr; }
  std::unique_ptr<Codec> NewCodec(std::size_t) const override { return nullptr; }

 private:
  std::vector<Endpoint> endpoints_;
};

class FakeDriver final : public Driver {
 public:
  FakeDriver(std::string_view kind, bool owns_tables) : kind_(kind), owns_tables_(owns_tables) {}

  std::string_view kind() const override { return kind_; }
  const std::vector<OperationKind>& operations() const override { return operations_; }
  bool pipelines() const override { return !owns_tables_; }
  std::uint32_t files_per_session() const override { return 2; }
  bool owns_tables() const override { return owns_tables_; }
  Status Check(const Settings&, const std::vector<OperationPlan>&) const override {
    return FakeServer::Get().check_error;
  }
  std::vector<std::string> Warnings(const Settings&,
                                    const std::vector<OperationPlan>&) const override {
    return {"mind the gap"};
  }
  StatusOr<ClientFactory> NewClientFactory(const ClientConfig&) const override {
    return ClientFactory(std::make_unique<NoClients>());
  }
  StatusOr<std::unique_ptr<Admin>> NewAdmin(const Settings&) const override {
    return std::make_unique<FakeAdmin>();
  }

 private:
  const std::string_view kind_;
  const bool owns_tables_;
  const std::vector<OperationKind> operations_ = {OperationKind::kRead, OperationKind::kInsert,
                                                  OperationKind::kUpdate, OperationKind::kDelete};
};

}  // namespace

std::string PrintValue(const Value& value) {
  if (value.kind == Value::Kind::kInteger) return std::to_string(value.integer);
  if (value.kind == Value::Kind::kUnsigned) {
    return std::to_string(static_cast<std::uint64_t>(value.integer));
  }
  return std::string(value.text);
}

FakeServer& FakeServer::Get() {
  static FakeServer server;
  return server;
}

void FakeServer::Reset() {
  tables.clear();
  changes.clear();
  connect_error = check_error = absl::OkStatus();
  reads_until_error = inserts_until_error = std::numeric_limits<int>::max();
  asked_operations = 0;
  comes_back = false;
  connects = 0;
}

int FakeServer::Count(std::string_view change) {
  int count = 0;
  for (const std::string& entry : changes) count += entry.starts_with(change) ? 1 : 0;
  return count;
}

const std::vector<const Driver*>& AllDrivers() {
  static const FakeDriver mysql("mysql", true);
  static const FakeDriver handlersocket("handlersocket", false);
  static const std::vector<const Driver*> drivers = {&mysql, &handlersocket};
  return drivers;
}

const Driver* FindDriver(std::string_view kind) {
  for (const Driver* driver : AllDrivers()) {
    if (driver->kind() == kind) return driver;
  }
  return nullptr;
}

}  // namespace cavalry::drivers
