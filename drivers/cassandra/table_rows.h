// Rows of one table over a connection with prepared statements, many in flight: for the fill and
// the audit. Blocking; one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "drivers/cassandra/cql_session.h"

namespace cavalry::drivers::cassandra {

class TableRows {
 public:
  // Statements as AuditOptions makes them. Inserts have all columns; reads give `columns`, or the
  // first key column when there are none. The table must be there.
  static StatusOr<std::unique_ptr<TableRows>> Open(const Endpoint& endpoint,
                                                   const ConnectPlan& connect,
                                                   const StatementOptions& statements,
                                                   const TableSchema& table,
                                                   std::span<const std::uint32_t> columns);

  bool Fits(const TableSchema& table, std::span<const std::uint32_t> columns) const;

  // Row-major values. What the cluster could not take right now (overload, a timeout between the
  // nodes) is sent again a few times: a fill's row is the same each time.
  Status Insert(std::span<const Value> values);
  Status Read(std::span<const std::uint64_t> keys,
              const std::function<void(std::uint64_t, std::span<const Field>)>& visit);
  StatusOr<bool> ReadOne(std::span<const Value> key,
                         const std::function<void(std::span<const Field>)>& visit);

 private:
  TableRows(const TableSchema& table, std::span<const std::uint32_t> columns);
  // A read's error, with the level that it was read at and why.
  Status Explain(const Status& status) const;

  const TableSchema table_;
  const std::vector<std::uint32_t> columns_;
  std::vector<OperationPlan> operations_;  // insert, read
  Consistency written_ = Consistency::kLocalOne;
  Consistency read_ = Consistency::kAll;
  std::unique_ptr<CqlSession> session_;
};

}  // namespace cavalry::drivers::cassandra
