// YAML as a plain tree with places, from yaml-cpp's events, and back to text. Only what a spec
// needs: mappings with text keys, sequences, scalars. Aliases, anchors, merge keys, tags and
// duplicate keys are refused, since a reader of the file would not see what they do. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "coordinator/spec/fault_list.h"
#include "coordinator/spec/spec_document.h"

namespace cavalry::spec {

struct YamlKey {
  std::string text;
  Position at;
};

struct YamlNode {
  enum class Kind { kNull, kScalar, kSequence, kMap };

  static YamlNode Scalar(std::string text, bool quoted);
  // A scalar that is quoted only if it must be.
  static YamlNode Text(std::string_view text);
  static YamlNode Sequence() { return OfKind(Kind::kSequence); }
  static YamlNode Map() { return OfKind(Kind::kMap); }

  void AddPair(std::string_view key, YamlNode value);

  Kind kind = Kind::kNull;
  Position at;  // kNull in a mapping: the place of its key
  std::string scalar;
  bool quoted = false;
  std::vector<YamlKey> keys;    // of a mapping, in order
  std::vector<YamlNode> items;  // of a sequence, or the values of a mapping

 private:
  static YamlNode OfKind(Kind kind);
};

// Reads one document. Returns whether `root` is usable, which it may be in spite of faults, so that
// later faults of the file can be named too. An empty document gives kNull.
bool ReadYaml(std::string_view text, FaultList* faults, YamlNode* root);

// The tree as text: one line a key on the first level and of long values, the rest in flow style.
// REQUIRES: a mapping.
std::string FormatYaml(const YamlNode& root);

// The tree on one line: "[1, 16]", "{ zipf: 0.99 }".
std::string FormatFlow(const YamlNode& node);

}  // namespace cavalry::spec
