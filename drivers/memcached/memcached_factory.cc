#include "drivers/memcached/memcached_factory.h"

#include <numeric>

#include "drivers/memcached/ketama.h"
#include "drivers/memcached/memcached_codec.h"

namespace cavalry::drivers::memcached {
namespace {

class KetamaRouter final : public Router {
 public:
  KetamaRouter(const std::vector<Endpoint>& servers, const std::vector<PlanRequest>& requests)
      : ketama_(servers), requests_(requests) {}

  std::size_t First(const Operation& operation) override {
    const PlanRequest& request = requests_[operation.plan->index];
    if (!request.key) return 0;  // natives have one server
    key_.Clear();
    std::string_view why;
    // What makes no key is refused by the codec.
    const bool made = request.key->Append(KeyOf(request, operation), key_, &why);
    return made ? ketama_.ServerOf(key_.view()) : 0;
  }

 private:
  std::span<const Value> KeyOf(const PlanRequest& request, const Operation& operation) {
    if (request.plan->kind != OperationKind::kInsert) return operation.key.values();
    parts_.clear();
    for (const std::uint32_t column : request.plan->table->key_columns) {
      for (std::size_t i = 0; i < request.plan->columns.size(); ++i) {
        if (request.plan->columns[i] == column) parts_.push_back(operation.values[i]);
      }
    }
    return parts_;
  }

  Ketama ketama_;
  const std::vector<PlanRequest>& requests_;
  ByteBuffer key_;
  std::vector<Value> parts_;
};

}  // namespace

std::vector<std::size_t> MemcachedFactory::EndpointsOf(const OperationPlan& plan) const {
  if (plan.kind == OperationKind::kNative) return {0};
  std::vector<std::size_t> all(options_.servers.size());
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

std::unique_ptr<Router> MemcachedFactory::NewRouter() const {
  return std::make_unique<KetamaRouter>(options_.servers, requests_);
}

std::unique_ptr<Codec> MemcachedFactory::NewCodec(std::size_t endpoint) const {
  const Endpoint& server = options_.servers[endpoint];
  auto codec = options_.protocol == Protocol::kBinary
                   ? NewBinaryCodec(options_, requests_, server.label)
                   : NewLineCodec(options_, requests_, server.label);
  return tls_ == nullptr ? std::move(codec) : tls_->Wrap(std::move(codec), server.host);
}

}  // namespace cavalry::drivers::memcached
