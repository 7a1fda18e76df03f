// One prepared statement of one connection: its handle, the values it sends and the room for the
// rows it gets. Makes no network call itself: the client drives prepare, execute and store. One
// thread, the connection's.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drivers/mysql/mariadb_client.h"
#include "drivers/mysql/statement.h"

namespace cavalry::drivers::mysql {

class PreparedStatement {
 public:
  // `statement` must outlive the object.
  explicit PreparedStatement(const StatementTemplate& statement);
  // Local when the connection is closed already; a packet is sent otherwise, so close it first.
  ~PreparedStatement();
  PreparedStatement(PreparedStatement&&) = delete;

  const StatementTemplate& statement() const { return statement_; }
  MYSQL_STMT* handle() const { return handle_; }

  // A new handle on this connection, to be prepared. False: out of memory.
  bool Open(MYSQL* connection);
  // After a prepare: binds parameters and result columns. False: the error is in handle(), or there
  // is none and the server has counted other parameters or columns than the statement has.
  bool Bind();
  // Before rows are read: as many columns as the answer has. False: as of Bind.
  bool BindAnswer();
  // Before an execute: takes the operation's values. False: the error is in handle().
  bool SetValues(const Operation& operation);

  // After a fetch that gave a row: its fields, whole, valid until the next fetch. `truncated`: the
  // fetch answered MYSQL_DATA_TRUNCATED. False: the error is in handle().
  bool ReadRow(bool truncated, std::span<const Field>* fields);

  // The statement with the values it was last sent with, as a person reads it.
  std::string Text() const;

 private:
  struct Parameter {
    enum enum_field_types type = MYSQL_TYPE_LONGLONG;
    std::int64_t integer = 0;
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
    unsigned long length = 0;
    my_bool is_unsigned = 0;
    my_bool is_null = 0;
  };
  struct ResultColumn {
    std::unique_ptr<char[]> bytes;
    std::size_t capacity = 0;
    unsigned long length = 0;
    my_bool is_null = 0;
    my_bool is_truncated = 0;
  };

  // Stores a value; true when the server must be told another type or place.
  static bool Store(const Value& value, Parameter* parameter);
  bool BindParameters();
  bool BindResults();

  const StatementTemplate& statement_;
  MYSQL_STMT* handle_ = nullptr;
  std::vector<Parameter> parameters_;
  std::vector<ResultColumn> results_;
  std::vector<MYSQL_BIND> binds_;  // scratch of BindParameters and BindResults
  std::vector<Field> fields_;
};

}  // namespace cavalry::drivers::mysql
