#include "drivers/core/tls_codec.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace cavalry::drivers {
namespace {

// The most that one record carries.
constexpr std::size_t kRecordBytes = 16 * 1024;

// The newest entry of this thread's queue of errors, which is left empty.
std::string LastError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  const char* const reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : fmt::format("error {:x}", code);
}

struct ContextFree {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  return inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

class TlsCodec final : public Codec {
 public:
  TlsCodec(SSL_CTX* context, std::unique_ptr<Codec> inner, const std::string& host, bool verify)
      : inner_(std::move(inner)), host_(host), ssl_(SSL_new(context)) {
    if (ssl_ == nullptr) return;
    received_ = BIO_new(BIO_s_mem());
    to_send_ = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl_.get(), received_, to_send_);  // which owns both
    SSL_set_connect_state(ssl_.get());
    if (IsAddress(host)) {
      if (verify) X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host.c_str());
    } else {
      SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
      if (verify) SSL_set1_host(ssl_.get(), host.c_str());
    }
  }

  ConnectionState Start(ByteBuffer& out) override {
    if (ssl_ == nullptr) return Fail(Severity::kReconnect, "cannot begin TLS: " + LastError());
    return ShakeHands(out);
  }

  bool Encode(const Operation& operation, Ticket ticket, ByteBuffer& /*out*/) override {
    // Encrypted by EndBatch, many requests in one record.
    return inner_->Encode(operation, ticket, plain_);
  }

  void EndBatch(ByteBuffer& out) override {
    if (!shaken_) return;
    inner_->EndBatch(plain_);
    while (!plain_.empty()) {
      const int wanted = static_cast<int>(std::min<std::size_t>(plain_.size(), INT_MAX));
      const int taken = SSL_write(ssl_.get(), plain_.view().data(), wanted);
      if (taken <= 0) break;  // memory alone: the next Feed reports it
      plain_.Consume(static_cast<std::size_t>(taken));
    }
    TakeEncrypted(out);
  }

  ConnectionState Feed(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) override {
    ConnectionState state = ConnectionState::kHandshake;
    while (!bytes.empty()) {
      const int wanted = static_cast<int>(std::min<std::size_t>(bytes.size(), kRecordBytes));
      const int taken = BIO_write(received_, bytes.data(), wanted);
      if (taken <= 0) return Fail(Severity::kReconnect, "out of memory for TLS");
      bytes.remove_prefix(static_cast<std::size_t>(taken));
      if (!shaken_) {
        state = ShakeHands(out);
        if (state == ConnectionState::kFailed) return state;
        if (!shaken_) continue;
      }
      state = Decrypt(sink);
      if (state == ConnectionState::kFailed) return state;
    }
    return state;
  }

  bool Forget(Ticket ticket) override { return inner_->Forget(ticket); }

  const OpResult& error() const override { return failed_ ? error_ : inner_->error(); }

 private:
  ConnectionState ShakeHands(ByteBuffer& out) {
    ERR_clear_error();
    const int done = SSL_do_handshake(ssl_.get());
    TakeEncrypted(out);
    if (done == 1) {
      shaken_ = true;
      inner_state_ = inner_->Start(plain_);
      return inner_state_;
    }
    if (SSL_get_error(ssl_.get(), done) == SSL_ERROR_WANT_READ) return ConnectionState::kHandshake;
    const long verified = SSL_get_verify_result(ssl_.get());
    if (verified != X509_V_OK) {
      return Fail(Severity::kFatal,
                  fmt::format("the server's certificate is not accepted for {}: {}; give tls.ca, "
                              "or tls: {{ verify: false }}",
                              host_, X509_verify_cert_error_string(verified)));
    }
    return Fail(
        Severity::kReconnect,
        fmt::format("no TLS with {}: {}; does it speak TLS on this port?", host_, LastError()));
  }

  // Hands the inner codec what the records received so far hold.
  ConnectionState Decrypt(CompletionSink& sink) {
    // Of the thread, not of each of ten thousand connections.
    thread_local std::array<char, kRecordBytes> record;
    ERR_clear_error();
    while (true) {
      const int got = SSL_read(ssl_.get(), record.data(), static_cast<int>(record.size()));
      if (got > 0) {
        inner_state_ = inner_->Feed({record.data(), static_cast<std::size_t>(got)}, plain_, sink);
        if (inner_state_ == ConnectionState::kFailed) return inner_state_;
        continue;
      }
      const int why = SSL_get_error(ssl_.get(), got);
      if (why == SSL_ERROR_WANT_READ) return inner_state_;
      return Fail(Severity::kReconnect, why == SSL_ERROR_ZERO_RETURN
                                            ? "the server ended TLS"
                                            : "broken TLS record: " + LastError());
    }
  }

  void TakeEncrypted(ByteBuffer& out) {
    const std::size_t pending = BIO_ctrl_pending(to_send_);
    if (pending == 0) return;
    char* const space = out.Reserve(pending);
    if (space == nullptr) return;
    const int got = BIO_read(to_send_, space, static_cast<int>(pending));
    if (got > 0) out.Commit(static_cast<std::size_t>(got));
  }

  ConnectionState Fail(Severity severity, std::string text) {
    failed_ = true;
    text_ = std::move(text);
    error_.outcome = Outcome::kBroken;
    error_.severity = severity;
    error_.outcome_unknown = true;
    error_.code = "tls";
    error_.text = text_;
    return ConnectionState::kFailed;
  }

  const std::unique_ptr<Codec> inner_;
  const std::string host_;
  const std::unique_ptr<SSL, SslFree> ssl_;
  BIO* received_ = nullptr;
  BIO* to_send_ = nullptr;
  bool shaken_ = false;
  bool failed_ = false;
  ConnectionState inner_state_ = ConnectionState::kHandshake;
  ByteBuffer plain_;  // to be encrypted
  std::string text_;
  OpResult error_;
};

