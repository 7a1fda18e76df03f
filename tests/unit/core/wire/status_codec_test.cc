#include "core/wire/status_codec.h"

#include <string>

#include <gtest/gtest.h>

#include "core/wire/utf8.h"

namespace cavalry::wire {
namespace {

TEST(StatusCodecTest, EveryCodeTravels) {
  for (int code = 0; code <= 16; ++code) {
    const Status status =
        code == 0 ? absl::OkStatus() : MakeStatus(static_cast<absl::StatusCode>(code), "text");
    v1::Status message;
    ToMessage(status, &message);
    EXPECT_EQ(message.code(), code);
    EXPECT_EQ(FromMessage(message), status);
  }
}

TEST(StatusCodecTest, UnknownCodesAreUnknownErrors) {
  for (const int code : {-1, 17, 1'000'000}) {
    v1::Status message;
    message.set_code(code);
    message.set_text("odd");
    EXPECT_EQ(FromMessage(message).code(), absl::StatusCode::kUnknown);
    EXPECT_EQ(StatusText(FromMessage(message)), "odd");
  }
}

TEST(StatusCodecTest, LongTextsAreCut) {
  v1::Status message;
  message.set_code(2);
  message.set_text(std::string(1'000'000, 'x'));
  EXPECT_EQ(StatusText(FromMessage(message)).size(), 8'192u);
}

// Otherwise the whole message that holds it would be unreadable.
TEST(StatusCodecTest, AServersBytesBecomeValidUtf8) {
  v1::Status message;
  ToMessage(InvalidArgument("Duplicate entry '\xff\xfe'"), &message);
  EXPECT_EQ(message.text(), "Duplicate entry '\?\?'");
  v1::Status parsed;
  EXPECT_TRUE(parsed.ParseFromString(message.SerializeAsString()));
}

TEST(OutcomeFromNameTest, KnowsTheNineNames) {
  for (std::size_t i = 0; i < kOutcomeCount; ++i) {
    Outcome outcome = Outcome::kOk;
    EXPECT_TRUE(OutcomeFromName(OutcomeName(static_cast<Outcome>(i)), &outcome));
    EXPECT_EQ(outcome, static_cast<Outcome>(i));
  }
  Outcome outcome = Outcome::kMiss;
  EXPECT_FALSE(OutcomeFromName("OK", &outcome));
  EXPECT_FALSE(OutcomeFromName("", &outcome));
  EXPECT_EQ(outcome, Outcome::kMiss);
}

TEST(Utf8Test, KeepsValidTexts) {
  for (const std::string text : {"", "plain", "gr\u00fc\u00df", "\u20ac", "\U0001f40e", "\uffff"}) {
    EXPECT_EQ(ValidUtf8(text, 100), text);
  }
  EXPECT_EQ(ValidUtf8(std::string("a\0b", 3), 100), std::string("a\0b", 3));
}

TEST(Utf8Test, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(ValidUtf8("a\x80z", 100), "a?z");
  EXPECT_EQ(ValidUtf8("\xc3", 100), "?");
  EXPECT_EQ(ValidUtf8("\xc0\xaf", 100), "\?\?");              // overlong
  EXPECT_EQ(ValidUtf8("\xe0\x80\x80", 100), "\?\?\?");        // overlong
  EXPECT_EQ(ValidUtf8("\xed\xa0\x80", 100), "\?\?\?");        // surrogate
  EXPECT_EQ(ValidUtf8("\xf4\x90\x80\x80", 100), "\?\?\?\?");  // above U+10FFFF
  EXPECT_EQ(ValidUtf8("\xe2\x82z", 100), "\?\?z");
}

TEST(Utf8Test, CutsBetweenCharacters) {
  EXPECT_EQ(ValidUtf8("ab\u20ac", 4), "ab");
  EXPECT_EQ(ValidUtf8("ab\u20ac", 5), "ab\u20ac");
  EXPECT_EQ(ValidUtf8("abc", 0), "");
}

}  // namespace
}  // namespace cavalry::wire
