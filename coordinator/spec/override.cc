#include "coordinator/spec/override.h"

#include <charconv>

#include "coordinator/spec/message_reader.h"
#include "coordinator/spec/override_place.h"
#include "coordinator/spec/scalar.h"
#include "coordinator/spec/schema.h"
#include "coordinator/spec/yaml_tree.h"

namespace cavalry::spec {
namespace {

using google::protobuf::Reflection;

// Where a path leads: a field, or one element of a repeated field.
struct Place {
  Message* parent = nullptr;
  const FieldDescriptor* field = nullptr;
  int index = -1;  // -1: the whole field
};

// Follows a dotted path through a message. Keys of keyed lists may hold dots themselves, hence the
// longest key that is there wins.
class PathWalker {
 public:
  PathWalker(Message* root, std::string_view path) : root_(root), rest_(path) {}

  StatusOr<Place> Walk() {
    Message* message = root_;
    while (true) {
      CAVALRY_ASSIGN_OR_RETURN(Place place, TakeField(message));
      if (rest_.empty()) return place;
      CAVALRY_ASSIGN_OR_RETURN(place.index, TakeElement(place));
      if (rest_.empty()) return place;
      rest_.remove_prefix(1);  // the dot
      CAVALRY_ASSIGN_OR_RETURN(message, Enter(place));
    }
  }

 private:
  // Takes a field's name off the path; what follows it stays, with its dot or bracket.
  StatusOr<Place> TakeField(Message* message) {
    const std::string name(rest_.substr(0, rest_.find_first_of(".[")));
    const FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
    if (field == nullptr || field == key_field_) {
      std::vector<std::string> keys = KeysOf(message->GetDescriptor(), key_field_);
      for (std::string& key : keys) key = Join(done_, key);
      return InvalidArgument("no such key{}", Suggestion(Join(done_, name), keys, "keys here"));
    }
    Advance(name.size(), Join(done_, name));
    return Place{message, field, -1};
  }

  // Takes ".key" or "[3]" off the path, if the field has elements; the index, or -1.
  StatusOr<int> TakeElement(const Place& place) {
    if (!place.field->is_repeated()) {
      if (rest_[0] == '[') return InvalidArgument("'{}' is not a list", done_);
      return -1;
    }
    const FieldDescriptor* key_field = KeyFieldOf(place.field);
    return key_field != nullptr ? TakeKey(place, key_field) : TakeIndex(place);
  }

  StatusOr<int> TakeKey(const Place& place, const FieldDescriptor* key_field) {
    const Reflection* reflection = place.parent->GetReflection();
    const std::string_view after = rest_.substr(1);
    std::vector<std::string> keys;
    int best = -1;
    std::size_t best_size = 0;
    for (int i = 0; i < reflection->FieldSize(*place.parent, place.field); ++i) {
      const Message& element = reflection->GetRepeatedMessage(*place.parent, place.field, i);
      std::string key = element.GetReflection()->GetString(element, key_field);
      const bool whole_key =
          after.starts_with(key) && (after.size() == key.size() || after[key.size()] == '.');
      if (whole_key && (best < 0 || key.size() > best_size)) {
        best = i;
        best_size = key.size();
      }
      keys.push_back(Join(done_, key));
    }
    if (best >= 0) {
      Advance(best_size + 1, Join(done_, after.substr(0, best_size)));
      return best;
    }
    // An element that is no more than its short form may be new: "sweep.load.sessions=[1, 16]".
    const bool is_new =
        !after.empty() &&
        ShorthandOf(place.field->message_type(), key_field).kind != Shorthand::Kind::kNone;
    if (!is_new) {
      return InvalidArgument(
          "no such key{}",
          Suggestion(Join(done_, after.substr(0, after.find('.'))), keys, "there are"));
    }
    Message* element = reflection->AddMessage(place.parent, place.field);
    element->GetReflection()->SetString(element, key_field, std::string(after));
    Advance(rest_.size(), Join(done_, after));
    return static_cast<int>(keys.size());
  }

  StatusOr<int> TakeIndex(const Place& place) {
    const int size = place.parent->GetReflection()->FieldSize(*place.parent, place.field);
    const std::size_t close = rest_.find(']');
    int index = -1;
    if (rest_[0] == '[' && close != std::string_view::npos) {
      const auto [end, error] = std::from_chars(rest_.data() + 1, rest_.data() + close, index);
      if (error != std::errc() || end != rest_.data() + close) index = -1;
    }
    if (index < 0 || index >= size) {
      return InvalidArgument("no such element; '{}' has {}, from {}[0]", done_, size, done_);
    }
    const std::string_view after = rest_.substr(close + 1);
    if (!after.empty() && after[0] != '.') return InvalidArgument("no such key");
    Advance(close + 1, fmt::format("{}[{}]", done_, index));
    return index;
  }