class OpensslContext final : public TlsContext {
 public:
  OpensslContext(std::unique_ptr<SSL_CTX, ContextFree> context, bool verify)
      : context_(std::move(context)), verify_(verify) {}

  std::unique_ptr<Codec> Wrap(std::unique_ptr<Codec> inner,
                              const std::string& host) const override {
    return std::make_unique<TlsCodec>(context_.get(), std::move(inner), host, verify_);
  }

 private:
  const std::unique_ptr<SSL_CTX, ContextFree> context_;
  const bool verify_;
};

}  // namespace

StatusOr<std::shared_ptr<const TlsContext>> TlsContext::FromSettings(const Settings& settings) {
  if (settings.Text("tls", "false") != "true") return nullptr;
  std::unique_ptr<SSL_CTX, ContextFree> context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) return FailedPrecondition("tls: {}", LastError());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Reads as many bytes as there are at once, and a write may be cut.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE);
  const bool verify = settings.Text("tls.verify", "true") == "true";
  SSL_CTX_set_verify(context.get(), verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  const std::string ca = settings.Text("tls.ca", "");
  if (!ca.empty()) {
    if (SSL_CTX_load_verify_locations(context.get(), ca.c_str(), nullptr) != 1) {
      return InvalidArgument("tls.ca: cannot read certificates from {}: {}", ca, LastError());
    }
  } else if (verify) {
    SSL_CTX_set_default_verify_paths(context.get());
  }
  const std::string certificate = settings.Text("tls.cert", "");
  if (!certificate.empty() &&
      SSL_CTX_use_certificate_chain_file(context.get(), certificate.c_str()) != 1) {
    return InvalidArgument("tls.cert: cannot read a certificate from {}: {}", certificate,
                           LastError());
  }
  const std::string key = settings.Text("tls.key", "");
  if (!key.empty() &&
      SSL_CTX_use_PrivateKey_file(context.get(), key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return InvalidArgument("tls.key: cannot use the key in {}: {}", key, LastError());
  }
  return std::make_shared<const OpensslContext>(std::move(context), verify);
}

}  // namespace cavalry::drivers
