// A codec within TLS: the peer is OpenSSL's server side over memory.
#include "drivers/core/tls_codec.h"

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "tests/fakes/certificate.h"
#include "tests/fakes/line_driver.h"

namespace cavalry::drivers {
namespace {

class TlsPeer {
 public:
  explicit TlsPeer(const fakes::Certificate& certificate)
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free), ssl_(nullptr, SSL_free) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> pem(
        BIO_new_mem_buf(certificate.certificate_pem.data(),
                        static_cast<int>(certificate.certificate_pem.size())),
        BIO_free);
    const std::unique_ptr<X509, decltype(&X509_free)> x509(
        PEM_read_bio_X509(pem.get(), nullptr, nullptr, nullptr), X509_free);
    const std::unique_ptr<BIO, decltype(&BIO_free)> key_pem(
        BIO_new_mem_buf(certificate.key_pem.data(), static_cast<int>(certificate.key_pem.size())),
        BIO_free);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        PEM_read_bio_PrivateKey(key_pem.get(), nullptr, nullptr, nullptr), EVP_PKEY_free);
    CAVALRY_CHECK(SSL_CTX_use_certificate(context_.get(), x509.get()) == 1);
    CAVALRY_CHECK(SSL_CTX_use_PrivateKey(context_.get(), key.get()) == 1);
    ssl_.reset(SSL_new(context_.get()));
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl_.get(), in_, out_);
    SSL_set_accept_state(ssl_.get());
  }

  // Takes what the client sent; gives what it is answered.
  std::string Exchange(std::string_view bytes) {
    if (!bytes.empty()) BIO_write(in_, bytes.data(), static_cast<int>(bytes.size()));
    char buffer[4096];
    for (int got; (got = SSL_read(ssl_.get(), buffer, sizeof buffer)) > 0;) {
      received_.append(buffer, static_cast<std::size_t>(got));
    }
    ERR_clear_error();
    return Pending();
  }
  std::string Send(std::string_view plain) {
    SSL_write(ssl_.get(), plain.data(), static_cast<int>(plain.size()));
    return Pending();
  }
  std::string End() {
    SSL_shutdown(ssl_.get());
    return Pending();
  }
  const std::string& received() const { return received_; }

 private:
  std::string Pending() {
    std::string bytes(BIO_ctrl_pending(out_), '\0');
    if (!bytes.empty()) BIO_read(out_, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }

  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
  std::unique_ptr<SSL, decltype(&SSL_free)> ssl_;
  BIO* in_ = nullptr;
  BIO* out_ = nullptr;
  std::string received_;
};

class TlsCodecTest : public testing::Test, private CompletionSink {
 protected:
  TlsCodecTest()
      : driver_([] {
          fakes::LineDriverOptions options;
          options.endpoints.push_back({"localhost", 1, "", "stub"});
          options.greet = true;
          return options;
        }()) {
    ClientConfig config;
    factory_ = *driver_.NewClientFactory(config);
    operation_plan_.kind = OperationKind::kRead;
    operation_.plan = &operation_plan_;
    operation_.key = Value::Integer(17);
  }

  // A codec for this host that trusts `ca` (empty: nobody in particular).
  void MakeCodec(const std::string& host, const std::string& ca_pem, bool verify = true) {
    Settings settings;
    settings.Add({"tls", "true"});
    if (!ca_pem.empty()) {
      const std::string path = testing::TempDir() + "/ca.pem";
      std::ofstream(path) << ca_pem;
      settings.Add({"tls.ca", path});
    }
    if (!verify) settings.Add({"tls.verify", "false"});
    context_ = *TlsContext::FromSettings(settings);
    auto inner = std::get<std::unique_ptr<CodecFactory>>(factory_)->NewCodec(0);
    codec_ = context_->Wrap(std::move(inner), host);
    out_.Clear();
  }

  std::string Taken() {
    codec_->EndBatch(out_);
    std::string bytes(out_.view());
    out_.Clear();
    return bytes;
  }
  ConnectionState Feed(std::string_view bytes, std::size_t piece) {
    ConnectionState state = ConnectionState::kHandshake;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      state = codec_->Feed(bytes.substr(at, piece), out_, *this);
      if (state == ConnectionState::kFailed) break;
    }
    return state;
  }
  // Bytes to and fro until neither side has any; the codec's last state.
  ConnectionState ShakeHands(TlsPeer* peer, std::size_t piece = 1 << 20) {
    ConnectionState state = codec_->Start(out_);
    for (std::string bytes = Taken(); !bytes.empty(); bytes = Taken()) {
      const std::string answer = peer->Exchange(bytes);
      if (answer.empty()) continue;
      state = Feed(answer, piece);
      if (state == ConnectionState::kFailed) break;
    }
    return state;
  }

  void OnDone(Ticket ticket, const OpResult& result) override {
    EXPECT_EQ(ticket, 3u);
    outcomes_.push_back(result.outcome);
    rows_ += result.rows;
  }

  const fakes::Certificate certificate_ = fakes::MakeCertificate("localhost");
  fakes::LineDriver driver_;
  ClientFactory factory_;
  std::shared_ptr<const TlsContext> context_;
  std::unique_ptr<Codec> codec_;
  ByteBuffer out_;
  OperationPlan operation_plan_;
  Operation operation_;
  std::vector<Outcome> outcomes_;
  std::uint32_t rows_ = 0;
};

