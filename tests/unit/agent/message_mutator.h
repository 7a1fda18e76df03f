// Changes messages at random, by reflection: fields set to odd values, cleared, repeated, dropped
// or copied from elsewhere in the same message. The same seed makes the same changes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

namespace cavalry::agent {

class MessageMutator {
 public:
  explicit MessageMutator(std::uint64_t seed) : random_(seed) {}

  void Mutate(google::protobuf::Message* root) {
    names_.clear();
    CollectTexts(*root);
    google::protobuf::Message* message = root;
    // Down a random way; the deeper parts are many, so a walk seldom ends early.
    while (true) {
      google::protobuf::Message* child = Child(message);
      if (child == nullptr || Below(5) == 0) break;
      message = child;
    }
    MutateField(message);
  }

  std::uint64_t Below(std::uint64_t bound) { return random_() % bound; }

 private:
  using Field = google::protobuf::FieldDescriptor;

  void CollectTexts(const google::protobuf::Message& message) {
    std::vector<const Field*> fields;
    const auto* reflection = message.GetReflection();
    reflection->ListFields(message, &fields);
    for (const Field* field : fields) {
      const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
      for (int i = 0; i < count; ++i) {
        if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
          CollectTexts(field->is_repeated() ? reflection->GetRepeatedMessage(message, field, i)
                                            : reflection->GetMessage(message, field));
        } else if (field->cpp_type() == Field::CPPTYPE_STRING) {
          names_.push_back(field->is_repeated() ? reflection->GetRepeatedString(message, field, i)
                                                : reflection->GetString(message, field));
        }
      }
    }
  }

  google::protobuf::Message* Child(google::protobuf::Message* message) {
    std::vector<google::protobuf::Message*> children;
    std::vector<const Field*> fields;
    const auto* reflection = message->GetReflection();
    reflection->ListFields(*message, &fields);
    for (const Field* field : fields) {
      if (field->cpp_type() != Field::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) {
        children.push_back(reflection->MutableMessage(message, field));
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
        children.push_back(reflection->MutableRepeatedMessage(message, field, i));
      }
    }
    return children.empty() ? nullptr : children[Below(children.size())];
  }

  void MutateField(google::protobuf::Message* message) {
    const auto* descriptor = message->GetDescriptor();
    if (descriptor->field_count() == 0) return;
    const Field* field = descriptor->field(
        static_cast<int>(Below(static_cast<std::uint64_t>(descriptor->field_count()))));
    const auto* reflection = message->GetReflection();
    if (Below(6) == 0) return reflection->ClearField(message, field);
    if (!field->is_repeated()) return Set(message, field);
    const int size = reflection->FieldSize(*message, field);
    if (size > 0 && Below(3) == 0) return reflection->RemoveLast(message, field);
    if (size > 1 && Below(3) == 0) return reflection->SwapElements(message, field, 0, size - 1);
    Add(message, field);
  }

  void Set(google::protobuf::Message* message, const Field* field) {
    const auto* reflection = message->GetReflection();
    switch (field->cpp_type()) {
      case Field::CPPTYPE_UINT32:
        return reflection->SetUInt32(message, field, static_cast<std::uint32_t>(Number()));
      case Field::CPPTYPE_UINT64:
        return reflection->SetUInt64(message, field, Number());
      case Field::CPPTYPE_INT32:
        return reflection->SetInt32(message, field, static_cast<std::int32_t>(Number()));
      case Field::CPPTYPE_INT64:
        return reflection->SetInt64(message, field, static_cast<std::int64_t>(Number()));
      case Field::CPPTYPE_BOOL:
        return reflection->SetBool(message, field, Below(2) == 0);
      case Field::CPPTYPE_ENUM:
        return reflection->SetEnumValue(message, field, static_cast<int>(Below(8)));
      case Field::CPPTYPE_DOUBLE:
        return reflection->SetDouble(message, field, Real());
      case Field::CPPTYPE_STRING:
        return reflection->SetString(message, field, Text());
      case Field::CPPTYPE_MESSAGE:
        reflection->MutableMessage(message, field);
        return;
      default:
        return;
    }
  }

  void Add(google::protobuf::Message* message, const Field* field) {
    const auto* reflection = message->GetReflection();
    if (field->cpp_type() == Field::CPPTYPE_STRING) {
      reflection->AddString(message, field, Text());
    } else if (field->cpp_type() == Field::CPPTYPE_MESSAGE) {
      const int size = reflection->FieldSize(*message, field);
      google::protobuf::Message* added = reflection->AddMessage(message, field);
      if (size > 0 && Below(4) != 0) {
        added->CopyFrom(reflection->GetRepeatedMessage(*message, field, size - 1));
        MutateField(added);
      }
    }
  }

  std::uint64_t Number() {
    constexpr std::uint64_t kOdd[] = {0,
                                      1,
                                      2,
                                      3,
                                      16,
                                      100,
                                      255,
                                      256,
                                      4095,
                                      10'000,
                                      65'535,
                                      65'536,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      0x7fffffffffffffff,
                                      0x8000000000000000,
                                      0xffffffffffffffff};
    return Below(4) == 0 ? random_() >> Below(64) : kOdd[Below(std::size(kOdd))];
  }

  double Real() {
    constexpr double kOdd[] = {0,
                               -0.0,
                               0.5,
                               0.99,
                               1,
                               5,
                               -1,
                               1e300,
                               std::numeric_limits<double>::denorm_min(),
                               std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()};
    return kOdd[Below(std::size(kOdd))];
  }

  std::string Text() {
    static const std::vector<std::string> kOdd = {"",
                                                  "{",
                                                  "}",
                                                  "{id}",
                                                  "{version:9}",
                                                  "{id:999}",
                                                  "int",
                                                  "bigint unsigned",
                                                  "varchar(1)",
                                                  "decimal(65,30)",
                                                  "decimal(1,1)",
                                                  "varbinary(65535)",
                                                  "text",
                                                  "date",
                                                  "a`b",
                                                  "'",
                                                  "\\",
                                                  std::string(300, 'x'),
                                                  std::string("a\0b", 3),
                                                  "\xc3\xa4"};
    if (Below(2) == 0 && !names_.empty()) return names_[Below(names_.size())];
    return kOdd[Below(kOdd.size())];
  }

  std::mt19937_64 random_;
  std::vector<std::string> names_;  // texts of the message: most are names of something in it
};

}  // namespace cavalry::agent
