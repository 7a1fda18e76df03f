// Certificates for tests of TLS, made on the spot: a key and a certificate signed by itself.
#pragma once

#include <string>

namespace cavalry::fakes {

struct Certificate {
  std::string key_pem;
  std::string certificate_pem;
};

// For the DNS name or, if `host` is one, the IP address; valid from yesterday on for two days.
Certificate MakeCertificate(const std::string& host);

}  // namespace cavalry::fakes
