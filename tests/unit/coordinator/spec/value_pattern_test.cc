#include "coordinator/spec/value_pattern.h"

#include <gtest/gtest.h>

namespace cavalry::spec {
namespace {

const PatternNames kNames{"id", 6, {{"nation", 24}, {"big", ~std::uint64_t{0}}}};

std::size_t Length(std::string_view pattern) {
  const StatusOr<PatternLength> length = LongestResult(pattern, kNames);
  EXPECT_TRUE(length.ok()) << StatusText(length.status());
  return length.ok() ? length->characters : 0;
}

std::string Error(std::string_view pattern) {
  return StatusText(LongestResult(pattern, kNames).status());
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
  EXPECT_EQ(Length("{key}"), 6u);
  EXPECT_EQ(Length("{key:09}"), 9u);
  EXPECT_EQ(Length("{digits:4}"), 4u);
  EXPECT_EQ(Length("{nation}"), 2u);
  EXPECT_EQ(Length("{nation+100}"), 3u);
  EXPECT_EQ(Length("{nation+10:05}"), 5u);
}

TEST(ValuePattern, CountsCharactersAndBytes) {
  const StatusOr<PatternLength> length = LongestResult("größe", kNames);
  EXPECT_EQ(length->characters, 5u);
  EXPECT_EQ(length->bytes, 7u);
}

TEST(ValuePattern, NamesWhatIsWrong) {
  EXPECT_EQ(Error("{idd}"), "unknown placeholder '{idd}'; did you mean '{id}'?");
  EXPECT_EQ(Error("{}"), "unknown placeholder '{}'; known: key, id, version, digits, nation, big");
  EXPECT_EQ(Error("{natoin+1}"), "unknown placeholder '{natoin+1}'; did you mean '{nation}'?");
  EXPECT_EQ(Error("{big+1}"), "'{big+1}' can become too large");
  EXPECT_EQ(Error("{digits}"),
            "'{digits}': how many digits stands after the colon, as in {digits:4}");
  EXPECT_EQ(Error("{id"), "a '{' without '}'; a brace itself is written {{");
  EXPECT_EQ(Error("id}"), "a '}' without '{'; a brace itself is written }}");
  EXPECT_EQ(Error("{id:9}"),
            "'{id:9}': after the colon stands a width with a leading 0, as in {id:09}");
  EXPECT_EQ(Error("{id:}"),
            "'{id:}': after the colon stands a width with a leading 0, as in {id:09}");
  EXPECT_EQ(Error("{id:0999}"),
            "'{id:0999}': after the colon stands a width with a leading 0, as in {id:09}");
}

TEST(ValuePattern, FindsTheKey) {
  EXPECT_TRUE(IsKeyAlone("{key}", kNames));
  EXPECT_TRUE(IsKeyAlone("{id}", kNames));
  EXPECT_FALSE(IsKeyAlone("{version}", kNames));
  EXPECT_FALSE(IsKeyAlone("{key}0", kNames));
  EXPECT_TRUE(HoldsKey("a{nation}b{key:09}", kNames));
  EXPECT_FALSE(HoldsKey("{{key}}{nation+1}", kNames));
  EXPECT_FALSE(HoldsKey("{id}", PatternNames{}));
  EXPECT_FALSE(HoldsKey("{", kNames));
}

}  // namespace
}  // namespace cavalry::spec
