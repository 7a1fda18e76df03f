#include <algorithm>
#include <set>

#include "coordinator/spec/checker.h"
#include "coordinator/spec/spec_check.h"

namespace cavalry::spec {
namespace {

constexpr std::uint32_t kMaxPort = 65'535;
constexpr std::size_t kMaxSocketPath = 107;  // sockaddr_un.sun_path holds a NUL too

// Tables are made, filled and read back over SQL.
bool CanOwnTables(const v1::Target& target) { return target.has_mysql(); }

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
  if (mysql.socket().size() > kMaxSocketPath) {
    checker->Fault(path + ".socket", "longer than {} bytes, which no Unix socket's path can be",
                   kMaxSocketPath);
  }
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
  const std::string& database =
      target.has_mysql() ? target.mysql().database() : target.handlersocket().database();
  if (!database.empty() && CanOwnTables(*owner) && database != owner->mysql().database()) {
    checker->Fault(path, "database '{}' is not that of '{}', which makes the tables in '{}'",
                   database, owner_name, owner->mysql().database());
  }
}

// Two owners of the same tables would fill and reset them under each other's load.
void CheckSharedTables(Checker* checker) {
  if (!ScriptWrites(checker->filled())) return;
  std::set<std::string> places;
  for (const v1::Target& target : checker->filled().targets()) {
    if (OwnerOf(target) != target.name() || !target.has_mysql()) continue;
    const v1::Mysql& mysql = target.mysql();
    const std::string place =
        mysql.transport() == v1::TRANSPORT_UNIX
            ? fmt::format("{} {}", mysql.socket(), mysql.database())
            : fmt::format("{}:{} {}", mysql.host(), mysql.port(), mysql.database());
    if (places.insert(place).second) continue;
    for (const v1::Target& first : checker->filled().targets()) {
      if (!first.has_mysql() || first.mysql().database() != mysql.database()) continue;
      checker->Fault(fmt::format("targets.{}", target.name()),
                     "writes the same tables as '{0}'; share them: tables_of: {0}", first.name());
      break;
    }
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
      case v1::Target::KIND_NOT_SET:
        checker->Fault(path, "names no kind; write 'mysql: { ... }' or 'handlersocket: { ... }'");
        continue;
    }
    CheckOwner(path, target, checker);
  }
  CheckSharedTables(checker);
}

}  // namespace cavalry::spec
