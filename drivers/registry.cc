#include "drivers/registry.h"

#include "drivers/cassandra/cassandra_driver.h"
#include "drivers/handlersocket/handlersocket_driver.h"
#include "drivers/memcached/memcached_driver.h"
#include "drivers/mysql/mysql_driver.h"

namespace cavalry::drivers {

const std::vector<const Driver*>& AllDrivers() {
  static const std::vector<const Driver*> drivers = {
      &mysql::GetDriver(), &handlersocket::GetDriver(), &memcached::GetDriver(),
      &cassandra::GetDriver()};
  return drivers;
}

const Driver* FindDriver(std::string_view kind) {
  for (const Driver* driver : AllDrivers()) {
    if (driver->kind() == kind) return driver;
  }
  return nullptr;
}

}  // namespace cavalry::drivers
