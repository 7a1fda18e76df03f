#include "tests/contract/drivers/back_end.h"

namespace cavalry::driver_contract {
namespace {

Settings Text() {
  Settings settings;
  settings.Add({"host", Environment("CAVALRY_MARIADB_HOST")});
  settings.Add({"port", Environment("CAVALRY_MARIADB_PORT")});
  settings.Add({"user", Environment("CAVALRY_MARIADB_USER")});
  settings.Add({"password", Environment("CAVALRY_MARIADB_PASSWORD"), true});
  settings.Add({"database", Environment("CAVALRY_MARIADB_DATABASE")});
  return settings;
}
Settings Prepared() { return With(Text(), "statements", "prepared"); }
Settings Blocking() { return With(Text(), "client", "blocking"); }

}  // namespace

std::vector<BackEnd> MysqlBackEnds() {
  BackEnd text;
  text.name = "mysql_text";
  text.kind = "mysql";
  text.can.native = true;
  text.can.transactions = true;
  text.can.server_values = true;
  text.needs = {"CAVALRY_MARIADB_HOST", "CAVALRY_MARIADB_PORT", "CAVALRY_MARIADB_USER",
                "CAVALRY_MARIADB_PASSWORD", "CAVALRY_MARIADB_DATABASE"};
  text.settings = Text;
  text.native_statement = "SELECT 1";
  BackEnd prepared = text;
  prepared.name = "mysql_prepared";
  prepared.settings = Prepared;
  BackEnd blocking = text;
  blocking.name = "mysql_blocking";
  blocking.settings = Blocking;
  return {text, prepared, blocking};
}

}  // namespace cavalry::driver_contract
