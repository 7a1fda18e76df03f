#include "spec_texts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"

namespace cavalry::spec {

std::string GoodSpec() {
  return R"yaml(targets:
  sql:
    mysql: { database: test }
  hs:
    handlersocket: { secret: { from: sql } }
    tables_of: sql
tables:
  customer:
    rows: 1000
    primary_key: id
    columns:
      id: { type: int }
      name: { type: varchar(25), value: "Customer#{id:09}" }
      qty: { type: int, value: new_version }
      closed: { type: datetime, nullable: true }
      price: { type: "decimal(6,2)" }
  orders:
    primary_key: id
    columns:
      id: { type: bigint }
operations:
  find: { read: { table: customer, columns: [id, name] } }
  add: { insert: orders }
  pay: { update: { table: customer, keys: { same_as: find }, set: { qty: new_version } } }
  drop: { delete: { table: customer } }
script: { name: checkout, steps: [find, add, pay] }
load: { sessions: 4, stop_after: { duration: 10s } }
thresholds: ["p99(find) < 5ms"]
)yaml";
}

std::string Changed(std::string_view from, std::string_view to) {
  std::string text = GoodSpec();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

SpecDocument MustParse(std::string_view text) {
  StatusOr<SpecDocument> document = ParseSpec(std::string(text), "t.yaml");
  EXPECT_TRUE(document.ok()) << StatusText(document.status());
  return document.ok() ? *std::move(document) : SpecDocument();
}

std::string ParseError(std::string_view text) {
  const StatusOr<SpecDocument> document = ParseSpec(std::string(text), "t.yaml");
  return document.ok() ? "ok" : StatusText(document.status());
}

std::string CheckError(std::string_view text) {
  const StatusOr<SpecDocument> document = ParseSpec(std::string(text), "t.yaml");
  if (!document.ok()) return "not read: " + StatusText(document.status());
  const Status status = CheckSpec(*document);
  return status.ok() ? "ok" : StatusText(status);
}

void SetConfigEnvironment() {
  for (const char* name :
       {"CAVALRY_MARIADB_HOST", "CAVALRY_MARIADB_USER", "CAVALRY_MARIADB_PASSWORD",
        "CAVALRY_MARIADB_DATABASE", "CAVALRY_MARIADB_SOCKET", "CAVALRY_MEMCACHED_HOST",
        "CAVALRY_CASSANDRA_HOST", "CAVALRY_HANDLERSOCKET_WRITE_SECRET"}) {
    setenv(name, "something", 1);
  }
  for (const char* name :
       {"CAVALRY_MARIADB_PORT", "CAVALRY_HANDLERSOCKET_PORT", "CAVALRY_HANDLERSOCKET_WRITE_PORT",
        "CAVALRY_MEMCACHED_PORT", "CAVALRY_CASSANDRA_PORT"}) {
    setenv(name, "4711", 1);
  }
}

std::vector<std::string> ConfigFiles() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(CAVALRY_SOURCE_DIR "/configs")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace cavalry::spec
