// A spec of any bytes: errors, or a workload that is written and read back to the same.
#include <cstdint>
#include <string>

#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"
#include "core/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cavalry;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const StatusOr<spec::SpecDocument> document = spec::ParseSpec(text, "fuzz.yaml");
  if (!document.ok()) {
    CAVALRY_CHECK(StatusText(document.status()).starts_with("fuzz.yaml:"));
    return 0;
  }
  if (!spec::CheckSpec(*document).ok()) return 0;
  const std::string written = spec::WriteSpec(document->workload);
  const StatusOr<spec::SpecDocument> again = spec::ParseSpec(written, "written.yaml");
  CAVALRY_CHECK(again.ok());
  CAVALRY_CHECK(again->workload.SerializeAsString() ==
                spec::RedactSecrets(document->workload).SerializeAsString());
  return 0;
}
