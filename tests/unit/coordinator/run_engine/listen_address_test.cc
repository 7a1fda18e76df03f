#include "coordinator/listen_address.h"

#include <gtest/gtest.h>

namespace cavalry::coordinator {
namespace {

TEST(ListenAddressTest, ReadsHostAndPort) {
  const auto any = ParseListenAddress("0.0.0.0:7400");
  ASSERT_TRUE(any.ok());
  EXPECT_EQ(any->host, "0.0.0.0");
  EXPECT_EQ(any->port, 7400);
  EXPECT_FALSE(any->loopback);
  EXPECT_EQ(ParseListenAddress(":7400")->text(), "0.0.0.0:7400");
  EXPECT_EQ(ParseListenAddress("[::]:1")->text(), "[::]:1");
}

TEST(ListenAddressTest, KnowsLoopback) {
  for (const char* text : {"127.0.0.1:0", "127.9.9.9:1", "[::1]:7400", "localhost:7400"}) {
    EXPECT_TRUE(ParseListenAddress(text)->loopback) << text;
  }
  for (const char* text : {"10.0.0.1:0", "[::]:7400", "localhost.example:7400", "128.0.0.1:1"}) {
    EXPECT_FALSE(ParseListenAddress(text)->loopback) << text;
  }
}

TEST(ListenAddressTest, RefusesWhatIsNoAddress) {
  for (const char* text :
       {"", "7400", "host", "host:", "host:x", "host:70000", "host:-1", "::1:7400", "host:80 "}) {
    EXPECT_FALSE(ParseListenAddress(text).ok()) << text;
  }
}

}  // namespace
}  // namespace cavalry::coordinator
