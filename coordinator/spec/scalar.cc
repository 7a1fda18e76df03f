#include "coordinator/spec/scalar.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include "core/base/check.h"
#include "core/base/units.h"

namespace cavalry::spec {
namespace {

using google::protobuf::Reflection;

StatusOr<std::uint64_t> ParsePlainNumber(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return InvalidArgument("'{}' is too large: at most {}", text,
                           std::numeric_limits<std::uint64_t>::max());
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return InvalidArgument("'{}' is not a whole number", text);
  }
  return value;
}

StatusOr<std::int64_t> ParseSignedNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return InvalidArgument("'{}' is out of range: {} to {}", text,
                           std::numeric_limits<std::int64_t>::min(),
                           std::numeric_limits<std::int64_t>::max());
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return InvalidArgument("'{}' is not a whole number", text);
  }
  return value;
}

StatusOr<std::uint64_t> ParseWithUnit(std::string_view text, v1::Unit unit) {
  if (text.starts_with('-')) return InvalidArgument("'{}' is negative: it must be 0 or more", text);
  // Beyond the digits that a count with a unit may have, up to the last of 64 bits.
  const bool plain = text.find_first_not_of("0123456789") == std::string_view::npos;
  if (plain && !text.empty() && unit != v1::UNIT_DURATION_NS) return ParsePlainNumber(text);
  switch (unit) {
    case v1::UNIT_DURATION_NS: {
      CAVALRY_ASSIGN_OR_RETURN(const Nanos duration, ParseDuration(text));
      return static_cast<std::uint64_t>(duration);
    }
    case v1::UNIT_BYTES:
      return ParseBytes(text);
    case v1::UNIT_COUNT:
      return ParseCount(text);
    default:
      return ParsePlainNumber(text);
  }
}

// The largest unit that divides the value: exact, as no fraction is written.
std::string WholeDuration(std::uint64_t value) {
  struct NamedUnit {
    const char* name;
    std::uint64_t factor;
  };
  constexpr std::array<NamedUnit, 4> kUnits = {
      {{"s", kSecond}, {"ms", kMillisecond}, {"us", kMicrosecond}, {"ns", 1}}};
  for (const NamedUnit& unit : kUnits) {
    if (value % unit.factor == 0) return fmt::format("{}{}", value / unit.factor, unit.name);
  }
  return "";
}

std::string NumberText(std::uint64_t value, v1::Unit unit) {
  return unit == v1::UNIT_DURATION_NS ? WholeDuration(value) : fmt::format("{}", value);
}

StatusOr<const EnumValueDescriptor*> ParseEnum(std::string_view text, const EnumDescriptor* type) {
  for (int i = 1; i < type->value_count(); ++i) {
    if (EnumWord(type->value(i)) == text) return type->value(i);
  }
  const std::vector<std::string> words = EnumWords(type);
  const std::string nearest = NearestName(text, words);
  return InvalidArgument("'{}' is not one of {}{}", text, fmt::join(words, ", "),
                         nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

StatusOr<bool> ParseBool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return InvalidArgument("'{}' is not true or false", text);
}

}  // namespace

Status SetScalar(std::string_view text, Message* message, const FieldDescriptor* field) {
  const Reflection* reflection = message->GetReflection();
  const bool add = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      add ? reflection->AddString(message, field, std::string(text))
          : reflection->SetString(message, field, std::string(text));
      return absl::OkStatus();
    case FieldDescriptor::CPPTYPE_UINT32: {
      CAVALRY_ASSIGN_OR_RETURN(const std::uint64_t value, ParseWithUnit(text, UnitOf(field)));
      constexpr std::uint64_t kHighest = std::numeric_limits<std::uint32_t>::max();
      if (value > kHighest) {
        return InvalidArgument("'{}' is too large: at most {}", text, kHighest);
      }
      const auto narrow = static_cast<std::uint32_t>(value);
      add ? reflection->AddUInt32(message, field, narrow)
          : reflection->SetUInt32(message, field, narrow);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_UINT64: {
      CAVALRY_ASSIGN_OR_RETURN(const std::uint64_t value, ParseWithUnit(text, UnitOf(field)));
      add ? reflection->AddUInt64(message, field, value)
          : reflection->SetUInt64(message, field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_INT64: {
      CAVALRY_ASSIGN_OR_RETURN(const std::int64_t value, ParseSignedNumber(text));
      add ? reflection->AddInt64(message, field, value)
          : reflection->SetInt64(message, field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_DOUBLE: {
      CAVALRY_ASSIGN_OR_RETURN(const double value, ParseNumber(text));
      add ? reflection->AddDouble(message, field, value)
          : reflection->SetDouble(message, field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_BOOL: {
      CAVALRY_ASSIGN_OR_RETURN(const bool value, ParseBool(text));
      add ? reflection->AddBool(message, field, value) : reflection->SetBool(message, field, value);
      return absl::OkStatus();
    }
    case FieldDescriptor::CPPTYPE_ENUM: {
      CAVALRY_ASSIGN_OR_RETURN(const EnumValueDescriptor* value,
                               ParseEnum(text, field->enum_type()));
      add ? reflection->AddEnum(message, field, value) : reflection->SetEnum(message, field, value);
      return absl::OkStatus();
    }
    default:
      break;
  }
  // A spec needs no other type; a field of one is a mistake in workload.proto.
  CAVALRY_CHECK(false);
  return absl::OkStatus();
}

std::string ScalarText(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* reflection = message.GetReflection();
  const bool repeated = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return repeated ? reflection->GetRepeatedString(message, field, index)
                      : reflection->GetString(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return NumberText(repeated ? reflection->GetRepeatedUInt32(message, field, index)
                                 : reflection->GetUInt32(message, field),
                        UnitOf(field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return NumberText(repeated ? reflection->GetRepeatedUInt64(message, field, index)
                                 : reflection->GetUInt64(message, field),
                        UnitOf(field));
    case FieldDescriptor::CPPTYPE_INT64:
      return fmt::format("{}", repeated ? reflection->GetRepeatedInt64(message, field, index)
                                        : reflection->GetInt64(message, field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return fmt::format("{}", repeated ? reflection->GetRepeatedDouble(message, field, index)
                                        : reflection->GetDouble(message, field));
    case FieldDescriptor::CPPTYPE_BOOL: {
      const bool value = repeated ? reflection->GetRepeatedBool(message, field, index)
                                  : reflection->GetBool(message, field);
      return value ? "true" : "false";
    }
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumWord(repeated ? reflection->GetRepeatedEnum(message, field, index)
                               : reflection->GetEnum(message, field));
    default:
      break;
  }
  CAVALRY_CHECK(false);
  return "";
}

std::string DescribeScalar(const FieldDescriptor* field) {
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_STRING:
      return "a text";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "a number";
    case FieldDescriptor::CPPTYPE_ENUM:
      return fmt::format("one of {}", fmt::join(EnumWords(field->enum_type()), ", "));
    default:
      break;
  }
  switch (UnitOf(field)) {
    case v1::UNIT_DURATION_NS:
      return "a duration such as 60s";
    case v1::UNIT_BYTES:
      return "a size such as 64KiB";
    default:
      return "a whole number";
  }
}

std::string Suggestion(std::string_view name, const std::vector<std::string>& candidates,
                       std::string_view list_name) {
  const std::string nearest = NearestName(name, candidates);
  if (!nearest.empty()) return fmt::format("; did you mean '{}'?", nearest);
  if (candidates.empty()) return "";
  return fmt::format("; {}: {}", list_name, fmt::join(candidates, ", "));
}

}  // namespace cavalry::spec
