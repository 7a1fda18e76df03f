#include <algorithm>
#include <map>
#include <set>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/host_port.h"

namespace cavalry::spec {
namespace {

constexpr std::uint32_t kMaxPort = 65'535;
constexpr std::size_t kMaxSocketPath = 107;  // sockaddr_un.sun_path holds a NUL too

// 0 means "the default" in the message, hence the file is asked whether it says 0.
void CheckPort(const std::string& path, std::uint32_t port, Checker* checker) {
  if ((port == 0 && checker->Says(path)) || port > kMaxPort) {
    checker->Fault(path, "{} is not a port: 1 to {}", port, kMaxPort);
  }
}

void CheckSecret(const std::string& path, const v1::SecretText& secret, bool may_ask,
                 Checker* checker) {
  if (secret.source_case() == v1::SecretText::kEnv && secret.env().empty()) {
    checker->Fault(path, "env needs the name of an environment variable");
  }
  if (secret.source_case() == v1::SecretText::kFile && secret.file().empty()) {
    checker->Fault(path, "file needs a path");
  }
  if (secret.source_case() != v1::SecretText::kFrom) return;
  if (!may_ask) {
    checker->Fault(path, "from asks a server for a HandlerSocket secret; here use env or file");
    return;
  }
  const v1::Target* source = checker->FindTarget(secret.from());
  if (source == nullptr) {
    checker->Fault(path, "from: no target '{}'; there are: {}", secret.from(),
                   fmt::join(checker->TargetNames(), ", "));
  } else if (!source->has_mysql() && source->kind_case() != v1::Target::KIND_NOT_SET) {
    checker->Fault(path, "from: '{}' is no mysql target, and only such a one can be asked",
                   secret.from());
  }
}

void CheckTls(const std::string& path, const v1::Tls& tls, Checker* checker) {
  if (tls.cert().empty() == tls.key().empty()) return;
  checker->Fault(path, "{} is needed too: a client's certificate goes with its key",
                 tls.cert().empty() ? "cert" : "key");
}

void CheckSocketPath(const std::string& path, const std::string& socket, Checker* checker) {
  if (socket.size() <= kMaxSocketPath) return;
  checker->Fault(path, "longer than {} bytes, which no Unix socket's path can be", kMaxSocketPath);
}

void CheckMysql(const std::string& path, int index, Checker* checker) {
  const v1::Mysql& mysql = checker->written().targets(index).mysql();
  CheckPort(path + ".port", mysql.port(), checker);
  CheckSecret(path + ".password", mysql.password(), false, checker);
  if (mysql.database().empty()) {
    checker->Fault(path, "database is needed: the one that holds the tables");
  } else {
    CheckIdentifier(path + ".database", "database", mysql.database(), checker);
  }
  if (mysql.transport() == v1::TRANSPORT_UNIX && mysql.socket().empty()) {
    checker->Fault(path, "transport: unix needs socket, the path of the server's Unix socket");
  }
  if (mysql.threads() > 0 && mysql.client() != v1::MYSQL_CLIENT_BLOCKING) {
    checker->Fault(path + ".threads", "only with client: blocking, whose calls block a thread");
  }
  CheckTls(path + ".tls", mysql.tls(), checker);
  CheckSocketPath(path + ".socket", mysql.socket(), checker);
}

// HandlerSocket separates fields by TAB and columns by commas, and escapes only values.
void CheckSendable(const std::string& path, std::string_view name, Checker* checker) {
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x10 || c == ',') {
      checker->Fault(path,
                     "HandlerSocket cannot send this name: no comma, no character below 0x10");
      return;
    }
  }
}

void CheckHandlersocket(const std::string& path, int index, Checker* checker) {
  const v1::Target& target = checker->written().targets(index);
  const v1::Handlersocket& options = target.handlersocket();
  CheckPort(path + ".port", options.port(), checker);
  CheckPort(path + ".write_port", options.write_port(), checker);
  CheckSecret(path + ".secret", options.secret(), true, checker);
  CheckSecret(path + ".write_secret", options.write_secret(), true, checker);
  if (!options.database().empty()) {
    CheckIdentifier(path + ".database", "database", options.database(), checker);
  }
  CheckSendable(path, checker->filled().targets(index).handlersocket().database(), checker);
  for (const v1::Table& table : checker->filled().tables()) {
    CheckSendable(fmt::format("tables.{}", table.name()), table.name(), checker);
    for (const v1::ColumnSpec& column : table.columns()) {
      CheckSendable(fmt::format("tables.{}.columns.{}", table.name(), column.name()), column.name(),
                    checker);
    }
  }
}

