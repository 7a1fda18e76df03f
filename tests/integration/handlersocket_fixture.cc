#include "tests/integration/handlersocket_fixture.h"

#include <mysql.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/handlersocket/handlersocket_driver.h"

namespace cavalry::drivers::handlersocket {
namespace {

constexpr const char* kNeeded[] = {"CAVALRY_MARIADB_HOST",
                                   "CAVALRY_MARIADB_PORT",
                                   "CAVALRY_MARIADB_USER",
                                   "CAVALRY_MARIADB_PASSWORD",
                                   "CAVALRY_MARIADB_DATABASE",
                                   "CAVALRY_HANDLERSOCKET_PORT",
                                   "CAVALRY_HANDLERSOCKET_WRITE_PORT",
                                   "CAVALRY_HANDLERSOCKET_SECRET",
                                   "CAVALRY_HANDLERSOCKET_WRITE_SECRET"};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

UniqueFd ConnectTo(const Endpoint& endpoint) {
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &found) !=
      0) {
    return UniqueFd();
  }
  UniqueFd fd(socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(fd.get(), found->ai_addr, found->ai_addrlen) != 0) fd.Reset();
  freeaddrinfo(found);
  // A server that does not answer must fail the test, not hang it.
  const timeval patience = {.tv_sec = 30, .tv_usec = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  return fd;
}

}  // namespace

Sql::Sql() : connection_(mysql_init(nullptr)) {
  const bool connected =
      mysql_options(connection_, MYSQL_SET_CHARSET_NAME, "utf8mb4") == 0 &&
      mysql_real_connect(connection_, Environment("CAVALRY_MARIADB_HOST").c_str(),
                         Environment("CAVALRY_MARIADB_USER").c_str(),
                         Environment("CAVALRY_MARIADB_PASSWORD").c_str(),
                         Environment("CAVALRY_MARIADB_DATABASE").c_str(),
                         static_cast<unsigned>(std::atoi(std::getenv("CAVALRY_MARIADB_PORT"))),
                         nullptr, 0) != nullptr;
  EXPECT_TRUE(connected) << mysql_error(connection_);
}

Sql::~Sql() { mysql_close(connection_); }

void Sql::Run(const std::string& statement) {
  EXPECT_EQ(mysql_query(connection_, statement.c_str()), 0)
      << statement << ": " << mysql_error(connection_);
}

std::vector<Row> Sql::Select(const std::string& statement) {
  Run(statement);
  std::vector<Row> rows;
  MYSQL_RES* result = mysql_store_result(connection_);
  if (result == nullptr) return rows;
  while (MYSQL_ROW fields = mysql_fetch_row(result)) {
    const unsigned long* lengths = mysql_fetch_lengths(result);
    Row row;
    for (unsigned i = 0; i < mysql_num_fields(result); ++i) {
      if (fields[i] == nullptr) {
        row.emplace_back(std::nullopt);
      } else {
        row.emplace_back(std::string(fields[i], lengths[i]));
      }
    }
    rows.push_back(std::move(row));
  }
  mysql_free_result(result);
  return rows;
}

Client::Client(const CodecFactory& factory, std::size_t endpoint)
    : codec_(factory.NewCodec(endpoint)), fd_(ConnectTo(factory.endpoints()[endpoint])) {
  EXPECT_TRUE(fd_.valid()) << factory.endpoints()[endpoint].label;
  state_ = codec_->Start(out_);
  Send();
  while (state_ == ConnectionState::kHandshake && Receive()) {
  }
}

Done Client::error() const {
  const OpResult& error = codec_->error();
  Done done;
  done.outcome = error.outcome;
  done.severity = error.severity;
  done.outcome_unknown = error.outcome_unknown;
  done.code = std::string(error.code);
  done.text = std::string(error.text);
  return done;
}

void Client::Send() {
  while (!out_.empty()) {
    const ssize_t sent = send(fd_.get(), out_.view().data(), out_.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      closed_ = true;
      return;
    }
    out_.Consume(static_cast<std::size_t>(sent));
  }
}

bool Client::Receive() {
  char bytes[4096];
  const ssize_t count = recv(fd_.get(), bytes, sizeof(bytes), 0);
  if (count <= 0) {
    closed_ = count == 0;
    EXPECT_TRUE(closed_) << "no answer";
    return false;
  }
  state_ = codec_->Feed({bytes, static_cast<std::size_t>(count)}, out_, collector_);
  return true;
}

std::vector<Done> Client::Run(const std::vector<Operation>& operations) {
  Ticket ticket = 0;
  std::size_t sent = 0;
  for (Operation operation : operations) {
    operation.rows = &collector_;
    const bool encoded = codec_->Encode(operation, ticket++, out_);
    EXPECT_TRUE(encoded) << codec_->error().text;
    if (encoded) ++sent;
  }
  Send();
  while (collector_.done.size() < sent && state_ == ConnectionState::kReady && Receive()) {
  }
  return std::exchange(collector_.done, {});
}

Done Client::Run(const Operation& operation) {
  const std::vector<Done> done = Run(std::vector<Operation>{operation});
  EXPECT_EQ(done.size(), 1U);
  return done.empty() ? Done() : done[0];
}

