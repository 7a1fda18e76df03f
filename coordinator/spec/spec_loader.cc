#include "coordinator/spec/spec_loader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "coordinator/spec/message_reader.h"
#include "coordinator/spec/message_writer.h"
#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/yaml_tree.h"
#include "core/base/unique_fd.h"

namespace cavalry::spec {
namespace {

// The file's bytes, at most one more than a spec may have. An unreadable spec is wrong use (exit
// 2).
StatusOr<std::string> ReadFile(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return InvalidArgument("{}", StatusText(ErrnoStatus(errno, path)));
  std::string text(kMaxSpecBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return InvalidArgument("{}", StatusText(ErrnoStatus(errno, path)));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace

StatusOr<SpecDocument> LoadSpec(const std::string& path) {
  CAVALRY_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  CAVALRY_ASSIGN_OR_RETURN(SpecDocument document, ParseSpec(std::move(text), path));
  if (document.workload.name().empty()) {
    document.workload.set_name(std::filesystem::path(path).stem().string());
  }
  return document;
}

StatusOr<SpecDocument> ParseSpec(std::string text, std::string file_name) {
  SpecDocument document;
  document.file = std::move(file_name);
  document.text = std::move(text);
  FaultList faults = FaultList::InFile(document.file);
  YamlNode root;
  if (!ReadYaml(document.text, &faults, &root)) return faults.ToStatus();
  if (root.kind == YamlNode::Kind::kNull) {
    if (faults.empty()) faults.Add({1, 1}, "the spec is empty; it needs targets and operations");
    return faults.ToStatus();
  }
  if (root.kind != YamlNode::Kind::kMap) {
    faults.Add(root.at, "a spec is a mapping of keys such as targets, tables, operations and load");
    return faults.ToStatus();
  }
  document.positions.emplace("", root.at);
  MessageReader reader(&faults, &document.positions);
  reader.ReadMessage(root, "", &document.workload);
  CAVALRY_RETURN_IF_ERROR(faults.ToStatus());
  return document;
}

std::string WriteSpec(const v1::Workload& workload) {
  return FormatYaml(WriteMessage(RedactSecrets(workload)));
}

}  // namespace cavalry::spec
