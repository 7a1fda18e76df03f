// A spec as read: the workload message, and for each of its values where it stands in the YAML
// text, so that every later check can name file:line:column. Plain data; one thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "cavalry/v1/workload.pb.h"
#include "core/base/status.h"

namespace cavalry::spec {

struct Position {
  int line = 0;    // from 1; 0: not in the file (a default, or --set)
  int column = 0;  // from 1
};

struct SpecDocument {
  std::string file;  // as given
  std::string text;  // the YAML as read
  v1::Workload workload;
  // Dotted path ("operations.find.read.table", "targets.sql.mysql.port", "thresholds[0]") -> the
  // place of its key. Keyed lists use the key, others the index.
  std::map<std::string, Position, std::less<>> positions;

  // "file:line:column" of the path, or of its nearest parent that has a place; "--set path" for a
  // value that --set gave.
  std::string Where(std::string_view path) const;
};

}  // namespace cavalry::spec
