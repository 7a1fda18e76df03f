// Codecs and routing of a memcached target: a connection to each server, items spread by ketama.
#pragma once

#include <memory>
#include <vector>

#include "drivers/core/codec.h"
#include "drivers/core/tls_codec.h"
#include "drivers/memcached/options.h"
#include "drivers/memcached/requests.h"

namespace cavalry::drivers::memcached {

class MemcachedFactory final : public CodecFactory {
 public:
  // `tls`: null for none.
  MemcachedFactory(Options options, std::vector<PlanRequest> requests,
                   std::shared_ptr<const TlsContext> tls)
      : options_(std::move(options)), requests_(std::move(requests)), tls_(std::move(tls)) {}

  const std::vector<Endpoint>& endpoints() const override { return options_.servers; }
  std::vector<std::size_t> EndpointsOf(const OperationPlan& plan) const override;
  std::unique_ptr<Router> NewRouter() const override;
  std::unique_ptr<Codec> NewCodec(std::size_t endpoint) const override;

 private:
  const Options options_;
  const std::vector<PlanRequest> requests_;
  const std::shared_ptr<const TlsContext> tls_;
};

}  // namespace cavalry::drivers::memcached
