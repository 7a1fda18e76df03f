#include "tests/fakes/certificate.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>

#include "core/base/check.h"

namespace cavalry::fakes {
namespace {

constexpr long kDay = 24 * 3600;

template <typename Write>
std::string ToPem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  CAVALRY_CHECK(write(bio.get()) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

Certificate MakeCertificate(const std::string& host) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509* const x509 = certificate.get();
  X509_set_version(x509, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
  X509_gmtime_adj(X509_getm_notBefore(x509), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(x509), kDay);
  X509_set_pubkey(x509, key.get());
  X509_NAME* const name = X509_get_subject_name(x509);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(host.c_str()), -1, -1, 0);
  X509_set_issuer_name(x509, name);
  const bool address = host.find_first_not_of("0123456789.") == std::string::npos;
  const std::string alternative = (address ? "IP:" : "DNS:") + host;
  for (const auto& [nid, value] : {std::pair<int, std::string>{NID_subject_alt_name, alternative},
                                   {NID_basic_constraints, "CA:TRUE"}}) {
    const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str()), X509_EXTENSION_free);
    CAVALRY_CHECK(extension != nullptr && X509_add_ext(x509, extension.get(), -1) == 1);
  }
  CAVALRY_CHECK(X509_sign(x509, key.get(), EVP_sha256()) > 0);
  Certificate result;
  result.certificate_pem = ToPem([&](BIO* bio) { return PEM_write_bio_X509(bio, x509); });
  result.key_pem = ToPem([&](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  });
  return result;
}

}  // namespace cavalry::fakes
