#include "random_message.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>

#include "coordinator/spec/schema.h"

namespace cavalry::spec {
namespace {

using google::protobuf::Reflection;

std::string RandomText(RandomStream* random) {
  constexpr std::array<std::string_view, 44> kPieces = {
      "a",    "B",  "0",    "9",   " ",  "  ",    "\n",     "\t",         "\"",  "'",    "\\",
      "#",    " #", ":",    ": ",  ", ", "[",     "]",      "{",          "}",   "&",    "*",
      "!",    "|",  ">",    "%",   "@",  "`",     "-",      "- ",         "..",  "\x01", "\x7f",
      "null", "~",  "true", "env", "<<", "größe", "\u2028", "\U0001f40e", "---", "...",  "?"};
  std::string text;
  const std::uint64_t length = random->Below(6);
  for (std::uint64_t i = 0; i < length; ++i) text += kPieces[random->Below(kPieces.size())];
  if (random->Below(50) == 0) text += '\0';
  return text;
}

std::uint64_t RandomNumber(RandomStream* random, std::uint64_t highest) {
  return (random->Next() >> random->Below(64)) & highest;
}

void FillScalar(Message* message, const FieldDescriptor* field, RandomStream* random) {
  const Reflection* reflection = message->GetReflection();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      field->is_repeated() ? reflection->AddString(message, field, RandomText(random))
                           : reflection->SetString(message, field, RandomText(random));
      return;
    case FieldDescriptor::CPPTYPE_UINT32:
      reflection->SetUInt32(message, field,
                            static_cast<std::uint32_t>(
                                RandomNumber(random, std::numeric_limits<std::uint32_t>::max())));
      return;
    case FieldDescriptor::CPPTYPE_UINT64: {
      // Durations end where Nanos does.
      const std::uint64_t number =
          RandomNumber(random, UnitOf(field) == v1::UNIT_DURATION_NS
                                   ? std::numeric_limits<std::int64_t>::max()
                                   : std::numeric_limits<std::uint64_t>::max());
      field->is_repeated() ? reflection->AddUInt64(message, field, number)
                           : reflection->SetUInt64(message, field, number);
      return;
    }
    case FieldDescriptor::CPPTYPE_INT64:
      reflection->SetInt64(message, field, static_cast<std::int64_t>(random->Next()));
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      reflection->SetDouble(message, field,
                            (random->Unit() - 0.5) * (random->Below(2) ? 1e300 : 1));
      return;
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection->SetBool(message, field, random->Below(2) == 1);
      return;
    case FieldDescriptor::CPPTYPE_ENUM: {
      const auto count = static_cast<std::uint64_t>(field->enum_type()->value_count());
      const int index = static_cast<int>(1 + random->Below(count - 1));
      reflection->SetEnum(message, field, field->enum_type()->value(index));
      return;
    }
    default:
      return;
  }
}

void FillField(Message* message, const FieldDescriptor* field, RandomStream* random) {
  const Reflection* reflection = message->GetReflection();
  const bool is_message = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
  if (!field->is_repeated()) {
    if (is_message) {
      FillRandomly(reflection->MutableMessage(message, field), random);
    } else {
      FillScalar(message, field, random);
    }
    return;
  }
  const std::uint64_t count = random->Below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!is_message) {
      FillScalar(message, field, random);
      continue;
    }
    Message* element = reflection->AddMessage(message, field);
    FillRandomly(element, random);
    if (const FieldDescriptor* key = KeyFieldOf(field)) {
      element->GetReflection()->SetString(element, key, fmt::format("{}{}", RandomText(random), i));
    }
  }
}

}  // namespace

void FillRandomly(Message* message, RandomStream* random) {
  const Descriptor* type = message->GetDescriptor();
  for (int i = 0; i < type->field_count(); ++i) {
    // Members of a oneof replace one another, so that any of them may be the last.
    if (random->Below(2) == 0) FillField(message, type->field(i), random);
  }
}

}  // namespace cavalry::spec
