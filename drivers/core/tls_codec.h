// TLS for drivers of the codec model: a codec around another, which encrypts what the inner one
// sends and decrypts what it is fed, over memory alone (OpenSSL BIOs), so that any loop serves it.
// Its handshake is part of the connection's.
#pragma once

#include <memory>
#include <string>

#include "core/base/settings.h"
#include "core/base/status.h"
#include "drivers/core/codec.h"

namespace cavalry::drivers {

// What all connections of a target share. Immutable; any thread.
class TlsContext {
 public:
  // Of the settings tls.ca, tls.cert, tls.key and tls.verify. Null when the target has no tls.
  // Errors name the setting and the file.
  static StatusOr<std::shared_ptr<const TlsContext>> FromSettings(const Settings& settings);

  virtual ~TlsContext() = default;
  // `host`: the name or address that the server's certificate must be for.
  virtual std::unique_ptr<Codec> Wrap(std::unique_ptr<Codec> inner,
                                      const std::string& host) const = 0;
};

}  // namespace cavalry::drivers
