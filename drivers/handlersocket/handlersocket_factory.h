// Makes HandlerSocket codecs: reads go to the read port, writes to the write port; a port that no
// operation of the step uses is no endpoint. Made once per step and target; read by all workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "drivers/core/codec.h"
#include "drivers/handlersocket/requests.h"

namespace cavalry::drivers::handlersocket {

inline constexpr std::uint16_t kDefaultReadPort = 9998;
inline constexpr std::uint16_t kDefaultWritePort = 9999;

// A target's options with the driver's defaults.
struct Options {
  std::string host;
  std::uint16_t read_port = kDefaultReadPort;
  std::uint16_t write_port = kDefaultWritePort;
  std::string read_secret;  // empty: none is sent
  std::string write_secret;
  std::string database;
};
// Fails on a port or a secret that cannot be.
StatusOr<Options> ReadOptions(const Settings& settings);

class HandlerSocketFactory final : public CodecFactory {
 public:
  // `operations` outlives the factory and its codecs. REQUIRES: Driver::Check passed.
  HandlerSocketFactory(const Options& options, const std::vector<OperationPlan>& operations);

  const std::vector<Endpoint>& endpoints() const override { return endpoints_; }
  std::vector<std::size_t> EndpointsOf(const OperationPlan& plan) const override;
  std::unique_ptr<Router> NewRouter() const override;
  std::unique_ptr<Codec> NewCodec(std::size_t endpoint) const override;

 private:
  std::vector<Endpoint> endpoints_;
  std::vector<std::unique_ptr<EndpointRequests>> requests_;  // one per endpoint
  std::size_t write_endpoint_ = 0;                           // the read endpoint is the first
};

}  // namespace cavalry::drivers::handlersocket