  // The message at a place, to go on from. A member of a oneof must be the one that is set: else a
  // slip would change what the spec is about.
  StatusOr<Message*> Enter(const Place& place) {
    if (place.field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return InvalidArgument("'{}' is {} and has no keys", done_, DescribeScalar(place.field));
    }
    const Reflection* reflection = place.parent->GetReflection();
    key_field_ = place.field->is_repeated() ? KeyFieldOf(place.field) : nullptr;
    if (place.index >= 0) {
      return reflection->MutableRepeatedMessage(place.parent, place.field, place.index);
    }
    if (place.field->is_repeated()) return InvalidArgument("'{}' needs a key or [index]", done_);
    if (const google::protobuf::OneofDescriptor* oneof = OneofOf(place.field)) {
      const FieldDescriptor* set = reflection->GetOneofFieldDescriptor(*place.parent, oneof);
      if (set != nullptr && set != place.field) {
        return InvalidArgument("the spec says '{}' there, not '{}'", set->name(),
                               place.field->name());
      }
    }
    return reflection->MutableMessage(place.parent, place.field);
  }

  void Advance(std::size_t size, std::string done) {
    rest_.remove_prefix(size);
    done_ = std::move(done);
  }

  Message* root_;
  std::string_view rest_;
  std::string done_;
  const FieldDescriptor* key_field_ = nullptr;
};

// Sets an element of a list of scalars to the only one of the same list in `side`. Such lists are
// of texts or of whole numbers.
void SetListScalar(const Message& side, const Place& place) {
  const Reflection* reflection = side.GetReflection();
  if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_UINT64) {
    place.parent->GetReflection()->SetRepeatedUInt64(
        place.parent, place.field, place.index,
        reflection->GetRepeatedUInt64(side, place.field, 0));
    return;
  }
  place.parent->GetReflection()->SetRepeatedString(
      place.parent, place.field, place.index, reflection->GetRepeatedString(side, place.field, 0));
}

void ReadAt(const Place& place, const YamlNode& node, const std::string& path,
            MessageReader* reader, FaultList* faults) {
  const Reflection* reflection = place.parent->GetReflection();
  if (place.index < 0) {
    reflection->ClearField(place.parent, place.field);
    reader->ReadField(node, path, place.parent, place.field);
    return;
  }
  if (place.field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
    // Read as a list of one, on the side: reading a repeated field adds to it.
    const std::unique_ptr<Message> side(place.parent->New());
    reader->ReadField(node, path, side.get(), place.field);
    if (!faults->empty()) return;
    if (side->GetReflection()->FieldSize(*side, place.field) != 1) {
      faults->Add(Position(), "must be one value");
      return;
    }
    SetListScalar(*side, place);
    return;
  }
  Message* element = reflection->MutableRepeatedMessage(place.parent, place.field, place.index);
  const FieldDescriptor* key_field = KeyFieldOf(place.field);
  std::string key;
  if (key_field != nullptr) key = element->GetReflection()->GetString(*element, key_field);
  element->Clear();
  if (key_field != nullptr) element->GetReflection()->SetString(element, key_field, key);
  reader->ReadMessage(node, path, element, key_field);
}

// Places below a path say nothing any more once its value is replaced.
void ForgetPlaces(std::string_view path, MessageReader::Positions* positions) {
  std::erase_if(*positions, [path](const auto& entry) {
    const std::string_view key = entry.first;
    return key.starts_with(path) &&
           (key.size() == path.size() || key[path.size()] == '.' || key[path.size()] == '[');
  });
}

}  // namespace

Status ApplyOverrideAt(SpecDocument* document, std::string_view path, std::string_view value,
                       std::string_view place_text, Position position) {
  const std::string path_text(path);
  FaultList faults = FaultList::AtPlace(std::string(place_text));
  v1::Workload changed = document->workload;
  const StatusOr<Place> place = PathWalker(&changed, path).Walk();
  if (!place.ok()) return Annotate(place.status(), place_text);
  YamlNode node;
  if (!ReadYaml(value, &faults, &node)) return faults.ToStatus();
  MessageReader::Positions ignored;
  MessageReader reader(&faults, &ignored, path_text);
  ReadAt(*place, node, path_text, &reader, &faults);
  CAVALRY_RETURN_IF_ERROR(faults.ToStatus());
  document->workload = std::move(changed);
  ForgetPlaces(path, &document->positions);
  document->positions[path_text] = position;
  return absl::OkStatus();
}

Status ApplyOverride(SpecDocument* document, std::string_view path, std::string_view value) {
  CAVALRY_RETURN_IF_ERROR(
      ApplyOverrideAt(document, path, value, fmt::format("--set {}", path), Position()));
  // One value was asked for: an axis of the same key would take its place at every load point.
  auto* sweep = document->workload.mutable_sweep();
  for (int i = sweep->size() - 1; i >= 0; --i) {
    if (sweep->Get(i).path() == path) sweep->DeleteSubrange(i, 1);
  }
  return absl::OkStatus();
}

Status ApplyAssignment(SpecDocument* document, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    return InvalidArgument("--set {}: no KEY=VALUE; write it like --set load.sessions=64",
                           assignment);
  }
  return ApplyOverride(document, assignment.substr(0, equals), assignment.substr(equals + 1));
}

}  // namespace cavalry::spec