Target::Target(std::string table, std::vector<Column> columns) {
  table_.name = std::move(table);
  table_.columns = std::move(columns);
  table_.engine = "InnoDB";
  plans_.resize(4);
  const OperationKind kinds[] = {OperationKind::kRead, OperationKind::kInsert,
                                 OperationKind::kUpdate, OperationKind::kDelete};
  for (std::uint32_t i = 0; i < plans_.size(); ++i) {
    OperationPlan& plan = plans_[i];
    plan.name = std::string(OperationKindName(kinds[i]));
    plan.index = i;
    plan.kind = kinds[i];
    plan.table = &table_;
    if (kinds[i] == OperationKind::kDelete) continue;
    const std::uint32_t first = kinds[i] == OperationKind::kUpdate ? 1 : 0;
    for (std::uint32_t c = first; c < table_.columns.size(); ++c) plan.columns.push_back(c);
  }
  Set("host", Environment("CAVALRY_MARIADB_HOST"));
  Set("port", Environment("CAVALRY_HANDLERSOCKET_PORT"));
  Set("write_port", Environment("CAVALRY_HANDLERSOCKET_WRITE_PORT"));
  Set("secret", Environment("CAVALRY_HANDLERSOCKET_SECRET"));
  Set("write_secret", Environment("CAVALRY_HANDLERSOCKET_WRITE_SECRET"));
  Set("database", Environment("CAVALRY_MARIADB_DATABASE"));
}

void Target::Set(std::string_view name, std::string value) {
  for (Setting& setting : settings_.all()) {
    if (setting.name == name) {
      setting.value = std::move(value);
      return;
    }
  }
  settings_.Add({.name = std::string(name), .value = std::move(value)});
}

const CodecFactory& Target::factory() {
  const Status checked = GetDriver().Check(settings_, plans_);
  EXPECT_TRUE(checked.ok()) << StatusText(checked);
  ClientConfig config;
  config.settings = &settings_;
  config.operations = &plans_;
  auto made = GetDriver().NewClientFactory(config);
  CAVALRY_CHECK(made.ok());
  factory_ = std::get<std::unique_ptr<CodecFactory>>(std::move(*made));
  return *factory_;
}

Client Target::Connect(OperationKind kind) {
  if (factory_ == nullptr) factory();
  Operation operation;
  for (const OperationPlan& plan : plans_) {
    if (plan.kind == kind) operation.plan = &plan;
  }
  CAVALRY_CHECK(operation.plan != nullptr);
  return Client(*factory_, factory_->EndpointsOf(*operation.plan).front());
}

OperationPlan& Target::AddPlan(OperationKind kind, std::vector<std::uint32_t> columns) {
  OperationPlan plan;
  plan.name = fmt::format("{}{}", OperationKindName(kind), plans_.size());
  plan.index = static_cast<std::uint32_t>(plans_.size());
  plan.kind = kind;
  plan.table = &table_;
  plan.columns = std::move(columns);
  return plans_.emplace_back(std::move(plan));
}

Operation Target::Make(const OperationPlan& plan) const {
  Operation operation;
  operation.plan = &plan;
  return operation;
}

Operation Target::Find(std::int64_t key) {
  Operation operation = Make(plans_[kFind]);
  operation.key = Value::Integer(key);
  return operation;
}

Operation Target::Drop(std::int64_t key) {
  Operation operation = Make(plans_[kDrop]);
  operation.key = Value::Integer(key);
  return operation;
}

Operation Target::Add(const std::vector<Value>& values) {
  Operation operation = Make(plans_[kAdd]);
  operation.values = values;
  return operation;
}

Operation Target::Change(std::int64_t key, const std::vector<Value>& values) {
  Operation operation = Make(plans_[kChange]);
  operation.key = Value::Integer(key);
  operation.values = values;
  return operation;
}

void HandlerSocketServerTest::SetUp() {
  for (const char* name : kNeeded) {
    if (std::getenv(name) == nullptr) {
      GTEST_SKIP() << name << " is not set: no MariaDB with HandlerSocket to test against "
                   << "(deploy/sandbox starts one)";
    }
  }
  sql_ = std::make_unique<Sql>();
  // HandlerSocket's threads keep a table's metadata lock until all their connections are closed,
  // also those of other tests: do not wait a day for them.
  sql_->Run("SET lock_wait_timeout = 30");
}

void HandlerSocketServerTest::TearDown() {
  for (const std::string& table : tables_) sql_->Run("DROP TABLE IF EXISTS `" + table + "`");
}

std::string HandlerSocketServerTest::NewTable() {
  tables_.push_back(fmt::format("hs_test_{}_{}", getpid(), tables_.size()));
  return tables_.back();
}

std::unique_ptr<Target> HandlerSocketServerTest::CreateTarget(std::vector<Column> columns) {
  const std::string table = NewTable();
  std::string statement = fmt::format("CREATE TABLE `{}` (", table);
  for (const Column& column : columns) {
    statement += fmt::format("`{}` {} {}, ", column.name, column.type.sql,
                             column.nullable ? "NULL" : "NOT NULL");
  }
  statement += fmt::format("PRIMARY KEY (`{}`)) ENGINE=InnoDB CHARSET=utf8mb4", columns[0].name);
  sql_->Run(statement);
  return std::make_unique<Target>(table, std::move(columns));
}

std::unique_ptr<Target> HandlerSocketServerTest::CreateTarget(std::string_view definition,
                                                              std::vector<Column> columns) {
  const std::string table = NewTable();
  sql_->Run(fmt::format("CREATE TABLE `{}` {}", table, definition));
  return std::make_unique<Target>(table, std::move(columns));
}

}  // namespace cavalry::drivers::handlersocket
