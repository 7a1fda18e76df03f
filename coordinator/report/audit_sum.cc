#include "coordinator/report/audit_sum.h"

#include <cstddef>
#include <string>

namespace cavalry::report {
namespace {

constexpr int kMaxSamples = 64;
constexpr std::size_t kMaxSampleBytes = 256;

}  // namespace

void AddAudit(const v1::AuditResult& from, std::optional<v1::AuditResult>* to) {
  if (!*to) to->emplace();
  v1::AuditResult& sum = **to;
  sum.set_acknowledged(sum.acknowledged() + from.acknowledged());
  sum.set_lost(sum.lost() + from.lost());
  sum.set_stale(sum.stale() + from.stale());
  sum.set_unexpected(sum.unexpected() + from.unexpected());
  sum.set_wrong(sum.wrong() + from.wrong());
  sum.set_unknown(sum.unknown() + from.unknown());
  sum.set_unaudited(sum.unaudited() + from.unaudited());
  for (const std::string& sample : from.samples()) {
    if (sum.samples_size() >= kMaxSamples) break;
    sum.add_samples(sample.substr(0, kMaxSampleBytes));
  }
}

}  // namespace cavalry::report
