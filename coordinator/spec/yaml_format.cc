#include <algorithm>
#include <array>

#include "coordinator/spec/yaml_tree.h"
#include "core/base/check.h"

namespace cavalry::spec {
namespace {

// A value longer than this goes on lines of its own.
constexpr std::size_t kMaxFlowColumns = 90;
constexpr std::size_t kIndent = 2;

bool IsWordCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

// Whether every YAML reader takes the bare text for a text (or a number, which the schema decides).
bool IsPlainSafe(std::string_view text) {
  constexpr std::array<std::string_view, 9> kWords = {"null", "true", "false", "yes", "no",
                                                      "on",   "off",  "y",     "n"};
  constexpr std::string_view kInside = ".-/() ";
  const bool begins_well = !text.empty() && (IsWordCharacter(text[0]) || text[0] == '/');
  if (!begins_well || text.back() == ' ') return false;
  for (const char c : text) {
    if (!IsWordCharacter(c) && kInside.find(c) == std::string_view::npos) return false;
  }
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return std::find(kWords.begin(), kWords.end(), lower) == kWords.end();
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c == '\n') {
      quoted += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

// A bare scalar of a file may hold what would end it inside of brackets.
std::string ScalarText(const YamlNode& node) {
  const bool breaks_flow = node.scalar.find_first_of(",[]{}#:\"'\n") != std::string::npos;
  return node.quoted || breaks_flow ? Quoted(node.scalar) : node.scalar;
}

std::string KeyText(const YamlKey& key) {
  return IsPlainSafe(key.text) ? key.text : Quoted(key.text);
}

bool IsContainer(const YamlNode& node) {
  return (node.kind == YamlNode::Kind::kMap || node.kind == YamlNode::Kind::kSequence) &&
         !node.items.empty();
}

void AppendBlock(const YamlNode& node, std::size_t indent, std::string* out);

// The value after "key:" or "-": on the same line if it fits, else below.
void AppendValue(const YamlNode& value, std::size_t indent, std::string* out) {
  std::string flow = FormatFlow(value);
  if (!IsContainer(value) || indent + flow.size() <= kMaxFlowColumns) {
    *out += ' ';
    *out += flow;
    *out += '\n';
    return;
  }
  *out += '\n';
  AppendBlock(value, indent + kIndent, out);
}

void AppendBlock(const YamlNode& node, std::size_t indent, std::string* out) {
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    out->append(indent, ' ');
    if (node.kind == YamlNode::Kind::kMap) {
      *out += KeyText(node.keys[i]);
      *out += ':';
    } else {
      *out += '-';
    }
    AppendValue(node.items[i], indent, out);
  }
}

}  // namespace

YamlNode YamlNode::Text(std::string_view text) {
  return Scalar(std::string(text), !IsPlainSafe(text));
}

std::string FormatFlow(const YamlNode& node) {
  std::vector<std::string> parts;
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return "null";
    case YamlNode::Kind::kScalar:
      return ScalarText(node);
    case YamlNode::Kind::kSequence:
      for (const YamlNode& item : node.items) parts.push_back(FormatFlow(item));
      return fmt::format("[{}]", fmt::join(parts, ", "));
    case YamlNode::Kind::kMap:
      break;
  }
  if (node.items.empty()) return "{}";
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    parts.push_back(fmt::format("{}: {}", KeyText(node.keys[i]), FormatFlow(node.items[i])));
  }
  return fmt::format("{{ {} }}", fmt::join(parts, ", "));
}

std::string FormatYaml(const YamlNode& root) {
  CAVALRY_CHECK(root.kind == YamlNode::Kind::kMap);
  if (root.items.empty()) return "{}\n";
  std::string text;
  AppendBlock(root, 0, &text);
  return text;
}

}  // namespace cavalry::spec
