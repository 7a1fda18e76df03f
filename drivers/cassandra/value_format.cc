#include "drivers/cassandra/value_format.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <system_error>

#include "drivers/cassandra/decimal.h"
#include "drivers/cassandra/wire.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr std::int64_t kEpochDay = std::int64_t{1} << 31;  // of [date]: the days before it, too
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
constexpr std::int64_t kMillisPerSecond = 1'000;

constexpr std::string_view kNoNumber = "is no whole number";
constexpr std::string_view kTooLarge = "is larger than the column's CQL type holds";

// Days since 1970-01-01 of a date of the Gregorian calendar, by counting from March.
std::int64_t DaysOf(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::int64_t y = year - (month <= 2 ? 1 : 0);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t of_era = y - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

struct Date {
  std::int64_t year, month, day;
};

Date DateOf(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (of_era - of_era / 1'460 + of_era / 36'524 - of_era / 146'096) / 365;
  const std::int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t march = (5 * of_year + 2) / 153;
  const std::int64_t month = march < 10 ? march + 3 : march - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          of_year - (153 * march + 2) / 5 + 1};
}

// Reads digits off the front, and the character behind them, if there is to be one.
bool TakeDigits(std::string_view* text, std::int64_t* number, char behind) {
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (failure != std::errc() || text->front() == '-') return false;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  if (behind == '\0') return true;
  if (text->empty() || text->front() != behind) return false;
  text->remove_prefix(1);
  return true;
}

// "2026-01-31"
bool TakeDate(std::string_view* text, std::int64_t* days) {
  std::int64_t year = 0, month = 0, day = 0;
  if (!TakeDigits(text, &year, '-') || !TakeDigits(text, &month, '-') ||
      !TakeDigits(text, &day, '\0') || month < 1 || month > 12 || day < 1 || day > 31 ||
      year > 9999) {
    return false;
  }
  *days = DaysOf(year, month, day);
  return true;
}

// "12:00:00", with up to nine digits behind a point
bool TakeTime(std::string_view* text, std::int64_t* nanos) {
  std::int64_t hours = 0, minutes = 0, seconds = 0;
  if (!TakeDigits(text, &hours, ':') || !TakeDigits(text, &minutes, ':') ||
      !TakeDigits(text, &seconds, '\0') || hours > 23 || minutes > 59 || seconds > 59) {
    return false;
  }
  *nanos = ((hours * 60 + minutes) * 60 + seconds) * kNanosPerSecond;
  if (text->empty() || text->front() != '.') return true;
  text->remove_prefix(1);
  std::int64_t unit = kNanosPerSecond / 10;
  for (; !text->empty() && text->front() >= '0' && text->front() <= '9'; text->remove_prefix(1)) {
    *nanos += (text->front() - '0') * unit;
    unit /= 10;
  }
  return true;
}

bool IsUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || i + size > text.size()) return false;
    std::uint32_t point = lead & (0xffU >> (size + 1));
    for (std::size_t j = 1; j < size; ++j) {
      const auto byte = static_cast<std::uint8_t>(text[i + j]);
      if ((byte & 0xc0) != 0x80) return false;
      point = point << 6 | (byte & 0x3f);
    }
    const bool overlong = (size == 3 && point < 0x800) || (size == 4 && point < 0x10000);
    if (overlong || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return false;
    i += size;
  }
  return true;
}

// The value's digits; `scratch` where it is a number.
std::string_view DigitsOf(const Value& value, char (&scratch)[24]) {
  if (value.kind == Value::Kind::kText || value.kind == Value::Kind::kBinary) return value.text;
  const char* const end = value.kind == Value::Kind::kInteger
                              ? std::to_chars(scratch, scratch + sizeof scratch, value.integer).ptr
                              : std::to_chars(scratch, scratch + sizeof scratch,
                                              static_cast<std::uint64_t>(value.integer))
                                    .ptr;
  return {scratch, static_cast<std::size_t>(end - scratch)};
}

