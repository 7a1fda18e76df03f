#include "drivers/handlersocket/value_formats.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace cavalry::drivers::handlersocket {
namespace {

TEST(Time, IsAtMost838Hours) {
  for (const std::string_view good :
       {"00:00:00", "23:59:59", "-00:00:01", "100:00:00", "838:59:59", "-838:59:59"}) {
    EXPECT_TRUE(IsTime(good)) << good;
  }
  for (const std::string_view bad :
       {"", "-", "1:00:00", "839:00:00", "00:60:00", "00:00:60", "00-00:00", "0a:00:00",
        "1000:00:00", "00:00", "00:00:00.1", "--00:00:00", "+00:00:00"}) {
    EXPECT_FALSE(IsTime(bad)) << bad;
  }
}

TEST(Timestamp, FitsInEveryTimeZone) {
  EXPECT_TRUE(IsTimestamp("1970-01-02 00:00:00"));
  EXPECT_TRUE(IsTimestamp("2038-01-17 23:59:59"));
  for (const std::string_view bad :
       {"1970-01-01 23:59:59", "2038-01-18 00:00:00", "1969-12-31 00:00:00", "9999-12-31 00:00:00",
        "2024-02-30 00:00:00", "2024-02-29"}) {
    EXPECT_FALSE(IsTimestamp(bad)) << bad;
  }
}

TEST(Year, HasFourDigits) {
  for (const std::string_view good : {"0000", "1901", "1999", "2155"}) EXPECT_TRUE(IsYear(good));
  for (const std::string_view bad : {"", "0", "00", "1900", "2156", "0001", "20 1", "02000"}) {
    EXPECT_FALSE(IsYear(bad)) << bad;
  }
}

TEST(Float, HasDigitsBeforeThePointAndIsFinite) {
  for (const std::string_view good :
       {"0", "-0", "1.5", "-1.25e3", "1e-5", "1E+5", "3.4028234e38", "0.000001"}) {
    EXPECT_EQ(CheckFloatText(good, false), FloatText::kFits) << good;
  }
  for (const std::string_view bad :
       {"", "-", ".5", "5.", "e5", "1e", "inf", "-inf", "nan", "0x1p3", "1,5", "+1", " 1", "1 "}) {
    EXPECT_EQ(CheckFloatText(bad, true), FloatText::kMalformed) << bad;
  }
  EXPECT_EQ(CheckFloatText("3.5e38", false), FloatText::kTooLarge);
  EXPECT_EQ(CheckFloatText("-3.5e38", false), FloatText::kTooLarge);
  EXPECT_EQ(CheckFloatText("1.8e308", true), FloatText::kTooLarge);
  EXPECT_EQ(CheckFloatText("1.7e308", true), FloatText::kFits);
}

TEST(Json, IsOneValueOfTheGrammar) {
  for (const std::string_view good :
       {"1", "-0.5e-3", "\"\"", "true", "false", "null", "[]", "{}", " [ 1 , 2 ] ",
        "{\"a\":{\"b\":[\"\\u00e4\\n\"]}}", "{\"n\": 1, \"text\": \"ab\"}", "\"\\\"\\\\\\/\""}) {
    EXPECT_TRUE(IsJson(good)) << good;
  }
  for (const std::string_view bad :
       {"",     " ",     "01", "1.",      ".5",       "+1",        "-",           "1e",
        "tru",  "nulll", "\"", "\"\n\"",  "\"\\x\"",  "\"\\u12\"", "\"\\u12g4\"", "[1,]",
        "[,1]", "[1 2]", "[",  "{\"a\"}", "{\"a\":}", "{a:1}",     "{\"a\":1,}",  "{\"a\":1",
        "]",    "1 2",   "[}"}) {
    EXPECT_FALSE(IsJson(bad)) << bad;
  }
}

TEST(Json, IsNestedAsDeepAsTheServerReads) {
  const auto nested = [](std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_TRUE(IsJson(nested(32)));
  EXPECT_FALSE(IsJson(nested(33)));
  EXPECT_FALSE(IsJson(std::string(1'000'000, '[')));
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
