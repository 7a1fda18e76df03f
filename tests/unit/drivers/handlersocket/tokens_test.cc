#include "drivers/handlersocket/tokens.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace cavalry::drivers::handlersocket {
namespace {

using std::string_literals::operator""s;

std::string Escaped(std::string_view value) {
  ByteBuffer out;
  EXPECT_TRUE(AppendToken(value, out));
  return std::string(out.view());
}

std::string Unescaped(std::string_view token) {
  std::string value(token.size(), '?');
  value.resize(Unescape(token, value.data()));
  return value;
}

std::string AllBytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  return bytes;
}

// The tokens of a line as texts, "NULL" for NULL, "malformed" as the last one when it is.
std::vector<std::string> Read(std::string_view line) {
  // Exactly these bytes, so that a sanitizer sees a read beyond them.
  const std::vector<char> copy(line.begin(), line.end());
  TokenReader reader({copy.data(), copy.size()});
  std::vector<std::string> tokens;
  Token token;
  while (true) {
    switch (reader.Next(token)) {
      case TokenReader::Result::kEnd:
        return tokens;
      case TokenReader::Result::kMalformed:
        tokens.push_back("malformed");
        return tokens;
      case TokenReader::Result::kToken:
        tokens.push_back(token.is_null
                             ? "NULL"
                             : (token.escaped ? Unescaped(token.text) : std::string(token.text)));
    }
  }
}

using Tokens = std::vector<std::string>;

TEST(Tokens, EscapesBytesBelow0x10AsTheProtocolSays) {
  EXPECT_EQ(Escaped(""), "");
  EXPECT_EQ(Escaped("\n"), "\x01\x4a");
  EXPECT_EQ(Escaped("\t"), "\x01\x49");
  EXPECT_EQ(Escaped("\0"s), "\x01\x40");
  EXPECT_EQ(Escaped("\x01"), "\x01\x41");
  EXPECT_EQ(Escaped("\x0f"), "\x01\x4f");
  EXPECT_EQ(Escaped("\x10\xff"), "\x10\xff");
  EXPECT_EQ(Escaped("plain text"), "plain text");
}

TEST(Tokens, EveryByteRoundTripsAloneAndWithNeighbours) {
  EXPECT_EQ(Unescaped(Escaped(AllBytes())), AllBytes());
  for (int byte = 0; byte < 256; ++byte) {
    for (const std::size_t before : {0, 1, 6, 7, 8, 20}) {
      const std::string value = std::string(before, 'x') + static_cast<char>(byte) + "y";
      EXPECT_EQ(Unescaped(Escaped(value)), value);
      EXPECT_EQ(Read(Escaped(value)), Tokens{value});
    }
  }
}

TEST(Tokens, FindsTheKindsOfBytesAtEveryPlace) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string plain(size, '\x10');
    EXPECT_FALSE(FindByteKinds(plain).needs_escape);
    EXPECT_FALSE(FindByteKinds(plain).non_ascii);
    for (std::size_t at = 0; at < size; ++at) {
      std::string low = plain;
      low[at] = '\x0f';
      EXPECT_TRUE(FindByteKinds(low).needs_escape);
      EXPECT_FALSE(FindByteKinds(low).non_ascii);
      std::string high = plain;
      high[at] = '\x80';
      EXPECT_FALSE(FindByteKinds(high).needs_escape);
      EXPECT_TRUE(FindByteKinds(high).non_ascii);
    }
  }
}

TEST(TokenReader, TellsNullFromEmpty) {
  EXPECT_EQ(Read(""), Tokens{""});
  EXPECT_EQ(Read("\t"), (Tokens{"", ""}));
  EXPECT_EQ(Read("\0"s), Tokens{"NULL"});
  EXPECT_EQ(Read("\0\t\t\0"s), (Tokens{"NULL", "", "NULL"}));
  EXPECT_EQ(Read("a\t\0\tb\t"s), (Tokens{"a", "NULL", "b", ""}));
}

TEST(TokenReader, SplitsTokensOfAnyLength) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string token(size, 'x');
    EXPECT_EQ(Read(token), Tokens{token});
    EXPECT_EQ(Read(token + "\t" + token), (Tokens{token, token}));
    EXPECT_EQ(Read("\t" + token + "\t"), (Tokens{"", token, ""}));
  }
}

TEST(TokenReader, RefusesWhatTheProtocolDoesNotAllow) {
  EXPECT_EQ(Read("\x01"), Tokens{"malformed"});
  EXPECT_EQ(Read("\x01?"), Tokens{"malformed"});
  EXPECT_EQ(Read("\x01\x01"), Tokens{"malformed"});
  EXPECT_EQ(Read("a\t\x01\tb"), (Tokens{"a", "malformed"}));
  EXPECT_EQ(Read("1234567\x01"), Tokens{"malformed"});
  EXPECT_EQ(Read("\0\0"s), Tokens{"malformed"});
  EXPECT_EQ(Read("a\0"s), Tokens{"malformed"});
  EXPECT_EQ(Read("\0a"s), Tokens{"malformed"});
  EXPECT_EQ(Read("\x02"), Tokens{"malformed"});
  EXPECT_EQ(Read("a\rb"), Tokens{"malformed"});
  EXPECT_EQ(Read("\x0f"), Tokens{"malformed"});
}

TEST(TokenReader, AnEscapeMayCrossAWord) {
  for (std::size_t before = 0; before < 20; ++before) {
    const std::string value = std::string(before, 'x') + "\n" + "tail";
    EXPECT_EQ(Read(Escaped(value) + "\tz"), (Tokens{value, "z"}));
  }
}

// A plain loop over the same grammar, to hold the word-wise reader against.
Tokens ReadSlowly(std::string_view line) {
  Tokens tokens;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    const std::string_view token = line.substr(begin, end - begin);
    std::string value;
    bool good = true;
    for (std::size_t i = 0; i < token.size() && good; ++i) {
      const auto byte = static_cast<unsigned char>(token[i]);
      if (byte >= 0x10) {
        value += token[i];
      } else if (byte == 1 && i + 1 < token.size() &&
                 static_cast<unsigned char>(token[i + 1]) >= 0x40) {
        value += static_cast<char>(static_cast<unsigned char>(token[++i]) - 0x40);
      } else {
        good = byte == 0 && token.size() == 1;
        value = "NULL";
      }
    }
    tokens.push_back(good ? value : "malformed");
    if (!good || end == line.size()) return tokens;
    begin = end + 1;
  }
}

TEST(TokenReader, AgreesWithAPlainLoopOnRandomLines) {
  constexpr std::string_view kBytes(
      "\0\0\t\t\t\x01\x01\x01@JO?\x02\x10\x80\xff"
      "abcdefgh",
      24);
  for (std::uint64_t number = 0; number < 20'000; ++number) {
    RandomStream random(7, 1, number);
    std::string line;
    const std::uint64_t size = random.Below(40);
    // Mostly plain bytes, so that lines get beyond their first token.
    for (std::uint64_t i = 0; i < size; ++i) {
      line += random.Below(3) == 0 ? kBytes[random.Below(kBytes.size())] : 'p';
    }
    ASSERT_EQ(Read(line), ReadSlowly(line)) << testing::PrintToString(line);
  }
}

}  // namespace
}  // namespace cavalry::drivers::handlersocket