bool AppendInteger(const Value& value, std::size_t bytes, ByteBuffer& out, std::string_view* why) {
  std::int64_t number = value.integer;
  if (value.kind == Value::Kind::kText || value.kind == Value::Kind::kBinary) {
    const std::string_view text = value.text;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || end != text.data() + text.size()) {
      *why = kNoNumber;
      return false;
    }
  } else if (value.kind == Value::Kind::kUnsigned && number < 0) {
    *why = kTooLarge;
    return false;
  }
  const std::int64_t most = bytes == 8 ? INT64_MAX : (std::int64_t{1} << (8 * bytes - 1)) - 1;
  if (number > most || number < -most - 1) {
    *why = kTooLarge;
    return false;
  }
  AppendNumber(bytes, 4, out);
  AppendNumber(static_cast<std::uint64_t>(number), bytes, out);
  return true;
}

// "-12.50" as scale and unscaled number; a varint has neither point nor scale.
bool AppendDecimal(std::string_view text, bool varint, ByteBuffer& out, std::string_view* why) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  char digits[kMaxDecimalDigits];
  std::size_t count = 0;
  std::size_t scale = 0;
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point && !varint) {
      point = true;
    } else if (c >= '0' && c <= '9' && count < kMaxDecimalDigits) {
      digits[count++] = c;
      scale += point ? 1 : 0;
    } else {
      *why = varint ? kNoNumber : "is no decimal number of at most 65 digits";
      return false;
    }
  }
  if (count == 0) {
    *why = kNoNumber;
    return false;
  }
  const std::size_t begin = out.size();
  AppendNumber(0, 4, out);
  if (!varint) AppendNumber(scale, 4, out);
  AppendWhole(negative, {digits, count}, out);
  if (!out.overflowed()) {
    PutNumber(const_cast<char*>(out.view().data()) + begin, out.size() - begin - 4, 4);
  }
  return true;
}

bool AppendFloating(const Value& value, CqlType type, ByteBuffer& out, std::string_view* why) {
  char scratch[24];
  const std::string_view text = DigitsOf(value, scratch);
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size()) {
    *why = "is no number";
    return false;
  }
  if (type == CqlType::kFloat) {
    AppendNumber(4, 4, out);
    AppendNumber(std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4, out);
  } else {
    AppendNumber(8, 4, out);
    AppendNumber(std::bit_cast<std::uint64_t>(number), 8, out);
  }
  return true;
}

bool AppendMoment(std::string_view text, CqlType type, ByteBuffer& out, std::string_view* why) {
  std::int64_t days = 0;
  std::int64_t nanos = 0;
  bool right = type == CqlType::kTime || TakeDate(&text, &days);
  if (right && type == CqlType::kTimestamp && !text.empty()) {
    right = text.front() == ' ' || text.front() == 'T';
    text.remove_prefix(1);
  }
  if (right && (type == CqlType::kTime || (type == CqlType::kTimestamp && !text.empty()))) {
    right = TakeTime(&text, &nanos);
  }
  if (!right || !text.empty()) {
    *why = type == CqlType::kDate   ? "is no date as 2026-01-31"
           : type == CqlType::kTime ? "is no time of a day as 12:00:00"
                                    : "is no date and time as 2026-01-31 12:00:00";
    return false;
  }
  if (type == CqlType::kDate) {
    AppendNumber(4, 4, out);
    AppendNumber(static_cast<std::uint64_t>(days + kEpochDay), 4, out);
    return true;
  }
  AppendNumber(8, 4, out);
  const std::int64_t number =
      type == CqlType::kTime
          ? nanos
          : days * kSecondsPerDay * kMillisPerSecond + nanos / (kNanosPerSecond / kMillisPerSecond);
  AppendNumber(static_cast<std::uint64_t>(number), 8, out);
  return true;
}

// Appends at least `width` digits.
void PrintPadded(std::int64_t number, std::size_t width, std::string* text) {
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  const auto count = static_cast<std::size_t>(end - digits);
  if (count < width) text->append(width - count, '0');
  text->append(digits, count);
}

