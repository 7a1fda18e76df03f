// A blocking SQL connection for schema work: one query at a time, errors as Status with the
// server's number and text. One thread at a time. Reconnects by Connect() only.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/value.h"
#include "drivers/mysql/mariadb_client.h"
#include "drivers/mysql/server_address.h"

namespace cavalry::drivers::mysql {

class AdminConnection {
 public:
  explicit AdminConnection(ServerAddress address) : address_(std::move(address)) {}
  ~AdminConnection();
  AdminConnection(const AdminConnection&) = delete;
  AdminConnection& operator=(const AdminConnection&) = delete;

  // Resolves, connects and sets the session up. The error says what can be done.
  Status Connect();
  const ServerAddress& address() const { return address_; }
  // The error number of the last failed call, 0 when it was none of the server's or library's.
  unsigned int last_error() const { return last_error_; }

  using RowCallback = std::function<void(std::span<const Field>)>;
  // Runs a statement and gives each row of its result, if it has one.
  Status Query(std::string_view sql, const RowCallback& visit);
  Status Execute(std::string_view sql);
  // Runs one or several statements, reads all rows of all results and drops them; how many.
  StatusOr<std::uint64_t> Run(std::string_view sql);
  // The first field of the first row; nothing for no row or NULL.
  StatusOr<std::optional<std::string>> QueryText(std::string_view sql);
  // The same as a number; nothing, or what is none, is 0.
  StatusOr<std::uint64_t> QueryNumber(std::string_view sql);

 private:
  Status Fail(std::string_view sql);
  void Close();

  ServerAddress address_;
  MYSQL* handle_ = nullptr;
  unsigned int last_error_ = 0;
};

}  // namespace cavalry::drivers::mysql
