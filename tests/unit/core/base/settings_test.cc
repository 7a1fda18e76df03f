#include "core/base/settings.h"

#include <gtest/gtest.h>

namespace cavalry {
namespace {

TEST(SettingsTest, GivesValuesOrFallbacks) {
  Settings settings;
  settings.Add({"host", "db1"});
  settings.Add({"port", "3306"});
  settings.Add({"empty", ""});
  EXPECT_TRUE(settings.Has("host"));
  EXPECT_FALSE(settings.Has("hos"));
  EXPECT_EQ(settings.Text("host", "127.0.0.1"), "db1");
  EXPECT_EQ(settings.Text("user", "root"), "root");
  EXPECT_EQ(settings.Text("empty", "fallback"), "");
  EXPECT_EQ(settings.Number("port", 1), 3306u);
  EXPECT_EQ(settings.Number("write_port", 9999), 9999u);
  EXPECT_EQ(settings.all().size(), 3u);
}

TEST(SettingsDeathTest, NumberOfATextIsAMistakeOfTheProgram) {
  Settings settings;
  settings.Add({"port", "33x"});
  EXPECT_DEATH(settings.Number("port", 1), "check failed");
}

}  // namespace
}  // namespace cavalry
