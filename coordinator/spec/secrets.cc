#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "coordinator/spec/fault_list.h"
#include "coordinator/spec/schema.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/unique_fd.h"

namespace cavalry::spec {
namespace {

constexpr std::size_t kMaxSecretBytes = 64 * 1024;
constexpr std::string_view kHidden = "***";

StatusOr<std::string> ReadSecretFile(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, path);
  std::string text(kMaxSecretBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, path);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > kMaxSecretBytes) {
    return InvalidArgument("{}: larger than {} KiB, which no secret is", path,
                           kMaxSecretBytes / 1024);
  }
  text.resize(size);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// Errors name the source, never what it holds.
Status Resolve(v1::SecretText* secret) {
  switch (secret->source_case()) {
    case v1::SecretText::kEnv: {
      const char* text = std::getenv(secret->env().c_str());
      if (text == nullptr) {
        return InvalidArgument("environment variable {} is not set", secret->env());
      }
      secret->set_value(text);
      return absl::OkStatus();
    }
    case v1::SecretText::kFile: {
      CAVALRY_ASSIGN_OR_RETURN(std::string text, ReadSecretFile(secret->file()));
      secret->set_value(std::move(text));
      return absl::OkStatus();
    }
    case v1::SecretText::kValue:
    case v1::SecretText::kFrom:
    case v1::SecretText::SOURCE_NOT_SET:
      break;
  }
  return absl::OkStatus();
}

// The message as SecretText; null if it is another.
v1::SecretText* AsSecret(Message* message) {
  return message->GetDescriptor() == v1::SecretText::descriptor()
             ? static_cast<v1::SecretText*>(message)
             : nullptr;
}

}  // namespace

Status ResolveSecrets(SpecDocument* document) {
  FaultList faults = FaultList::InFile(document->file);
  v1::Workload resolved = document->workload;
  VisitMessages(&resolved, "", [&](Message* message, const std::string& path) {
    v1::SecretText* secret = AsSecret(message);
    if (secret == nullptr) return;
    const Status status = Resolve(secret);
    if (!status.ok()) {
      faults.AddAt(document->Where(path), fmt::format("{}: {}", path, StatusText(status)));
    }
  });
  CAVALRY_RETURN_IF_ERROR(faults.ToStatus());
  document->workload = std::move(resolved);
  return absl::OkStatus();
}

v1::Workload RedactSecrets(const v1::Workload& workload) {
  v1::Workload redacted = workload;
  VisitMessages(&redacted, "", [](Message* message, const std::string&) {
    // By the option, not by the message: a secret field of any message is hidden.
    std::vector<const FieldDescriptor*> fields;
    const google::protobuf::Reflection* reflection = message->GetReflection();
    reflection->ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (!IsSecret(field) || field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
      reflection->SetString(message, field, std::string(kHidden));
    }
  });
  return redacted;
}

}  // namespace cavalry::spec
