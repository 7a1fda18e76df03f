#include "tests/contract/drivers/back_end.h"

namespace cavalry::driver_contract {
namespace {

Settings Target() {
  Settings settings;
  settings.Add({"host", Environment("CAVALRY_MARIADB_HOST")});
  settings.Add({"port", Environment("CAVALRY_HANDLERSOCKET_PORT")});
  settings.Add({"write_port", Environment("CAVALRY_HANDLERSOCKET_WRITE_PORT")});
  settings.Add({"secret", Environment("CAVALRY_HANDLERSOCKET_SECRET"), true});
  settings.Add({"write_secret", Environment("CAVALRY_HANDLERSOCKET_WRITE_SECRET"), true});
  settings.Add({"database", Environment("CAVALRY_MARIADB_DATABASE")});
  return settings;
}

}  // namespace

std::vector<BackEnd> HandlerSocketBackEnds() {
  const BackEnd owner = MysqlBackEnds().front();
  BackEnd back_end;
  back_end.name = "handlersocket";
  back_end.kind = "handlersocket";
  back_end.can.returning = true;
  back_end.needs = owner.needs;
  back_end.needs.insert(back_end.needs.end(),
                        {"CAVALRY_HANDLERSOCKET_PORT", "CAVALRY_HANDLERSOCKET_WRITE_PORT",
                         "CAVALRY_HANDLERSOCKET_SECRET", "CAVALRY_HANDLERSOCKET_WRITE_SECRET"});
  back_end.settings = Target;
  back_end.owner_kind = owner.kind;
  back_end.owner_settings = owner.settings;
  back_end.write_port_option = "write_port";
  return {back_end};
}

}  // namespace cavalry::driver_contract
