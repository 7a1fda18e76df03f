#include "coordinator/spec/schema.h"

#include <gtest/gtest.h>

#include <google/protobuf/descriptor.pb.h>

#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cavalry/v1/workload.pb.h"
#include "coordinator/spec/spec_loader.h"
#include "spec_texts.h"

namespace cavalry::spec {
namespace {

namespace pb = google::protobuf;

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Paths of everything in a file that has a comment before or after it.
class Comments {
 public:
  explicit Comments(const pb::FileDescriptorProto& file) {
    for (const pb::SourceCodeInfo::Location& location : file.source_code_info().location()) {
      if (location.leading_comments().empty() && location.trailing_comments().empty()) continue;
      paths_.insert(std::vector<int>(location.path().begin(), location.path().end()));
    }
  }

  void Expect(const std::vector<int>& path, const std::string& name) const {
    EXPECT_TRUE(paths_.contains(path)) << name << " has no comment";
  }

 private:
  std::set<std::vector<int>> paths_;
};

std::vector<int> Extended(std::vector<int> path, int field, int index) {
  path.push_back(field);
  path.push_back(index);
  return path;
}

void CheckEnum(const Comments& comments, const pb::EnumDescriptorProto& type,
               const std::vector<int>& path) {
  comments.Expect(path, type.name());
  for (int i = 0; i < type.value_size(); ++i) {
    comments.Expect(Extended(path, pb::EnumDescriptorProto::kValueFieldNumber, i),
                    type.value(i).name());
  }
  EXPECT_TRUE(type.value(0).name().ends_with("_UNSPECIFIED") && type.value(0).number() == 0)
      << type.name();
}

void CheckMessage(const Comments& comments, const pb::DescriptorProto& type,
                  const std::vector<int>& path) {
  comments.Expect(path, type.name());
  for (int i = 0; i < type.field_size(); ++i) {
    comments.Expect(Extended(path, pb::DescriptorProto::kFieldFieldNumber, i),
                    type.name() + "." + type.field(i).name());
  }
  for (int i = 0; i < type.nested_type_size(); ++i) {
    EXPECT_FALSE(type.nested_type(i).options().map_entry()) << type.name() << " has a map";
    CheckMessage(comments, type.nested_type(i),
                 Extended(path, pb::DescriptorProto::kNestedTypeFieldNumber, i));
  }
  for (int i = 0; i < type.enum_type_size(); ++i) {
    CheckEnum(comments, type.enum_type(i),
              Extended(path, pb::DescriptorProto::kEnumTypeFieldNumber, i));
  }
}

TEST(Schema, EverythingHasAComment) {
  pb::FileDescriptorSet files;
  ASSERT_TRUE(files.ParseFromString(ReadText(DESCRIPTORS)));
  EXPECT_EQ(files.file_size(), 4);
  for (const pb::FileDescriptorProto& file : files.file()) {
    const Comments comments(file);
    using File = pb::FileDescriptorProto;
    for (int i = 0; i < file.message_type_size(); ++i) {
      CheckMessage(comments, file.message_type(i), {File::kMessageTypeFieldNumber, i});
    }
    for (int i = 0; i < file.enum_type_size(); ++i) {
      CheckEnum(comments, file.enum_type(i), {File::kEnumTypeFieldNumber, i});
    }
    for (int i = 0; i < file.extension_size(); ++i) {
      comments.Expect({File::kExtensionFieldNumber, i}, file.extension(i).name());
    }
  }
}

// All messages that a spec can hold.
void Collect(const Descriptor* type, std::set<const Descriptor*>* types) {
  if (!types->insert(type).second) return;
  for (int i = 0; i < type->field_count(); ++i) {
    if (type->field(i)->message_type() != nullptr) Collect(type->field(i)->message_type(), types);
  }
}

std::set<const Descriptor*> SpecTypes() {
  std::set<const Descriptor*> types;
  Collect(v1::Workload::descriptor(), &types);
  return types;
}

bool HasWord(const std::string& text, const std::string& word) {
  return std::regex_search(text, std::regex("\\b" + word + "\\b"));
}

// What excludes something else there (stages, script) is set in insert-then-select.yaml.
TEST(Schema, EveryFieldStandsInAllOptions) {
  SetConfigEnvironment();
  const std::string folder = CAVALRY_SOURCE_DIR "/configs/";
  const std::string text = ReadText(folder + "all-options.yaml");
  std::set<const FieldDescriptor*> set;
  std::set<const FieldDescriptor*> keys;
  for (const char* file : {"all-options.yaml", "insert-then-select.yaml"}) {
    const StatusOr<SpecDocument> document = LoadSpec(folder + file);
    ASSERT_TRUE(document.ok()) << StatusText(document.status());
    VisitFields(document->workload, "",
                [&](const Message&, const FieldDescriptor* field, const std::string&) {
                  set.insert(field);
                  if (KeyFieldOf(field) != nullptr) keys.insert(KeyFieldOf(field));
                });
  }
  for (const Descriptor* type : SpecTypes()) {
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      if (keys.contains(field)) continue;
      EXPECT_TRUE(HasWord(text, field->name())) << field->full_name() << " is not in the text";
      // False is written, but is no more than the default of a field without presence.
      const bool false_by_default =
          !field->has_presence() && field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
      EXPECT_TRUE(set.contains(field) || false_by_default) << field->full_name() << " is not set";
      if (field->enum_type() == nullptr) continue;
      for (const std::string& word : EnumWords(field->enum_type())) {
        EXPECT_TRUE(HasWord(text, word)) << word << " of " << field->full_name();
      }
    }
  }
}

TEST(Schema, EveryOptionIsSound) {
  for (const Descriptor* type : SpecTypes()) {
    ShorthandOf(type, nullptr);  // aborts when it names no field
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor* field = type->field(i);
      KeyFieldOf(field);
      if (!RefersTo(field).empty()) {
        const FieldDescriptor* list = v1::Workload::descriptor()->FindFieldByName(RefersTo(field));
        ASSERT_NE(list, nullptr) << field->full_name();
        EXPECT_NE(KeyFieldOf(list), nullptr) << field->full_name();
      }
      if (field->enum_type() != nullptr) {
        EXPECT_FALSE(EnumWords(field->enum_type()).empty()) << field->full_name();
      }
    }
  }
}

TEST(Schema, WordsOfEnums) {
  EXPECT_EQ(EnumWords(v1::Order_descriptor()),
            (std::vector<std::string>{"mirrored", "same", "blocked", "shuffled"}));
  EXPECT_EQ(EnumWords(v1::Metric_descriptor()),
            (std::vector<std::string>{"throughput", "mean", "p50", "p99", "client_cpu"}));
}

}  // namespace
}  // namespace cavalry::spec