// "host" or "host:port", comma-free: a list of them reaches the driver as one text.
void CheckServers(const std::string& path,
                  const google::protobuf::RepeatedPtrField<std::string>& servers, bool needs_port,
                  Checker* checker) {
  std::set<std::string> seen;
  for (int i = 0; i < servers.size(); ++i) {
    const std::string& server = servers[i];
    const std::string place = fmt::format("{}[{}]", path, i);
    const bool bare = server.find(':') == std::string::npos;
    const bool right = bare ? !server.empty() && !needs_port : ParseHostPort(server).ok();
    if (!right || server.find(',') != std::string::npos) {
      checker->Fault(place, "'{}' is not {}", server,
                     needs_port ? "HOST:PORT" : "a host or HOST:PORT");
    } else if (!seen.insert(server).second) {
      checker->Fault(place, "'{}' is listed twice", server);
    }
  }
}

void CheckMemcached(const std::string& path, int index, Checker* checker) {
  const v1::Memcached& options = checker->written().targets(index).memcached();
  CheckPort(path + ".port", options.port(), checker);
  CheckSecret(path + ".password", options.password(), false, checker);
  CheckServers(path + ".servers", options.servers(), true, checker);
  CheckSocketPath(path + ".socket", options.socket(), checker);
  const bool tcp = !options.host().empty() || options.port() != 0;
  if (tcp + !options.socket().empty() + !options.servers().empty() > 1) {
    checker->Fault(path, "say where the server is once: host and port, servers, or socket");
  }
  if (options.user().empty() == options.has_password()) {
    checker->Fault(path, "{} is needed too", options.user().empty() ? "user" : "password");
  }
  CheckTls(path + ".tls", options.tls(), checker);
}

void CheckCassandra(const std::string& path, int index, Checker* checker) {
  const v1::Cassandra& options = checker->written().targets(index).cassandra();
  CheckPort(path + ".port", options.port(), checker);
  CheckSecret(path + ".password", options.password(), false, checker);
  CheckServers(path + ".contact_points", options.contact_points(), false, checker);
  if (options.keyspace().empty()) {
    checker->Fault(path, "keyspace is needed: the one that holds the tables");
  } else {
    CheckIdentifier(path + ".keyspace", "keyspace", options.keyspace(), checker);
  }
  const std::uint32_t version = options.protocol_version();
  if ((version != 0 || checker->Says(path + ".protocol_version")) && version != 4 && version != 5) {
    checker->Fault(path + ".protocol_version", "{} is neither 4 nor 5", version);
  }
  if (version == 5 && options.compression() == v1::CASSANDRA_COMPRESSION_SNAPPY) {
    checker->Fault(path + ".compression", "snappy goes with protocol_version: 4 only; use lz4");
  }
  const v1::ConsistencyLevels& levels = options.consistency();
  const auto is_serial = [](v1::Consistency level) {
    return level == v1::CONSISTENCY_SERIAL || level == v1::CONSISTENCY_LOCAL_SERIAL;
  };
  if (is_serial(levels.write())) {
    checker->Fault(path + ".consistency.write", "is for reads and for `serial` only");
  }
  if (levels.read() == v1::CONSISTENCY_ANY || levels.read() == v1::CONSISTENCY_EACH_QUORUM) {
    checker->Fault(path + ".consistency.read", "is for writes only");
  }
  if (levels.serial() != v1::CONSISTENCY_UNSPECIFIED && !is_serial(levels.serial())) {
    checker->Fault(path + ".consistency.serial", "is serial or local_serial");
  }
  if (checker->Says(path + ".connections") && options.connections() == 0) {
    checker->Fault(path + ".connections", "at least 1");
  }
  CheckTls(path + ".tls", options.tls(), checker);
}

