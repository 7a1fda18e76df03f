#include "coordinator/spec/yaml_tree.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <unordered_map>

#include "coordinator/spec/spec_loader.h"
#include "coordinator/spec/text_check.h"

namespace cavalry::spec {
namespace {

// Places of yaml-cpp (bytes, from 0) to places as editors show them (characters, from 1).
class PlaceFinder {
 public:
  explicit PlaceFinder(std::string_view text) : text_(text) {
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') line_starts_.push_back(i + 1);
    }
  }

  // The text from a place on; empty if it is beyond the end.
  std::string_view TextFrom(const YAML::Mark& mark) const {
    if (mark.line < 0 || mark.column < 0) return {};
    const auto line = static_cast<std::size_t>(mark.line);
    if (line >= line_starts_.size()) return {};
    const std::size_t at = line_starts_[line] + static_cast<std::size_t>(mark.column);
    return at < text_.size() ? text_.substr(at) : std::string_view();
  }

  // Goes on from the last place on the same line: places come in order, and a file may be one long
  // line.
  Position At(const YAML::Mark& mark) {
    if (mark.line < 0 || static_cast<std::size_t>(mark.line) >= line_starts_.size()) return {1, 1};
    const std::size_t start = line_starts_[static_cast<std::size_t>(mark.line)];
    const auto bytes = static_cast<std::size_t>(mark.column < 0 ? 0 : mark.column);
    if (mark.line != last_line_ || bytes < last_bytes_) {
      last_line_ = mark.line;
      last_bytes_ = 0;
      last_characters_ = 0;
    }
    for (const char c : text_.substr(start + last_bytes_, bytes - last_bytes_)) {
      const bool continuation = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
      if (!continuation) ++last_characters_;
    }
    last_bytes_ = bytes;
    return {mark.line + 1, last_characters_ + 1};
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> line_starts_;
  int last_line_ = -1;
  std::size_t last_bytes_ = 0;
  int last_characters_ = 0;
};

// Whether the quoted scalar at the front ends; yaml-cpp takes the end of the file for a quote.
bool IsClosed(std::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '\'')) return true;
  const char quote = text[0];
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!doubled) return true;
      ++i;
    }
  }
  return false;
}

// What yaml-cpp says of a syntax error, with what most often causes it.
std::string SyntaxError(const std::string& message) {
  const bool indentation =
      message == YAML::ErrorMsg::END_OF_MAP || message == YAML::ErrorMsg::END_OF_SEQ;
  return fmt::format("not valid YAML: {}{}", message,
                     indentation ? "; is this line indented as its neighbours?" : "");
}

// Builds the tree of one document. Faults never stop it: what is refused is left out.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(PlaceFinder* places, FaultList* faults) : places_(places), faults_(faults) {}

  YamlNode TakeRoot() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (skipped_depth_ > 0) return;
    YamlNode node;
    node.at = places_->At(mark);
    RefuseAnchor(node.at, anchor);
    Attach(std::move(node));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    if (skipped_depth_ > 0) return;
    YamlNode node;
    node.at = places_->At(mark);
    faults_->Add(node.at, "aliases (*name) are not supported; write the value out");
    Attach(std::move(node));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (skipped_depth_ > 0) return;
    YamlNode node = YamlNode::Scalar(value, tag == "!");
    node.at = places_->At(mark);
    RefuseAnchor(node.at, anchor);
    RefuseTag(node.at, tag);
    if (node.quoted && !IsClosed(places_->TextFrom(mark))) {
      faults_->Add(node.at, "a quote that is not closed");
    }
    Attach(std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Sequence(), mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Map(), mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    YamlNode node;
    bool value_follows = false;  // of a mapping: its key has been read
    bool drop_value = false;     // its key was refused
    YamlKey key;
    std::unordered_map<std::string, Position> seen;
  };

  void RefuseAnchor(Position at, YAML::anchor_t anchor) {
    if (anchor != 0) faults_->Add(at, "anchors (&name) are not supported; write the value out");
  }

  void RefuseTag(Position at, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    faults_->Add(at, fmt::format("tags ('{}') are not supported", tag));
  }

  void Open(YamlNode node, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (skipped_depth_ > 0 || static_cast<int>(stack_.size()) >= kMaxSpecDepth) {
      if (skipped_depth_++ == 0) {
        faults_->Add(places_->At(mark), fmt::format("nested more than {} deep", kMaxSpecDepth));
      }
      return;
    }
    node.at = places_->At(mark);
    RefuseAnchor(node.at, anchor);
    RefuseTag(node.at, tag);
    stack_.push_back({std::move(node), false, false, {}, {}});
  }

  void Close() {
    if (skipped_depth_ > 0) {
      if (--skipped_depth_ == 0) Attach(YamlNode());
      return;
    }
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    Attach(std::move(node));
  }

  void Attach(YamlNode node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    const bool is_map = frame.node.kind == YamlNode::Kind::kMap;
    if (is_map && !frame.value_follows) {
      TakeKey(std::move(node), &frame);
      return;
    }
    frame.value_follows = false;
    if (frame.drop_value) return;
    // The parser reports the place of an empty value as that of the next token.
    if (node.kind == YamlNode::Kind::kNull) node.at = is_map ? frame.key.at : frame.node.at;
    if (is_map) frame.node.keys.push_back(std::move(frame.key));
    frame.node.items.push_back(std::move(node));
  }

  void TakeKey(YamlNode node, Frame* frame) {
    frame->value_follows = true;
    frame->drop_value = true;
    if (node.kind != YamlNode::Kind::kScalar) {
      faults_->Add(node.at, "a key must be a text");
      return;
    }
    if (node.scalar == "<<" && !node.quoted) {
      faults_->Add(node.at, "merge keys (<<) are not supported; write the keys out");
      return;
    }
    const auto [first, is_new] = frame->seen.emplace(node.scalar, node.at);
    if (!is_new) {
      faults_->Add(node.at, fmt::format("duplicate key '{}'; it stands at {}:{} too", node.scalar,
                                        first->second.line, first->second.column));
      return;
    }
    frame->key = {std::move(node.scalar), node.at};
    frame->drop_value = false;
  }

  PlaceFinder* places_;
  FaultList* faults_;
  YamlNode root_;
  std::vector<Frame> stack_;
  int skipped_depth_ = 0;  // containers open below the deepest level that is kept
};

// A second document, to be refused; what it holds does not matter.
class IgnoringHandler final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

  YAML::Mark start;
};

}  // namespace

YamlNode YamlNode::OfKind(Kind kind) {
  YamlNode node;
  node.kind = kind;
  return node;
}

YamlNode YamlNode::Scalar(std::string text, bool quoted) {
  YamlNode node = OfKind(Kind::kScalar);
  node.scalar = std::move(text);
  node.quoted = quoted;
  return node;
}

void YamlNode::AddPair(std::string_view key, YamlNode value) {
  keys.push_back({std::string(key), {}});
  items.push_back(std::move(value));
}

bool ReadYaml(std::string_view text, FaultList* faults, YamlNode* root) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!CheckText(text, faults)) return false;
  PlaceFinder places(text);
  TreeBuilder builder(&places, faults);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    IgnoringHandler second;
    if (parser.HandleNextDocument(second)) {
      faults->Add(places.At(second.start), "a second document; a spec is one");
    }
  } catch (const YAML::Exception& error) {
    faults->Add(places.At(error.mark), SyntaxError(error.msg));
    return false;
  }
  *root = builder.TakeRoot();
  return true;
}

}  // namespace cavalry::spec
