#include "drivers/cassandra/cassandra_router.h"

#include <algorithm>

#include "drivers/cassandra/murmur3.h"
#include "drivers/cassandra/value_format.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::size_t kLengthBytes = 4;

}  // namespace

CassandraRouter::CassandraRouter(const std::vector<StatementPlan>& statements,
                                 const TokenRing* ring, std::size_t endpoints, std::size_t first)
    : statements_(statements),
      ring_(ring),
      endpoints_(endpoints),
      turns_(statements.size(), first) {}

// False: a part that is null or cannot be sent; the codec then says why.
bool CassandraRouter::ReadKey(const StatementPlan& plan, const Operation& operation) {
  key_.Clear();
  for (const std::uint32_t which : plan.routing) {
    if (which >= plan.parameters.size()) return false;
    const Parameter& parameter = plan.parameters[which];
    if (parameter.source == Parameter::Source::kFixed) return false;
    const std::span<const Value> values =
        parameter.source == Parameter::Source::kKey ? operation.key.values() : operation.values;
    if (parameter.index >= values.size()) return false;
    const Value& value = values[parameter.index];
    std::string_view why;
    value_.Clear();
    if (value.kind == Value::Kind::kNull) return false;
    if (!AppendValue(parameter.type, value, value_, &why)) return false;
    if (value_.size() < kLengthBytes) return false;
    const std::string_view part = value_.view().substr(kLengthBytes);
    if (plan.routing.size() == 1) {
      key_.Append(part);
    } else if (!AppendKeyPart(part, key_)) {
      return false;
    }
  }
  return true;
}

std::span<const std::uint32_t> CassandraRouter::ReplicasOf(const Operation& operation) {
  const StatementPlan& plan = statements_[operation.plan->index];
  if (ring_ == nullptr || plan.routing.empty() || !ReadKey(plan, operation)) return {};
  return ring_->ReplicasOf(Murmur3Token(key_.view()));
}

std::size_t CassandraRouter::First(const Operation& operation) {
  replicas_ = ReplicasOf(operation);
  begin_ = turns_[operation.plan->index]++;
  given_ = 0;
  tried_ = 0;
  return Next();
}

std::size_t CassandraRouter::Next() {
  if (given_ < replicas_.size()) return replicas_[(begin_ + given_++) % replicas_.size()];
  while (tried_ < endpoints_) {
    const std::size_t endpoint = (begin_ + tried_++) % endpoints_;
    const bool was_given =
        std::find(replicas_.begin(), replicas_.end(), endpoint) != replicas_.end();
    if (!was_given) return endpoint;
  }
  return kNone;
}

}  // namespace cavalry::drivers::cassandra
