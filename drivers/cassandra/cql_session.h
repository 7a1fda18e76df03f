// Statements over one connection, one after the other or many at once: for administration and for
// asking a cluster for its nodes. Blocking; one thread. Never part of the load.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/status.h"
#include "drivers/cassandra/target_options.h"
#include "drivers/core/blocking_channel.h"
#include "drivers/core/tls_codec.h"

namespace cavalry::drivers::cassandra {

// How connections are made. The context is null without tls.
struct ConnectPlan {
  CodecOptions codec;
  std::shared_ptr<const TlsContext> tls;
  Nanos connect_timeout = 5 * kSecond;
  Nanos operation_timeout = 10 * kSecond;
};

using RowFunction = std::function<void(std::span<const Field>)>;

// "db1:9042: 0x2200 unconfigured table x": an operation's failure as a status. Ok for ok and miss.
Status ResultStatus(std::string_view label, const OpResult& result);

class CqlSession {
 public:
  // Statements are sent as texts. The error tells whether the server refused the version.
  static StatusOr<std::unique_ptr<CqlSession>> Open(const Endpoint& endpoint,
                                                    const ConnectPlan& plan);
  // Also prepares these operations, for RunAll. They must outlive the session.
  static StatusOr<std::unique_ptr<CqlSession>> OpenPrepared(
      const Endpoint& endpoint, const ConnectPlan& plan, const StatementOptions& statements,
      const std::vector<OperationPlan>& operations);
  ~CqlSession();

  // Runs CQL with `values` in place of its question marks and reads all its rows; their number.
  // REQUIRES: made by Open.
  StatusOr<std::uint64_t> Query(std::string_view cql, const RowFunction& visit = {},
                                Consistency level = Consistency::kLocalOne,
                                std::span<const Value> values = {});
  // The same CQL many times, each with its own `width` values, `in_flight` at once.
  Status QueryAll(std::string_view cql, std::span<const Value> values, std::size_t width,
                  const RowFunction& visit, Consistency level, std::uint32_t in_flight = 8);
  // Runs operations of the plans given to OpenPrepared, many at once; the first failure is told.
  // `look`, if any, sees each result; true: it is no failure.
  Status RunAll(std::span<const Operation> operations,
                const std::function<bool(std::size_t, const OpResult&)>& look = {},
                std::uint32_t in_flight = 128);

  const Endpoint& endpoint() const { return endpoint_; }
  bool usable() const { return channel_->usable(); }

 private:
  explicit CqlSession(Endpoint endpoint) : endpoint_(std::move(endpoint)) {}
  Status Connect(const ConnectPlan& plan, bool prepared);

  const Endpoint endpoint_;
  // Of Query, whose statement is another each time: the codec reads it when it encodes.
  OperationPlan native_;
  std::vector<StatementPlan> statements_;
  std::unique_ptr<BlockingChannel> channel_;
};

}  // namespace cavalry::drivers::cassandra
