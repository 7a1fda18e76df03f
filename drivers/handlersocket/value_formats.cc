#include "drivers/handlersocket/value_formats.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace cavalry::drivers::handlersocket {
namespace {

constexpr std::size_t kDateBytes = 10;      // YYYY-MM-DD
constexpr std::size_t kDatetimeBytes = 19;  // YYYY-MM-DD HH:MM:SS
constexpr std::size_t kClockBytes = 6;      // :MM:SS
constexpr int kMaxTimeHours = 838;          // of a time column; its minutes and seconds are then 59
constexpr int kMaxJsonDepth = 32;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number in `text`'s digits, or -1 when one is not a digit.
int TwoDigits(std::string_view text, std::size_t at) {
  if (!IsDigit(text[at]) || !IsDigit(text[at + 1])) return -1;
  return (text[at] - '0') * 10 + (text[at + 1] - '0');
}

// ":MM:SS". REQUIRES: kClockBytes bytes.
bool IsMinutesAndSeconds(std::string_view text) {
  const int minute = TwoDigits(text, 1);
  const int second = TwoDigits(text, 4);
  return text[0] == ':' && text[3] == ':' && minute >= 0 && minute < 60 && second >= 0 &&
         second < 60;
}

// Removes the digits at the start of `text`; their number.
std::size_t TakeDigits(std::string_view& text) {
  std::size_t digits = 0;
  while (digits < text.size() && IsDigit(text[digits])) ++digits;
  text.remove_prefix(digits);
  return digits;
}

// A reader of JSON that builds nothing.
class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : at_(text) {}

  bool ReadAll() {
    if (!ReadValue(0)) return false;
    SkipSpace();
    return at_.empty();
  }

 private:
  bool Take(char c) {
    if (at_.empty() || at_.front() != c) return false;
    at_.remove_prefix(1);
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (at_.substr(0, word.size()) != word) return false;
    at_.remove_prefix(word.size());
    return true;
  }

  void SkipSpace() {
    while (Take(' ') || Take('\t') || Take('\n') || Take('\r')) {
    }
  }

  bool ReadValue(int depth) {
    SkipSpace();
    if (at_.empty()) return false;
    switch (at_.front()) {
      case '{':
        return depth < kMaxJsonDepth && ReadList('{', '}', depth);
      case '[':
        return depth < kMaxJsonDepth && ReadList('[', ']', depth);
      case '"':
        return ReadText();
      case 't':
        return TakeWord("true");
      case 'f':
        return TakeWord("false");
      case 'n':
        return TakeWord("null");
      default:
        return ReadNumber();
    }
  }

  // The members of an object or the elements of an array.
  bool ReadList(char open, char close, int depth) {
    Take(open);
    SkipSpace();
    if (Take(close)) return true;
    do {
      if (open == '{') {
        SkipSpace();
        if (!ReadText()) return false;
        SkipSpace();
        if (!Take(':')) return false;
      }
      if (!ReadValue(depth + 1)) return false;
      SkipSpace();
    } while (Take(','));
    return Take(close);
  }

  bool ReadText() {
    if (!Take('"')) return false;
    while (!at_.empty()) {
      const auto byte = static_cast<unsigned char>(at_.front());
      at_.remove_prefix(1);
      if (byte == '"') return true;
      if (byte < 0x20) return false;
      if (byte == '\\' && !ReadEscape()) return false;
    }
    return false;
  }

  bool ReadEscape() {
    if (at_.empty()) return false;
    const char c = at_.front();
    at_.remove_prefix(1);
    if (c != 'u') return std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos;
    constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";
    constexpr std::size_t kUnitDigits = 4;
    if (at_.size() < kUnitDigits ||
        at_.substr(0, kUnitDigits).find_first_not_of(kHexDigits) != std::string_view::npos) {
      return false;
    }
    at_.remove_prefix(kUnitDigits);
    return true;
  }

