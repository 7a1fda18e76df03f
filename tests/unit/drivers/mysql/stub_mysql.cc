#include "tests/unit/drivers/mysql/stub_mysql.h"

#include <poll.h>

#include <gtest/gtest.h>

#include "drivers/mysql/mysql_driver.h"

namespace cavalry::drivers::mysql {
namespace {

// Far above what any answer takes: a hang fails the test instead of filling ctest's own limit.
constexpr int kHangMillis = 20'000;

constexpr char kTypeVarString = static_cast<char>(0xfd);

std::string Integer(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

// A length-encoded string of up to 250 bytes.
std::string Text(std::string_view text) { return Integer(text.size(), 1) + std::string(text); }

std::string ColumnDefinition(std::string_view name) {
  std::string column = Text("def") + Text("stub") + Text("t") + Text("t") + Text(name) + Text(name);
  column += Integer(12, 1) + Integer(45, 2) + Integer(100, 4);
  column.push_back(kTypeVarString);
  return column + Integer(0, 2) + Integer(0, 1) + Integer(0, 2);
}

std::string EndOfRows(std::uint8_t sequence, std::uint16_t status) {
  return Packet(sequence, "\xfe" + Integer(0, 2) + Integer(status, 2));
}

}  // namespace

std::string Packet(std::uint8_t sequence, std::string_view payload) {
  return Integer(payload.size(), 3) + Integer(sequence, 1) + std::string(payload);
}

std::string Greeting() {
  // LONG_PASSWORD, FOUND_ROWS, CONNECT_WITH_DB, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION;
  // MULTI_STATEMENTS, MULTI_RESULTS, PS_MULTI_RESULTS, PLUGIN_AUTH.
  constexpr std::uint16_t kLow = 0x0001 | 0x0002 | 0x0008 | 0x0200 | 0x2000 | 0x8000;
  constexpr std::uint16_t kHigh = 0x0001 | 0x0002 | 0x0004 | 0x0008;
  std::string greeting = "\x0a" + std::string("5.5.5-10.11.0-stub") + '\0';
  greeting += Integer(7, 4) + "scramble" + '\0' + Integer(kLow, 2) + Integer(45, 1) +
              Integer(kAutocommit, 2) + Integer(kHigh, 2) + Integer(21, 1) + std::string(10, '\0') +
              "scrambledeggs" + '\0' + "mysql_native_password" + '\0';
  // The second part of the scramble is 12 bytes long.
  return Packet(0, greeting.replace(greeting.find("scrambledeggs"), 13, "scrambledegg"));
}

std::string Ok(std::uint8_t sequence, std::uint8_t affected, std::uint16_t status) {
  return Packet(sequence, std::string(1, '\0') + Integer(affected, 1) + Integer(0, 1) +
                              Integer(status, 2) + Integer(0, 2));
}

std::string Error(std::uint8_t sequence, std::uint16_t code, std::string_view text) {
  return Packet(sequence, "\xff" + Integer(code, 2) + "#HY000" + std::string(text));
}

std::string TextResult(std::uint8_t sequence, std::initializer_list<std::string_view> rows,
                       std::uint16_t status, std::uint8_t* next) {
  std::string result = Packet(sequence++, Integer(1, 1));
  result += Packet(sequence++, ColumnDefinition("a"));
  result += EndOfRows(sequence++, kAutocommit);
  for (const std::string_view row : rows) result += Packet(sequence++, Text(row));
  result += EndOfRows(sequence++, status);
  if (next != nullptr) *next = sequence;
  return result;
}

std::string PrepareOk(std::uint32_t id, std::uint8_t parameters) {
  std::string answer = Packet(1, std::string(1, '\0') + Integer(id, 4) + Integer(0, 2) +
                                     Integer(parameters, 2) + std::string(1, '\0') + Integer(0, 2));
  std::uint8_t sequence = 2;
  for (int i = 0; i < parameters; ++i) answer += Packet(sequence++, ColumnDefinition("?"));
  return answer + EndOfRows(sequence, kAutocommit);
}

bool Accept(fakes::StubConnection* connection, std::uint16_t status) {
  return connection->Write(Greeting()) && !ReadCommand(connection).empty() &&
         connection->Write(Ok(2, 0, status));
}

std::string ReadCommand(fakes::StubConnection* connection) {
  const std::string header = connection->Read(4);
  if (header.size() < 4) return "";
  std::size_t size = 0;
  for (int i = 2; i >= 0; --i) {
    size = size * 256 + static_cast<unsigned char>(header[static_cast<std::size_t>(i)]);
  }
  return connection->Read(size);
}

StubPlans::StubPlans() {
  table.name = "t";
  table.engine = "InnoDB";
  table.columns = {{"id", *ParseColumnType("int"), false},
                   {"a", *ParseColumnType("varchar(25)"), false}};
  plans.resize(2);
  plans[0].columns = {1};
  plans[1].kind = OperationKind::kUpdate;
  plans[1].columns = {1};
  for (std::size_t i = 0; i < plans.size(); ++i) {
    plans[i].index = static_cast<std::uint32_t>(i);
    plans[i].table = &table;
  }
}

StubClient::StubClient(std::uint16_t port, std::string_view statements, std::string_view host) {
  settings_.Add({"host", std::string(host)});
  settings_.Add({"port", std::to_string(port)});
  Make(statements);
}

StubClient::StubClient(std::string_view socket_path) {
  settings_.Add({"transport", "unix"});
  settings_.Add({"socket", std::string(socket_path)});
  Make("text");
}

void StubClient::Make(std::string_view statements) {
  settings_.Add({"user", "u"});
  settings_.Add({"database", "d"});
  settings_.Add({"statements", std::string(statements)});
  // A prepared client prepares all its plans: only the update, whose answers a test can write by
  // hand.
  if (statements == "prepared") plans_.plans.erase(plans_.plans.begin());
  ClientConfig config;
  config.settings = &settings_;
  config.operations = &plans_.plans;
  config.connect_timeout = 3 * kSecond;
  auto factory = GetDriver().NewClientFactory(config);
  EXPECT_TRUE(factory.ok()) << factory.status();
  factory_ = std::get<std::unique_ptr<PollableFactory>>(std::move(*factory));
  client_ = factory_->NewClient();
}

OpResult StubClient::Drive(PollStep step) {
  while (!step.done) {
    pollfd waiting{step.wait.fd, step.wait.events, 0};
    if (poll(&waiting, 1, kHangMillis) != 1) {
      ADD_FAILURE() << "the client waits for events " << step.wait.events << " that never come";
      return {.outcome = Outcome::kTimeout};
    }
    step = client_->Continue(waiting.revents, false);
  }
  return step.result;
}

PollStep StubClient::StartRead(std::uint64_t key, RowVisitor* rows) {
  operation_ = Operation{&plans_.plans.front(), Value::Unsigned(key), {}, rows};
  return client_->Start(operation_);
}

OpResult StubClient::Update(std::uint64_t key, std::string_view value) {
  value_ = Value::Text(value);
  operation_ = Operation{&plans_.plans.back(), Value::Unsigned(key), {&value_, 1}, nullptr};
  return Drive(client_->Start(operation_));
}

}  // namespace cavalry::drivers::mysql
