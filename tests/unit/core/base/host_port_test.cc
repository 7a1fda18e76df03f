#include "core/base/host_port.h"

#include <tuple>

#include <gtest/gtest.h>

namespace cavalry {
namespace {

TEST(HostPortTest, ReadsNamesAndAddresses) {
  for (const auto& [text, host, port] : {std::tuple{"db1:7400", "db1", 7400},
                                         {"10.0.0.1:1", "10.0.0.1", 1},
                                         {":65535", "", 65535},
                                         {"[::1]:0", "::1", 0}}) {
    const auto address = ParseHostPort(text);
    ASSERT_TRUE(address.ok()) << StatusText(address.status());
    EXPECT_EQ(address->host, host);
    EXPECT_EQ(address->port, port);
    EXPECT_EQ(address->text(), text);
  }
}

TEST(HostPortTest, SaysHowItIsWritten) {
  const auto error = [](const char* text) { return StatusText(ParseHostPort(text).status()); };
  EXPECT_EQ(error("db1"), "'db1' has no port: write HOST:PORT, as db1:7400");
  EXPECT_EQ(error("http://db1:7400"), "'http://db1:7400': write only HOST:PORT, as db1:7400");
  EXPECT_EQ(error("::1:7400"), "'::1:7400': write an IPv6 address in brackets, as [::1]:7400");
  for (const char* text : {"db1:", "db1:x", "db1:70000", "db1:-1", "db1:80 "}) {
    EXPECT_NE(error(text).find("the port is a number from 0 to 65535"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace cavalry