  bool ReadNumber() {
    Take('-');
    const bool zero = !at_.empty() && at_.front() == '0';
    const std::size_t whole = TakeDigits(at_);
    if (whole == 0 || (zero && whole > 1)) return false;
    if (Take('.') && TakeDigits(at_) == 0) return false;
    if (!Take('e') && !Take('E')) return true;
    if (!Take('+')) Take('-');
    return TakeDigits(at_) != 0;
  }

  std::string_view at_;
};

}  // namespace

bool IsDate(std::string_view text) {
  if (text.size() != kDateBytes) return false;
  const int century = TwoDigits(text, 0);
  const int year_of_century = TwoDigits(text, 2);
  const int month = TwoDigits(text, 5);
  const int day = TwoDigits(text, 8);
  if (century < 0 || year_of_century < 0 || text[4] != '-' || text[7] != '-') return false;
  if (month < 1 || month > 12 || day < 1) return false;
  const int year = century * 100 + year_of_century;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  const bool short_month = month == 4 || month == 6 || month == 9 || month == 11;
  const int days = month == 2 ? (leap ? 29 : 28) : (short_month ? 30 : 31);
  return day <= days;
}

bool IsTime(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  if (text.size() != 2 + kClockBytes && text.size() != 3 + kClockBytes) return false;
  int hours = 0;
  for (const char c : text.substr(0, text.size() - kClockBytes)) {
    if (!IsDigit(c)) return false;
    hours = hours * 10 + (c - '0');
  }
  return hours <= kMaxTimeHours && IsMinutesAndSeconds(text.substr(text.size() - kClockBytes));
}

bool IsDatetime(std::string_view text) {
  if (text.size() != kDatetimeBytes || !IsDate(text.substr(0, kDateBytes)) || text[10] != ' ') {
    return false;
  }
  const int hour = TwoDigits(text, 11);
  return hour >= 0 && hour < 24 && IsMinutesAndSeconds(text.substr(13));
}

bool IsTimestamp(std::string_view text) {
  if (!IsDatetime(text)) return false;
  const std::string_view day = text.substr(0, kDateBytes);
  return day >= "1970-01-02" && day <= "2038-01-17";
}

bool IsYear(std::string_view text) {
  if (text.size() != 4 || text.find_first_not_of("0123456789") != std::string_view::npos) {
    return false;
  }
  return text == "0000" || (text >= "1901" && text <= "2155");
}

std::optional<WholeNumber> ParseWholeNumber(std::string_view text) {
  WholeNumber number;
  number.negative = !text.empty() && text.front() == '-';
  if (number.negative) text.remove_prefix(1);
  if (text.empty() || !IsDigit(text.front())) return std::nullopt;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number.magnitude);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<DecimalDigits> CountDecimalDigits(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  DecimalDigits digits;
  std::size_t zeros = 0;
  while (zeros < text.size() && text[zeros] == '0') ++zeros;
  text.remove_prefix(zeros);
  digits.whole = TakeDigits(text);
  if (zeros + digits.whole == 0) return std::nullopt;
  if (text.empty()) return digits;
  if (text.front() != '.') return std::nullopt;
  text.remove_prefix(1);
  digits.fraction = TakeDigits(text);
  if (digits.fraction == 0 || !text.empty()) return std::nullopt;
  return digits;
}

FloatText CheckFloatText(std::string_view text, bool is_double) {
  const std::string_view unsigned_text = text.substr(!text.empty() && text.front() == '-' ? 1 : 0);
  // from_chars also reads "inf" and "nan", and a point without digits before it.
  if (unsigned_text.empty() || !IsDigit(unsigned_text.front()) || unsigned_text.back() == '.') {
    return FloatText::kMalformed;
  }
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (stop != end || error == std::errc::invalid_argument) return FloatText::kMalformed;
  // Too large or too small for a double.
  if (error == std::errc::result_out_of_range) return FloatText::kTooLarge;
  const bool fits = is_double || std::abs(number) <= std::numeric_limits<float>::max();
  return fits ? FloatText::kFits : FloatText::kTooLarge;
}

bool IsJson(std::string_view text) { return JsonReader(text).ReadAll(); }

}  // namespace cavalry::drivers::handlersocket
