#include "core/base/log.h"

#include <string>

#include <gtest/gtest.h>

namespace cavalry {
namespace {

TEST(LogTest, WritesLevelNameAndTextToStderr) {
  testing::internal::CaptureStderr();
  SetUpLog("agent-1", "warning");
  spdlog::info("unseen");
  spdlog::warn("lost {}", 3);
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.substr(line.find(' ')), " warning agent-1: lost 3\n");
}

TEST(LogTest, AMistypedLevelDoesNotSilenceErrors) {
  testing::internal::CaptureStderr();
  SetUpLog("agent-1", "wrning");
  spdlog::error("seen");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("error agent-1: seen"), std::string::npos);
}

}  // namespace
}  // namespace cavalry