void CheckOwner(const std::string& path, const v1::Target& target, Checker* checker) {
  const std::string owner_name = OwnerOf(target);
  const v1::Target* owner = checker->FindTarget(owner_name);
  if (owner == nullptr) return;                                // a fault of its reference
  if (owner->kind_case() == v1::Target::KIND_NOT_SET) return;  // a fault of its own
  if (owner == &target) {
    if (!CanOwnTables(target)) {
      checker->Fault(path,
                     "{} can neither create nor fill tables; name a mysql target that does: "
                     "tables_of: NAME",
                     DriverOf(target));
    }
    return;
  }
  const std::string owner_path = path + ".tables_of";
  if (!CanOwnTables(*owner)) {
    checker->Fault(owner_path, "'{}' is {}, which cannot own tables; name a mysql target",
                   owner_name, DriverOf(*owner));
  } else if (OwnerOf(*owner) != owner_name) {
    checker->Fault(owner_path, "'{0}' does not own tables itself; write tables_of: {1}", owner_name,
                   OwnerOf(*owner));
  }
  const bool same_server = target.has_handlersocket() && owner->has_mysql();
  if (!same_server && CanOwnTables(*owner) && target.kind_case() != owner->kind_case()) {
    checker->Fault(owner_path, "'{}' is {}, whose tables a {} target cannot see", owner_name,
                   DriverOf(*owner), DriverOf(target));
    return;
  }
  const std::string& database =
      target.has_mysql() ? target.mysql().database() : target.handlersocket().database();
  if (!database.empty() && owner->has_mysql() && database != owner->mysql().database()) {
    checker->Fault(path, "database '{}' is not that of '{}', which makes the tables in '{}'",
                   database, owner_name, owner->mysql().database());
  }
}

// Where an owner's tables are.
std::string PlaceOf(const v1::Target& target) {
  if (target.has_memcached()) {
    const v1::Memcached& options = target.memcached();
    return fmt::format("memcached {} {}:{} {} {}", options.socket(), options.host(), options.port(),
                       fmt::join(options.servers(), ","), options.key());
  }
  if (target.has_cassandra()) {
    const v1::Cassandra& options = target.cassandra();
    return fmt::format("cassandra {}:{} {}", fmt::join(options.contact_points(), ","),
                       options.port(), options.keyspace());
  }
  const v1::Mysql& mysql = target.mysql();
  return mysql.transport() == v1::TRANSPORT_UNIX
             ? fmt::format("{} {}", mysql.socket(), mysql.database())
             : fmt::format("{}:{} {}", mysql.host(), mysql.port(), mysql.database());
}

// Two owners of the same tables would fill and reset them under each other's load.
void CheckSharedTables(Checker* checker) {
  if (!ScriptWrites(checker->filled())) return;
  std::map<std::string, std::string> first_in;
  for (const v1::Target& target : checker->filled().targets()) {
    if (OwnerOf(target) != target.name() || !CanOwnTables(target)) continue;
    const auto [first, fresh] = first_in.emplace(PlaceOf(target), target.name());
    if (fresh) continue;
    checker->Fault(fmt::format("targets.{}", target.name()),
                   "writes the same tables as '{0}'; share them: tables_of: {0}", first->second);
  }
}

}  // namespace

void CheckTargets(Checker* checker) {
  if (checker->written().targets_size() == 0) {
    checker->Fault("targets",
                   "a spec needs at least one target, such as 'sql: { mysql: "
                   "{ database: test } }'");
  } else if (std::none_of(checker->filled().targets().begin(), checker->filled().targets().end(),
                          IsLoaded)) {
    checker->Fault("targets", "every one says 'load: false'; at least one must be loaded");
  }
  for (int i = 0; i < checker->filled().targets_size(); ++i) {
    const v1::Target& target = checker->filled().targets(i);
    const std::string path = fmt::format("targets.{}", target.name());
    CheckWord(path, target.name(), checker);
    switch (target.kind_case()) {
      case v1::Target::kMysql:
        CheckMysql(path + ".mysql", i, checker);
        break;
      case v1::Target::kHandlersocket:
        CheckHandlersocket(path + ".handlersocket", i, checker);
        break;
      case v1::Target::kMemcached:
        CheckMemcached(path + ".memcached", i, checker);
        break;
      case v1::Target::kCassandra:
        CheckCassandra(path + ".cassandra", i, checker);
        break;
      case v1::Target::KIND_NOT_SET:
        checker->Fault(path,
                       "names no kind; write 'mysql: { ... }', 'handlersocket: { ... }', "
                       "'memcached: { ... }' or 'cassandra: { ... }'");
        continue;
    }
    CheckOwner(path, target, checker);
  }
  CheckSharedTables(checker);
}

}  // namespace cavalry::spec
