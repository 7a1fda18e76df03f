// What the HandlerSocket integration tests share: a real server from the environment, SQL to look
// at its tables from the other side, and a blocking connection around the codec. Tests skip aloud
// when the environment names no server.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/unique_fd.h"
#include "drivers/core/codec.h"
#include "drivers/core/driver.h"
#include "tests/unit/drivers/handlersocket/conversation.h"

// Of Connector/C; its header stays in the .cc.
struct st_mysql;

namespace cavalry::drivers::handlersocket {

// A connection through Connector/C's plain API. Errors fail the test.
class Sql {
 public:
  Sql();
  Sql(const Sql&) = delete;
  Sql& operator=(const Sql&) = delete;
  ~Sql();

  void Run(const std::string& statement);
  // All rows as texts.
  std::vector<Row> Select(const std::string& statement);

 private:
  st_mysql* connection_;
};

// One blocking connection to one endpoint of a factory.
class Client {
 public:
  // Connects, and runs the handshake to its end.
  Client(const CodecFactory& factory, std::size_t endpoint);

  ConnectionState state() const { return state_; }
  // Class, code and text of what ended the connection.
  Done error() const;

  // Sends all of the operations at once and reads until each has ended, or the connection has.
  std::vector<Done> Run(const std::vector<Operation>& operations);
  Done Run(const Operation& operation);
  // Whether the server has closed the connection.
  bool closed() const { return closed_; }

 private:
  void Send();
  bool Receive();  // false at the end

  std::unique_ptr<Codec> codec_;
  UniqueFd fd_;
  ByteBuffer out_;
  Collector collector_;
  ConnectionState state_ = ConnectionState::kHandshake;
  bool closed_ = false;
};

// A table of the test's own and operations on it: find (all columns), add (all columns), change
// (all but the key), drop.
class Target {
 public:
  enum Index : std::uint32_t { kFind, kAdd, kChange, kDrop };

  Target(std::string table, std::vector<Column> columns);
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  TableSchema& table() { return table_; }
  const TableSchema& table() const { return table_; }
  std::vector<OperationPlan>& plans() { return plans_; }
  Settings& settings() { return settings_; }
  void Set(std::string_view name, std::string value);

  // One operation more; before factory().
  OperationPlan& AddPlan(OperationKind kind, std::vector<std::uint32_t> columns);
  // Without key and values.
  Operation Make(const OperationPlan& plan) const;

  // Makes a factory of what is set now.
  const CodecFactory& factory();
  Client Connect(OperationKind kind);

  Operation Find(std::int64_t key);
  Operation Drop(std::int64_t key);
  // `values` must live until the operation has been encoded.
  Operation Add(const std::vector<Value>& values);
  Operation Change(std::int64_t key, const std::vector<Value>& values);

 private:
  TableSchema table_;
  std::vector<OperationPlan> plans_;
  Settings settings_;
  std::unique_ptr<CodecFactory> factory_;
};

class HandlerSocketServerTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A name of this test's own; the table is dropped when the test ends.
  std::string NewTable();
  // CREATE TABLE of the target's columns, the first being the key.
  std::unique_ptr<Target> CreateTarget(std::vector<Column> columns);
  // CREATE TABLE with a definition of the test's own, what stands in parentheses and behind them.
  std::unique_ptr<Target> CreateTarget(std::string_view definition, std::vector<Column> columns);

  std::unique_ptr<Sql> sql_;

 private:
  std::vector<std::string> tables_;
};

}  // namespace cavalry::drivers::handlersocket
