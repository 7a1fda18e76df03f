#include "tests/contract/back_end.h"

#include <cstdlib>

#include <fmt/format.h>

namespace cavalry::contract {
namespace {

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

BackEnd Sql(std::string name, std::string target) {
  BackEnd end;
  end.name = std::move(name);
  end.target = std::move(target);
  end.transactions = true;
  return end;
}

BackEnd Memcached(const std::string& protocol, const std::string& place, const std::string& more) {
  BackEnd end;
  end.name = "memcached_" + protocol + more;
  end.target =
      fmt::format("{{ memcached: {{ {}, protocol: {}, key: \"@SPACE@:{{table}}:{{key}}\" }} }}",
                  place, protocol);
  return end;
}

BackEnd Cassandra(const std::string& name, const std::string& options) {
  BackEnd end;
  end.name = "cassandra_" + name;
  end.target =
      fmt::format("{{ cassandra: {{ contact_points: [ \"{}:{}\" ], keyspace: \"@SPACE@\"{} }} }}",
                  Variable("CAVALRY_CASSANDRA_HOST"), Variable("CAVALRY_CASSANDRA_PORT"), options);
  // Without `conditional` a write neither sees nor misses what is there.
  end.tells_duplicates = options.find("conditional") != std::string::npos;
  end.tells_missing = end.tells_duplicates;
  end.batch_insert = !end.tells_duplicates;  // conditions of a batch are of one partition
  return end;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const BackEnd& back_end) {
  return out << back_end.name;
}

std::vector<BackEnd> AllBackEnds() {
  std::vector<BackEnd> all = {Sql("mysql_text", "@SQL@"), Sql("mysql_prepared", "@PREPARED@")};
  BackEnd hs;
  hs.name = "handlersocket";
  hs.target = "@HS@";
  hs.owner = "sql: @SQLOWNER@";
  all.push_back(hs);
  const std::string port = Variable("CAVALRY_MEMCACHED_PORT");
  if (!port.empty()) {
    const std::string place = "port: " + port;
    for (const char* protocol : {"text", "meta", "binary"}) {
      all.push_back(Memcached(protocol, place, ""));
    }
    const std::string second = Variable("CAVALRY_MEMCACHED2_PORT");
    BackEnd two = Memcached(
        "text", fmt::format("servers: [ \"127.0.0.1:{}\", \"127.0.0.1:{}\" ]", port, second),
        "_two_servers");
    two.multi_read = false;
    two.batch_insert = false;
    if (!second.empty()) all.push_back(two);
    const std::string socket = Variable("CAVALRY_MEMCACHED_SOCKET");
    if (!socket.empty()) all.push_back(Memcached("text", "socket: " + socket, "_socket"));
    const std::string tls = Variable("CAVALRY_MEMCACHED_TLS_PORT");
    if (!tls.empty()) {
      all.push_back(Memcached(
          "text", fmt::format("port: {}, tls: {{ ca: {} }}", tls, Variable("CAVALRY_MEMCACHED_CA")),
          "_tls"));
    }
  }
  if (!Variable("CAVALRY_CASSANDRA_PORT").empty()) {
    all.push_back(Cassandra("v5", ""));
    all.push_back(Cassandra("v5_lz4", ", compression: lz4"));
    all.push_back(Cassandra("v4_snappy", ", protocol_version: 4, compression: snappy"));
    all.push_back(Cassandra("text", ", statements: text"));
    all.push_back(Cassandra("conditional", ", conditional: true"));
  }
  return all;
}

}  // namespace cavalry::contract
