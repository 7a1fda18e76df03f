// Rows per second of the fill phase's inserts against LOAD DATA INFILE of the same rows, taken in
// turns on the same server: mysql_fill_bench [ROWS [ROUNDS]]. Needs the environment that
// `deploy/sandbox env mariadb` prints; reads the file as root over the Unix socket.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "drivers/core/admin.h"
#include "drivers/mysql/admin_connection.h"
#include "drivers/mysql/mysql_driver.h"
#include "drivers/mysql/statement.h"

namespace cavalry::drivers::mysql {
namespace {

constexpr std::size_t kRowsPerCall = 1'000;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Status Measure(std::uint64_t rows, int rounds) {
  Settings settings;
  settings.Add({"transport", "unix"});
  settings.Add({"socket", Environment("CAVALRY_MARIADB_SOCKET")});
  settings.Add({"user", "root"});
  settings.Add({"database", Environment("CAVALRY_MARIADB_DATABASE")});
  CAVALRY_ASSIGN_OR_RETURN(const auto admin, GetDriver().NewAdmin(settings));
  CAVALRY_RETURN_IF_ERROR(admin->Connect());
  CAVALRY_ASSIGN_OR_RETURN(ServerAddress address, ReadServerAddress(settings));
  AdminConnection loader(std::move(address));
  CAVALRY_RETURN_IF_ERROR(loader.Connect());

  TableSchema table;
  table.name = "fill_bench";
  table.engine = "InnoDB";
  table.rows = rows;
  table.columns = {{"id", *ParseColumnType("int")},
                   {"name", *ParseColumnType("varchar(25)")},
                   {"address", *ParseColumnType("varchar(40)")},
                   {"balance", *ParseColumnType("decimal(15,2)")},
                   {"note", *ParseColumnType("varchar(117)")}};
  const std::string path = Environment("CAVALRY_MARIADB_SOCKET") + ".fill_bench.txt";
  const auto text = [](std::uint64_t row, int column) {
    constexpr int kLengths[] = {0, 18, 25, 7, 73};
    std::string value = fmt::format("{}", row * 7919 + static_cast<std::uint64_t>(column));
    if (column == 3) return fmt::format("{}.{:02}", row % 9999, row % 100);
    value.resize(static_cast<std::size_t>(kLengths[column]), static_cast<char>('a' + row % 26));
    return value;
  };
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return FailedPrecondition("cannot write {}", path);
  for (std::uint64_t row = 1; row <= rows; ++row) {
    fmt::print(file, "{}\t{}\t{}\t{}\t{}\n", row, text(row, 1), text(row, 2), text(row, 3),
               text(row, 4));
  }
  std::fclose(file);
  std::vector<std::string> texts(kRowsPerCall * 4);
  std::vector<Value> values(kRowsPerCall * 5);
  CAVALRY_RETURN_IF_ERROR(loader.Execute("DROP TABLE IF EXISTS fill_bench"));
  CAVALRY_RETURN_IF_ERROR(admin->Create(table));
  for (int round = 0; round < rounds; ++round) {
    CAVALRY_RETURN_IF_ERROR(admin->Truncate(table));
    Nanos begin = MonotonicNow();
    for (std::uint64_t row = 0; row < rows;) {
      std::size_t count = 0;
      for (; count < kRowsPerCall && row < rows; ++count) {
        ++row;
        values[count * 5] = Value::Unsigned(row);
        for (int i = 1; i <= 4; ++i) {
          const std::size_t place = count * 4 + static_cast<std::size_t>(i) - 1;
          texts[place] = text(row, i);
          values[count * 5 + static_cast<std::size_t>(i)] = Value::Text(texts[place]);
        }
      }
      CAVALRY_RETURN_IF_ERROR(
          admin->InsertRows(table, std::span<const Value>(values).first(count * 5)));
    }
    const Nanos fill = MonotonicNow() - begin;
    CAVALRY_RETURN_IF_ERROR(admin->Truncate(table));
    begin = MonotonicNow();
    std::string quoted;
    AppendText(path, Escaping::kBackslash, &quoted);
    CAVALRY_RETURN_IF_ERROR(
        loader.Execute(fmt::format("LOAD DATA INFILE {} INTO TABLE fill_bench", quoted)));
    const Nanos load = MonotonicNow() - begin;
    const auto rate = [rows](Nanos took) {
      return static_cast<double>(rows) * static_cast<double>(kSecond) / static_cast<double>(took);
    };
    fmt::print("fill {:.0f} rows/s, LOAD DATA {:.0f} rows/s, ratio {:.2f}\n", rate(fill),
               rate(load), rate(fill) / rate(load));
  }
  std::remove(path.c_str());
  return admin->Drop(table);
}

}  // namespace
}  // namespace cavalry::drivers::mysql

int main(int argc, char** argv) {
  const std::uint64_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200'000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  const cavalry::Status status = cavalry::drivers::mysql::Measure(rows, rounds);
  if (status.ok()) return 0;
  std::fprintf(stderr, "mysql_fill_bench: %s\n", cavalry::StatusText(status).c_str());
  return 1;
}
