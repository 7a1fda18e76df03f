#include "core/base/units.h"

#include <limits>

#include <gtest/gtest.h>

namespace cavalry {
namespace {

constexpr Nanos kMaxNanos = std::numeric_limits<Nanos>::max();

TEST(DurationTest, ParsesEveryUnit) {
  struct Case {
    std::string_view text;
    Nanos value;
  };
  for (const Case& c : {
           Case{"0", 0},
           Case{"0s", 0},
           Case{"250ns", 250},
           Case{"10us", 10 * kMicrosecond},
           Case{"10\u00b5s", 10 * kMicrosecond},
           Case{"250ms", 250 * kMillisecond},
           Case{"60s", 60 * kSecond},
           Case{"2m", 120 * kSecond},
           Case{"1.5h", 5400 * kSecond},
           Case{"1m30s", 90 * kSecond},
           Case{"1h2m3s4ms5us6ns", 3723'004'005'006},
           Case{"0.1s", 100 * kMillisecond},
           Case{"0.000000001s", 1},
           Case{"1.50s", 1500 * kMillisecond},
           Case{"007s", 7 * kSecond},
           Case{"9223372036854775807ns", kMaxNanos},
       }) {
    const StatusOr<Nanos> parsed = ParseDuration(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << StatusText(parsed.status());
    EXPECT_EQ(*parsed, c.value) << c.text;
  }
}

TEST(DurationTest, RefusesOthersWithAReason) {
  struct Case {
    std::string_view text, reason;
  };
  for (const Case& c : {
           Case{"", "empty"},
           Case{"60", "lacks a unit; write 60s"},
           Case{"1m30", "lacks a unit"},
           Case{"00", "lacks a unit"},
           Case{"60 s", "unknown unit \" s\""},
           Case{"5sec", "unknown unit \"sec\""},
           Case{"5S", "unknown unit"},
           Case{"1d", "unknown unit"},
           Case{"-5s", "not a duration"},
           Case{"+5s", "not a duration"},
           Case{"s", "not a duration"},
           Case{".5s", "not a duration"},
           Case{"5.s", "not a duration"},
           Case{"1.2.3s", "not a duration"},
           Case{"1e3s", "unknown unit"},
           Case{"nan", "not a duration"},
           Case{"0.5ns", "finer than 1ns"},
           Case{"0.0000000001s", "finer than 1ns"},
           Case{"9223372036854775808ns", "too long"},
           Case{"9999999h", "too long"},
           Case{"2562047h2562047m", "too long"},
           Case{"99999999999999999999s", "not a duration"},
           Case{"30s1m", "larger to smaller"},
           Case{"1s1s", "larger to smaller"},
       }) {
    const StatusOr<Nanos> parsed = ParseDuration(c.text);
    ASSERT_FALSE(parsed.ok()) << c.text;
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(StatusText(parsed.status()).find(c.reason), std::string::npos)
        << StatusText(parsed.status());
  }
}

TEST(DurationTest, FormatsShortestExactForm) {
  struct Case {
    Nanos value;
    std::string_view text;
  };
  for (const Case& c : {
           Case{0, "0s"},
           Case{60 * kSecond, "60s"},
           Case{250 * kMillisecond, "250ms"},
           Case{1'500, "1.5us"},
           Case{17 * 60 * kSecond, "17m"},
           Case{90 * kSecond, "90s"},
           Case{120 * kSecond, "2m"},
           Case{3600 * kSecond, "1h"},
           Case{5400 * kSecond, "90m"},
           Case{999, "999ns"},
           Case{1'000, "1us"},
           Case{1'050'000'000, "1.05s"},
           Case{-1'500, "-1.5us"},
           Case{1'234'567, "1234567ns"},
           Case{kMaxNanos, "9223372036.854775807s"},
           Case{-kMaxNanos - 1, "-9223372036.854775808s"},
       }) {
    EXPECT_EQ(FormatDuration(c.value), c.text);
  }
}

TEST(DurationTest, FormatIsReadBackExactly) {
  for (Nanos value = 1; value < kMaxNanos / 7; value = value * 7 + value % 5) {
    const StatusOr<Nanos> parsed = ParseDuration(FormatDuration(value));
    ASSERT_TRUE(parsed.ok()) << FormatDuration(value);
    EXPECT_EQ(*parsed, value);
  }
}

TEST(DurationTest, FormatsWords) {
  struct Case {
    Nanos value;
    std::string_view text;
  };
  for (const Case& c : {
           Case{0, "0 s"},
           Case{999, "999 ns"},
           Case{1'500, "2 us"},
           Case{999'600, "1 ms"},
           Case{350 * kMillisecond, "350 ms"},
           Case{999'700 * kMicrosecond, "1 s"},
           Case{1'540 * kMillisecond, "1.5 s"},
           Case{2 * kSecond, "2 s"},
           Case{80 * kSecond, "80 s"},
           Case{119'600 * kMillisecond, "2 min"},
           Case{1'051 * kSecond, "17 min 31 s"},
           Case{3'600 * kSecond, "1 h"},
           Case{11'100 * kSecond, "3 h 5 min"},
           Case{-80 * kSecond, "-80 s"},
       }) {
    EXPECT_EQ(FormatDurationWords(c.value), c.text) << c.value;
  }
  EXPECT_FALSE(FormatDurationWords(kMaxNanos).empty());
  EXPECT_FALSE(FormatDurationWords(-kMaxNanos - 1).empty());
}

TEST(BytesTest, ParsesEveryUnit) {
  struct Case {
    std::string_view text;
    std::uint64_t value;
  };
  for (const Case& c : {
           Case{"0", 0},
           Case{"512", 512},
           Case{"5B", 5},
           Case{"10kB", 10'000},
           Case{"64KiB", 65'536},
           Case{"1MiB", 1'048'576},
           Case{"1.5MiB", 1'572'864},
           Case{"2GB", 2'000'000'000},
           Case{"1TiB", 1ULL << 40},
       }) {
    const StatusOr<std::uint64_t> parsed = ParseBytes(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << StatusText(parsed.status());
    EXPECT_EQ(*parsed, c.value) << c.text;
  }
}

TEST(BytesTest, RefusesOthers) {
  // "64K" could mean 64,000 or 65,536: it is refused.
  for (const std::string_view text :
       {"", "B", "64K", "64k", "64kb", "64KB", "1 MiB", "-1", "0.5B", "1.0001kB1", "99999999TiB",
        "18446744073709551615", "1e6", "0x10"}) {
    const StatusOr<std::uint64_t> parsed = ParseBytes(text);
    EXPECT_FALSE(parsed.ok()) << text;
  }
  EXPECT_NE(StatusText(ParseBytes("64K").status()).find("KiB"), std::string::npos);
}

TEST(CountTest, ParsesEveryForm) {
  struct Case {
    std::string_view text;
    std::uint64_t value;
  };
  for (const Case& c : {
           Case{"0", 0},
           Case{"150000", 150'000},
           Case{"150_000", 150'000},
           Case{"1_000_000", 1'000'000},
           Case{"20k", 20'000},
           Case{"1.5M", 1'500'000},
           Case{"2G", 2'000'000'000},
           Case{"0.001k", 1},
           Case{"3.0", 3},
           Case{"9999999999999999999", 9'999'999'999'999'999'999ULL},
       }) {
    const StatusOr<std::uint64_t> parsed = ParseCount(c.text);
    ASSERT_TRUE(parsed.ok()) << c.text << ": " << StatusText(parsed.status());
    EXPECT_EQ(*parsed, c.value) << c.text;
  }
}

TEST(CountTest, RefusesOthers) {
  for (const std::string_view text :
       {"", "_1", "1_", "1__0", "1_k", "1.5", "1.0005k", "20K", "20m", "20k/s", "-1", "+1", " 1",
        "1 ", "ten", "1e3", "18446744073709551616", "99999999999G", "1,000"}) {
    EXPECT_FALSE(ParseCount(text).ok()) << text;
  }
}

TEST(ShareTest, ParsesPercentAndFraction) {
  EXPECT_DOUBLE_EQ(*ParseShare("0.1%"), 0.001);
  EXPECT_DOUBLE_EQ(*ParseShare("0.5"), 0.5);
  EXPECT_DOUBLE_EQ(*ParseShare("100%"), 1);
  EXPECT_DOUBLE_EQ(*ParseShare("0"), 0);
  EXPECT_DOUBLE_EQ(*ParseShare("1"), 1);
  for (const std::string_view text :
       {"", "%", "101%", "-1%", "-0.5", "5", "1.01", "0.1%%", "0.1 %", "x%", "nan", "inf%"}) {
    EXPECT_FALSE(ParseShare(text).ok()) << text;
  }
  EXPECT_NE(StatusText(ParseShare("5").status()).find("is a % missing?"), std::string::npos);
}

TEST(NumberTest, TakesTheWholeTextAndOnlyFiniteOnes) {
  EXPECT_DOUBLE_EQ(*ParseNumber("0.99"), 0.99);
  EXPECT_DOUBLE_EQ(*ParseNumber("-3"), -3);
  EXPECT_DOUBLE_EQ(*ParseNumber("1e3"), 1000);
  for (const std::string_view text :
       {"", " 1", "1 ", "1,5", "0x10", "nan", "inf", "-inf", "1e999", "--1", "one"}) {
    EXPECT_FALSE(ParseNumber(text).ok()) << text;
  }
}

TEST(FormatTest, CountsHaveSeparators) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1'000), "1,000");
  EXPECT_EQ(FormatCount(1'234'567), "1,234,567");
  EXPECT_EQ(FormatCount(~0ULL), "18,446,744,073,709,551,615");
}

TEST(FormatTest, FiguresHaveThreeDigitsOrAreWhole) {
  EXPECT_EQ(FormatFigure(8475.2), "8,475");
  EXPECT_EQ(FormatFigure(412.4), "412");
  EXPECT_EQ(FormatFigure(64.31), "64.3");
  EXPECT_EQ(FormatFigure(2), "2.00");
  EXPECT_EQ(FormatFigure(0.4119), "0.412");
  EXPECT_EQ(FormatFigure(0.5), "0.500");
  EXPECT_EQ(FormatFigure(0), "0");
  EXPECT_EQ(FormatFigure(-64.31), "-64.3");
  EXPECT_EQ(FormatFigure(1e20), "1e+20");
  EXPECT_EQ(FormatFigure(std::numeric_limits<double>::quiet_NaN()), "n/a");
}

TEST(FormatTest, RoundingMovesFiguresToTheNextForm) {
  EXPECT_EQ(FormatFigure(0.9996), "1.00");
  EXPECT_EQ(FormatFigure(9.996), "10.0");
  EXPECT_EQ(FormatFigure(99.96), "100");
  EXPECT_EQ(FormatFigure(999.6), "1,000");
}

TEST(NearestNameTest, SuggestsSlips) {
  const std::vector<std::string> names = {"sessions", "warmup", "stop_after",
                                          "host",     "port",   "rate"};
  EXPECT_EQ(NearestName("sesions", names), "sessions");
  EXPECT_EQ(NearestName("session", names), "sessions");
  EXPECT_EQ(NearestName("Sessions", names), "sessions");
  EXPECT_EQ(NearestName("stop-after", names), "stop_after");
  EXPECT_EQ(NearestName("hots", names), "host");
  EXPECT_EQ(NearestName("wramup", names), "warmup");
}

TEST(NearestNameTest, SuggestsNothingFarAway) {
  const std::vector<std::string> names = {"sessions", "host", "a"};
  EXPECT_EQ(NearestName("duration", names), "");
  EXPECT_EQ(NearestName("", names), "");
  EXPECT_EQ(NearestName("b", names), "");
  EXPECT_EQ(NearestName("host", {}), "");
  EXPECT_EQ(NearestName(std::string(100'000, 'x'), names), "");
}

TEST(NearestNameTest, TakesTheFirstOfEquals) {
  EXPECT_EQ(NearestName("mod", {"mode", "node", "mods"}), "mode");
}

}  // namespace
}  // namespace cavalry