TEST_F(TlsCodecTest, CarriesHandshakeAndOperationsCutAnywhere) {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1} << 20}) {
    TlsPeer peer(certificate_);
    MakeCodec("localhost", certificate_.certificate_pem);
    ASSERT_EQ(ShakeHands(&peer, piece), ConnectionState::kHandshake);
    EXPECT_EQ(peer.received(), "HELLO\n");
    ASSERT_EQ(Feed(peer.Send("WELCOME\n"), piece), ConnectionState::kReady);
    ASSERT_TRUE(codec_->Encode(operation_, 3, out_));
    EXPECT_TRUE(out_.empty());  // until the batch ends
    peer.Exchange(Taken());
    EXPECT_EQ(peer.received(), "HELLO\nR 17\n");
    outcomes_.clear();
    ASSERT_EQ(Feed(peer.Send("OK 5\n"), piece), ConnectionState::kReady);
    EXPECT_EQ(outcomes_, std::vector{Outcome::kOk});
  }
  EXPECT_EQ(rows_, 15u);
}

TEST_F(TlsCodecTest, ACertificateOfNobodyTrustedIsRefusedForGood) {
  TlsPeer peer(certificate_);
  MakeCodec("localhost", fakes::MakeCertificate("localhost").certificate_pem);
  ASSERT_EQ(ShakeHands(&peer), ConnectionState::kFailed);
  EXPECT_EQ(codec_->error().severity, Severity::kFatal);
  EXPECT_NE(codec_->error().text.find("certificate is not accepted for localhost: "),
            std::string_view::npos)
      << codec_->error().text;
  EXPECT_NE(codec_->error().text.find("give tls.ca"), std::string_view::npos);
}

TEST_F(TlsCodecTest, ACertificateForAnotherHostIsRefused) {
  for (const char* host : {"db.example", "127.0.0.1"}) {
    TlsPeer peer(certificate_);
    MakeCodec(host, certificate_.certificate_pem);
    ASSERT_EQ(ShakeHands(&peer), ConnectionState::kFailed) << host;
    EXPECT_NE(codec_->error().text.find("mismatch"), std::string_view::npos)
        << codec_->error().text;
  }
}

TEST_F(TlsCodecTest, AnAddressCanBeCertified) {
  const fakes::Certificate certificate = fakes::MakeCertificate("127.0.0.1");
  TlsPeer peer(certificate);
  MakeCodec("127.0.0.1", certificate.certificate_pem);
  EXPECT_EQ(ShakeHands(&peer), ConnectionState::kHandshake);
  EXPECT_EQ(peer.received(), "HELLO\n");
}

TEST_F(TlsCodecTest, VerifyFalseTakesAnyCertificate) {
  TlsPeer peer(certificate_);
  MakeCodec("db.example", "", false);
  EXPECT_EQ(ShakeHands(&peer), ConnectionState::kHandshake);
  EXPECT_EQ(peer.received(), "HELLO\n");
}

TEST_F(TlsCodecTest, APeerWithoutTlsIsNamed) {
  MakeCodec("localhost", certificate_.certificate_pem);
  ASSERT_EQ(codec_->Start(out_), ConnectionState::kHandshake);
  ASSERT_EQ(Feed("ERROR\r\nwhat was that?\r\n", 100), ConnectionState::kFailed);
  EXPECT_EQ(codec_->error().severity, Severity::kReconnect);
  EXPECT_NE(codec_->error().text.find("does it speak TLS"), std::string_view::npos);
}

TEST_F(TlsCodecTest, AnEndOfTlsAndABrokenRecordFailTheConnection) {
  for (const bool orderly : {true, false}) {
    TlsPeer peer(certificate_);
    MakeCodec("localhost", certificate_.certificate_pem);
    ShakeHands(&peer);
    ASSERT_EQ(Feed(peer.Send("WELCOME\n"), 100), ConnectionState::kReady);
    std::string bytes = orderly ? peer.End() : peer.Send("OK 1\n");
    if (!orderly) bytes[bytes.size() - 1] ^= 1;
    ASSERT_EQ(Feed(bytes, 100), ConnectionState::kFailed);
    EXPECT_EQ(codec_->error().text.substr(0, 14), orderly ? "the server end" : "broken TLS rec");
  }
}

TEST_F(TlsCodecTest, FilesThatCannotBeReadAreNamed) {
  for (const char* setting : {"tls.ca", "tls.cert", "tls.key"}) {
    Settings settings;
    settings.Add({"tls", "true"});
    settings.Add({setting, "/nonexistent.pem"});
    const auto context = TlsContext::FromSettings(settings);
    ASSERT_FALSE(context.ok());
    EXPECT_EQ(StatusText(context.status()).find(setting), 0u) << StatusText(context.status());
    EXPECT_NE(StatusText(context.status()).find("/nonexistent.pem"), std::string::npos);
  }
}

TEST_F(TlsCodecTest, NoTlsNoContext) {
  const auto context = TlsContext::FromSettings({});
  ASSERT_TRUE(context.ok());
  EXPECT_EQ(*context, nullptr);
}

}  // namespace
}  // namespace cavalry::drivers
