// The server's half of MySQL's protocol, as much as tests of the client need: a greeting, a login,
// and answers made of packets (https://mariadb.com/kb/en/clientserver-protocol/). Used in scripts
// of StubServer.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/settings.h"
#include "drivers/core/pollable.h"
#include "tests/fakes/stub_server.h"

namespace cavalry::drivers::mysql {

inline constexpr std::uint16_t kAutocommit = 0x0002;
inline constexpr std::uint16_t kMoreResults = 0x0008;
inline constexpr std::uint16_t kNoBackslashEscapes = 0x0200;

// Bytes of commands and answers. `sequence` counts packets of one answer, from 1.
std::string Packet(std::uint8_t sequence, std::string_view payload);
std::string Greeting();
std::string Ok(std::uint8_t sequence, std::uint8_t affected, std::uint16_t status = kAutocommit);
std::string Error(std::uint8_t sequence, std::uint16_t code, std::string_view text);
// A text result of one column "a" with these rows, from `sequence` on; `next` gets what follows.
std::string TextResult(std::uint8_t sequence, std::initializer_list<std::string_view> rows,
                       std::uint16_t status = kAutocommit, std::uint8_t* next = nullptr);
// The answer to a prepare of a statement with so many parameters and no result.
std::string PrepareOk(std::uint32_t id, std::uint8_t parameters);

// Greets, reads the login and accepts it. False when the client is gone.
bool Accept(fakes::StubConnection* connection, std::uint16_t status = kAutocommit);
// The payload of the next packet: the command's byte and what follows. Empty when the client is
// gone.
std::string ReadCommand(fakes::StubConnection* connection);

// A table "t" with an integer key "id" and a text "a", and its operations: read of "a" (0), update
// of "a" (1).
struct StubPlans {
  StubPlans();
  TableSchema table;
  std::vector<OperationPlan> plans;
};

// A client of 127.0.0.1:port and all it needs to live.
class StubClient {
 public:
  explicit StubClient(std::uint16_t port, std::string_view statements = "text",
                      std::string_view host = "127.0.0.1");

  // Of a Unix socket.
  explicit StubClient(std::string_view socket_path);

  PollableClient& client() { return *client_; }
  void Destroy() { client_.reset(); }
  // Drive to the end; the views are valid until the next call.
  OpResult Connect() { return Drive(client_->StartConnect()); }
  OpResult Close() { return Drive(client_->StartClose()); }
  OpResult Read(std::uint64_t key, RowVisitor* rows = nullptr) {
    return Drive(StartRead(key, rows));
  }
  OpResult Update(std::uint64_t key, std::string_view value);
  PollStep StartRead(std::uint64_t key, RowVisitor* rows = nullptr);
  OpResult Drive(PollStep step);

 private:
  void Make(std::string_view statements);

  StubPlans plans_;
  Settings settings_;
  std::unique_ptr<PollableFactory> factory_;
  std::unique_ptr<PollableClient> client_;
  Operation operation_;
  Value value_;
};

}  // namespace cavalry::drivers::mysql
