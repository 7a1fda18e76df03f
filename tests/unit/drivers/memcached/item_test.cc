// Keys and values of items.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "drivers/memcached/item_key.h"
#include "drivers/memcached/item_value.h"

namespace cavalry::drivers::memcached {
namespace {

std::string KeyOf(std::string_view key_template, const std::vector<Value>& values) {
  const auto key = ItemKey::Make(key_template, "t");
  if (!key.ok()) return StatusText(key.status());
  ByteBuffer out;
  out.Append("before");
  std::string_view why;
  if (!key->Append(values, out, &why)) {
    EXPECT_EQ(out.view(), "before");
    return "refused: " + std::string(why);
  }
  return std::string(out.view().substr(6));
}

TEST(ItemKey, FillsInTableAndKey) {
  EXPECT_EQ(KeyOf("cavalry:{table}:{key}", {Value::Integer(17)}), "cavalry:t:17");
  EXPECT_EQ(KeyOf("{key}", {Value::Integer(-5)}), "-5");
  EXPECT_EQ(KeyOf("{table}{key}{table}", {Value::Unsigned(UINT64_MAX)}), "t18446744073709551615t");
  EXPECT_EQ(KeyOf("name{key}", {Value::Text("a"), Value::Integer(2)}), "namea:2");
}

TEST(ItemKey, RefusesWhatWouldBeTakenForACommand) {
  for (const char* text : {"a b", "a\n", "a\r\nget b", "\x7f", "\t"}) {
    EXPECT_EQ(KeyOf("k{key}", {Value::Text(text)}),
              "refused: a key of memcached holds no blank and no control character");
  }
  EXPECT_EQ(KeyOf("k{key}", {Value::Text("")}), "refused: a key column is empty");
  EXPECT_EQ(KeyOf("k{key}", {Value::Null()}), "refused: a key column is empty");
  EXPECT_EQ(KeyOf("k{key}", {Value::Text(std::string(249, 'x'))}), "k" + std::string(249, 'x'));
  EXPECT_EQ(KeyOf("k{key}", {Value::Text(std::string(250, 'x'))}),
            "refused: a key of memcached has at most 250 bytes");
  EXPECT_EQ(KeyOf("k{key}", {Value::Text("a:b"), Value::Integer(1)}),
            "refused: a value of several key columns holds ':', their separator");
}

TEST(ItemKey, TemplatesThatMakeNoKeysAreNamed) {
  EXPECT_EQ(KeyOf("all", {}),
            "memcached: key: 'all' has no {key}, so all rows of a table would be one item");
  EXPECT_EQ(KeyOf("{key}{key}", {}), "memcached: key: '{key}{key}' has {key} twice");
  EXPECT_EQ(KeyOf("a {key}", {}),
            "memcached: key: 'a {key}' makes 'a {key}' of table 't': a key of memcached holds no "
            "blank and no control character");
}

TEST(ItemKey, FindsTheMiddleAgain) {
  const auto key = *ItemKey::Make("a{key}b", "t");
  EXPECT_EQ(key.Middle("a17b"), "17");
  EXPECT_EQ(key.Middle("a17c"), "");
  EXPECT_EQ(key.Middle("ab"), "");
  EXPECT_EQ(key.MarkKey(), "a#markb");
}

TEST(ItemValue, PackedColumnsComeBack) {
  std::vector<Value> values = {Value::Null(), Value::Text(""), Value::Integer(-7),
                               Value::Unsigned(UINT64_MAX)};
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  values.push_back(Value::Binary(all));
  const std::string large(70'000, 'x');
  values.push_back(Value::Text(large));
  ByteBuffer out;
  std::size_t size = 0;
  for (const Value& value : values) {
    AppendPacked(value, out);
    size += PackedSize(value);
  }
  EXPECT_EQ(out.size(), size);
  std::string_view bytes = out.view();
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    Field field;
    ASSERT_TRUE(ReadPacked(&bytes, &field));
    EXPECT_EQ(field.is_null, i == 0);
    texts.emplace_back(field.text);
  }
  EXPECT_TRUE(bytes.empty());
  EXPECT_EQ(texts, (std::vector<std::string>{"", "", "-7", "18446744073709551615", all, large}));
}

TEST(ItemValue, MalformedLengthsAreSeen) {
  for (std::string_view bytes :
       {std::string_view("\x05"
                         "abc"),
        std::string_view("\x80"), std::string_view("\xff\xff\xff\xff\xff\x01"),
        std::string_view()}) {
    Field field;
    EXPECT_FALSE(ReadPacked(&bytes, &field));
  }
}

}  // namespace
}  // namespace cavalry::drivers::memcached
