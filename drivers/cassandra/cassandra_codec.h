// The codec of CQL's native protocol, v4 and v5 (https://cassandra.apache.org:
// native_protocol_v4.spec, native_protocol_v5.spec): one connection, many requests in flight, each
// under a stream id of its own. Sans-I/O; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "drivers/cassandra/statement.h"
#include "drivers/core/codec.h"

namespace cavalry::drivers::cassandra {

enum class Compression : std::uint8_t { kNone, kLz4, kSnappy };

struct CodecOptions {
  std::uint8_t version = 5;  // 4 or 5
  Compression compression = Compression::kNone;
  std::string user;  // empty: none; then an AUTHENTICATE is an error
  std::string password;
  bool prepared = true;
  std::uint32_t page_size = 5000;
  std::uint32_t max_in_flight = 32'768;
  // Beyond so many answers that are still awaited for operations given up, the connection is
  // failed.
  std::uint32_t max_orphans = 1'024;
};

// `statements`: one per operation plan, by OperationPlan::index; prepared in the handshake when
// options.prepared. Both must outlive the codec. A server that refuses the version fails the
// connection with code "0x000A".
std::unique_ptr<Codec> NewCassandraCodec(const CodecOptions& options,
                                         const std::vector<StatementPlan>& statements);

}  // namespace cavalry::drivers::cassandra
