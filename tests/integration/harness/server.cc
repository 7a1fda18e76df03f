#include "tests/integration/harness/server.h"

#include <mysql.h>

#include <cstdlib>
#include <utility>

#include <gtest/gtest.h>

namespace cavalry::e2e {
namespace {

constexpr const char* kNeeded[] = {"CAVALRY_MARIADB_HOST",
                                   "CAVALRY_MARIADB_PORT",
                                   "CAVALRY_MARIADB_SOCKET",
                                   "CAVALRY_MARIADB_USER",
                                   "CAVALRY_MARIADB_PASSWORD",
                                   "CAVALRY_HANDLERSOCKET_PORT",
                                   "CAVALRY_HANDLERSOCKET_WRITE_PORT",
                                   "CAVALRY_HANDLERSOCKET_SECRET",
                                   "CAVALRY_HANDLERSOCKET_WRITE_SECRET"};

}  // namespace

std::string Server::Missing() {
  for (const char* name : kNeeded) {
    if (std::getenv(name) == nullptr) return name;
  }
  return "";
}

Server Server::FromEnvironment() {
  Server server;
  server.host = std::getenv("CAVALRY_MARIADB_HOST");
  server.port = std::atoi(std::getenv("CAVALRY_MARIADB_PORT"));
  server.socket = std::getenv("CAVALRY_MARIADB_SOCKET");
  server.user = std::getenv("CAVALRY_MARIADB_USER");
  server.password = std::getenv("CAVALRY_MARIADB_PASSWORD");
  server.read_port = std::atoi(std::getenv("CAVALRY_HANDLERSOCKET_PORT"));
  server.write_port = std::atoi(std::getenv("CAVALRY_HANDLERSOCKET_WRITE_PORT"));
  server.secret = std::getenv("CAVALRY_HANDLERSOCKET_SECRET");
  server.write_secret = std::getenv("CAVALRY_HANDLERSOCKET_WRITE_SECRET");
  return server;
}

Sql::Sql(const Server& server) : connection_(mysql_init(nullptr)) {
  const bool connected = mysql_real_connect(connection_, "localhost", "root", "", nullptr, 0,
                                            server.socket.c_str(), 0) != nullptr;
  EXPECT_TRUE(connected) << mysql_error(connection_);
  // A statement that waits for a lock for ever must fail the test, not hang it.
  if (connected) Run("SET lock_wait_timeout = 30, innodb_lock_wait_timeout = 30");
}

Sql::~Sql() { mysql_close(connection_); }

void Sql::Run(const std::string& statement) {
  EXPECT_EQ(mysql_real_query(connection_, statement.data(), statement.size()), 0)
      << statement << ": " << mysql_error(connection_);
  if (MYSQL_RES* result = mysql_store_result(connection_)) mysql_free_result(result);
}

std::vector<std::string> Sql::List(const std::string& statement) {
  std::vector<std::string> values;
  EXPECT_EQ(mysql_real_query(connection_, statement.data(), statement.size()), 0)
      << statement << ": " << mysql_error(connection_);
  MYSQL_RES* result = mysql_store_result(connection_);
  if (result == nullptr) return values;
  while (MYSQL_ROW row = mysql_fetch_row(result)) {
    values.emplace_back(row[0] != nullptr ? row[0] : "NULL");
  }
  mysql_free_result(result);
  return values;
}

std::string Sql::Row(const std::string& statement) {
  EXPECT_EQ(mysql_real_query(connection_, statement.data(), statement.size()), 0)
      << statement << ": " << mysql_error(connection_);
  MYSQL_RES* result = mysql_store_result(connection_);
  if (result == nullptr) return "";
  std::string text;
  if (MYSQL_ROW row = mysql_fetch_row(result)) {
    for (unsigned i = 0; i < mysql_num_fields(result); ++i) {
      if (i > 0) text += ",";
      text += row[i] != nullptr ? row[i] : "NULL";
    }
  }
  mysql_free_result(result);
  return text;
}

std::int64_t Sql::Number(const std::string& statement) {
  const std::string text = Row(statement);
  return std::atoll(text.c_str());
}

std::int64_t Sql::Status(const std::string& name) {
  return Number(
      "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = '" + name +
      "'");
}

GlobalVariable::GlobalVariable(Sql* sql, std::string name, const std::string& value)
    : sql_(sql), name_(std::move(name)), before_(sql->Row("SELECT @@GLOBAL." + name_)) {
  sql_->Run("SET GLOBAL " + name_ + " = " + value);
}

GlobalVariable::~GlobalVariable() { sql_->Run("SET GLOBAL " + name_ + " = " + before_); }

}  // namespace cavalry::e2e