void PrintDate(std::int64_t days, std::string* text) {
  const Date date = DateOf(days);
  PrintPadded(date.year, 4, text);
  text->push_back('-');
  PrintPadded(date.month, 2, text);
  text->push_back('-');
  PrintPadded(date.day, 2, text);
}

// `fraction` in units of which `unit` make a second; left out when it is 0.
void PrintTime(std::int64_t seconds, std::int64_t fraction, std::int64_t unit, std::string* text) {
  PrintPadded(seconds / 3600, 2, text);
  text->push_back(':');
  PrintPadded(seconds / 60 % 60, 2, text);
  text->push_back(':');
  PrintPadded(seconds % 60, 2, text);
  if (fraction == 0) return;
  text->push_back('.');
  PrintPadded(fraction, unit == kMillisPerSecond ? 3 : 9, text);
}

std::optional<std::int64_t> SignedOf(std::string_view bytes, std::size_t size) {
  if (bytes.size() != size) return std::nullopt;
  std::uint64_t number = (bytes.front() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
  for (const char c : bytes) number = number << 8 | static_cast<std::uint8_t>(c);
  return static_cast<std::int64_t>(number);
}

template <typename Float>
void PrintFloating(Float number, std::string* text) {
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text->append(digits, static_cast<std::size_t>(end - digits));
}

std::size_t SizeOf(CqlType type) {
  switch (type) {
    case CqlType::kTinyint:
    case CqlType::kBoolean:
      return 1;
    case CqlType::kSmallint:
      return 2;
    case CqlType::kInt:
    case CqlType::kDate:
    case CqlType::kFloat:
      return 4;
    default:
      return 8;
  }
}

// `scale`: of a decimal, digits to show at least.
bool Print(CqlType type, std::string_view bytes, std::size_t scale, std::string* text) {
  if (type == CqlType::kVarint) return PrintWhole(bytes, 0, text);
  if (type == CqlType::kDecimal) {
    WireReader reader(bytes);
    const std::int32_t own = reader.Int();
    if (!reader.ok() || own < 0) return false;
    if (!PrintWhole(reader.rest(), static_cast<std::size_t>(own), text)) return false;
    const auto shown = static_cast<std::size_t>(own);
    if (shown >= scale) return true;
    if (shown == 0) text->push_back('.');
    text->append(scale - shown, '0');
    return true;
  }
  const std::optional<std::int64_t> number = SignedOf(bytes, SizeOf(type));
  if (!number) return false;
  switch (type) {
    case CqlType::kBoolean:
      text->push_back(*number == 0 ? '0' : '1');
      return true;
    case CqlType::kFloat:
      PrintFloating(std::bit_cast<float>(static_cast<std::uint32_t>(*number)), text);
      return true;
    case CqlType::kDouble:
      PrintFloating(std::bit_cast<double>(*number), text);
      return true;
    case CqlType::kDate:
      PrintDate(static_cast<std::int64_t>(static_cast<std::uint32_t>(*number)) - kEpochDay, text);
      return true;
    case CqlType::kTime:
      PrintTime(*number / kNanosPerSecond, *number % kNanosPerSecond, kNanosPerSecond, text);
      return true;
    case CqlType::kTimestamp: {
      std::int64_t seconds = *number / kMillisPerSecond;
      std::int64_t millis = *number % kMillisPerSecond;
      if (millis < 0) {
        millis += kMillisPerSecond;
        --seconds;
      }
      std::int64_t days = seconds / kSecondsPerDay;
      seconds %= kSecondsPerDay;
      if (seconds < 0) {
        seconds += kSecondsPerDay;
        --days;
      }
      // Beyond what SQL's dates reach nothing of ours was written.
      if (days < -800'000 || days > 3'000'000) return false;
      PrintDate(days, text);
      text->push_back(' ');
      PrintTime(seconds, millis, kMillisPerSecond, text);
      return true;
    }
    default: {
      char digits[24];
      const char* const end = std::to_chars(digits, digits + sizeof digits, *number).ptr;
      text->append(digits, static_cast<std::size_t>(end - digits));
      return true;
    }
  }
}

// Prints into `scratch`, which must not be moved.
bool PrintInto(CqlType type, std::string_view bytes, std::size_t scale, std::string* scratch,
               std::string_view* printed) {
  const std::size_t begin = scratch->size();
  if (!Print(type, bytes, scale, scratch)) return false;
  *printed = std::string_view(*scratch).substr(begin);
  return true;
}

std::optional<CqlType> TypeOfCode(std::uint16_t code) {
  switch (code) {
    case 0x0002:
    case 0x0005:  // counter
      return CqlType::kBigint;
    case 0x0004:
      return CqlType::kBoolean;
    case 0x0006:
      return CqlType::kDecimal;
    case 0x0007:
      return CqlType::kDouble;
    case 0x0008:
      return CqlType::kFloat;
    case 0x0009:
      return CqlType::kInt;
    case 0x000b:
      return CqlType::kTimestamp;
    case 0x000e:
      return CqlType::kVarint;
    case 0x0011:
      return CqlType::kDate;
    case 0x0012:
      return CqlType::kTime;
    case 0x0013:
      return CqlType::kSmallint;
    case 0x0014:
      return CqlType::kTinyint;
    default:
      return std::nullopt;
  }
}

}  // namespace

CqlType ParameterType(std::uint16_t type_code) {
  // What is not known is sent as it is.
  if (type_code == 0x0001 || type_code == 0x000d) return CqlType::kText;
  return TypeOfCode(type_code).value_or(CqlType::kBlob);
}

bool AppendValue(CqlType type, const Value& value, ByteBuffer& out, std::string_view* why) {
  if (value.kind == Value::Kind::kNull) {
    AppendNumber(0xffffffff, 4, out);
    return true;
  }
  char scratch[24];
  switch (type) {
    case CqlType::kTinyint:
    case CqlType::kSmallint:
    case CqlType::kInt:
    case CqlType::kBigint:
      return AppendInteger(value, SizeOf(type), out, why);
    case CqlType::kBoolean: {
      const std::string_view text = DigitsOf(value, scratch);
      if (text != "0" && text != "1") {
        *why = "is neither 0 nor 1";
        return false;
      }
      AppendNumber(1, 4, out);
      out.Append(static_cast<char>(text == "1"));
      return true;
    }
    case CqlType::kVarint:
      return AppendDecimal(DigitsOf(value, scratch), true, out, why);
    case CqlType::kDecimal:
      return AppendDecimal(DigitsOf(value, scratch), false, out, why);
    case CqlType::kFloat:
    case CqlType::kDouble:
      return AppendFloating(value, type, out, why);
    case CqlType::kDate:
    case CqlType::kTime:
    case CqlType::kTimestamp:
      return AppendMoment(DigitsOf(value, scratch), type, out, why);
    case CqlType::kText:
    case CqlType::kBlob: {
      const std::string_view text = DigitsOf(value, scratch);
      if (type == CqlType::kText && !IsUtf8(text)) {
        *why = "is no UTF-8, as a text of CQL has to be";
        return false;
      }
      AppendNumber(text.size(), 4, out);
      out.Append(text);
      return true;
    }
  }
  return false;
}

bool PrintValue(CqlType type, const ColumnType& column, std::string_view bytes,
                std::string* scratch, std::string_view* printed) {
  if (type == CqlType::kText || type == CqlType::kBlob) {
    *printed = bytes;
    return true;
  }
  return PrintInto(type, bytes, column.scale, scratch, printed);
}

bool PrintByCode(std::uint16_t type_code, std::string_view bytes, std::string* scratch,
                 std::string_view* printed) {
  const std::optional<CqlType> type = TypeOfCode(type_code);
  if (!type) {
    *printed = bytes;
    return true;
  }
  return PrintInto(*type, bytes, 0, scratch, printed);
}

}  // namespace cavalry::drivers::cassandra
