#include "coordinator/spec/value_pattern.h"

#include <gtest/gtest.h>

namespace cavalry::spec {
namespace {

std::size_t Length(std::string_view pattern) {
  const StatusOr<PatternLength> length = LongestResult(pattern, "id", 6);
  EXPECT_TRUE(length.ok()) << StatusText(length.status());
  return length.ok() ? length->characters : 0;
}

std::string Error(std::string_view pattern) {
  return StatusText(LongestResult(pattern, "id", 6).status());
}

TEST(ValuePattern, CountsTheLongestResult) {
  EXPECT_EQ(Length(""), 0u);
  EXPECT_EQ(Length("abc"), 3u);
  EXPECT_EQ(Length("{id}"), 6u);
  EXPECT_EQ(Length("{id:09}"), 9u);
  EXPECT_EQ(Length("{id:03}"), 6u);
  EXPECT_EQ(Length("{version}"), 10u);
  EXPECT_EQ(Length("{{id}}"), 4u);
  EXPECT_EQ(Length("{{{id}}}"), 8u);
  EXPECT_EQ(Length("a{id}b{id}"), 14u);
}

TEST(ValuePattern, CountsCharactersAndBytes) {
  const StatusOr<PatternLength> length = LongestResult("größe", "id", 6);
  EXPECT_EQ(length->characters, 5u);
  EXPECT_EQ(length->bytes, 7u);
}

TEST(ValuePattern, NamesWhatIsWrong) {
  EXPECT_EQ(Error("{idd}"),
            "unknown placeholder '{idd}'; known: {id} and {version}; did you mean '{id}'?");
  EXPECT_EQ(Error("{}"), "unknown placeholder '{}'; known: {id} and {version}");
  EXPECT_EQ(Error("{id"), "a '{' without '}'; a brace itself is written {{");
  EXPECT_EQ(Error("id}"), "a '}' without '{'; a brace itself is written }}");
  EXPECT_EQ(Error("{id:9}"),
            "'{id:9}': after the colon stands a width with a leading 0, as in {id:09}");
  EXPECT_EQ(Error("{id:}"),
            "'{id:}': after the colon stands a width with a leading 0, as in {id:09}");
  EXPECT_EQ(Error("{id:0999}"),
            "'{id:0999}': after the colon stands a width with a leading 0, as in {id:09}");
}

}  // namespace
}  // namespace cavalry::spec
