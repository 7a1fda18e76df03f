#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"
#include "spec_texts.h"

namespace cavalry::spec {
namespace {

SpecDocument WithPassword(std::string_view password) {
  return MustParse(fmt::format("targets:\n  s: {{ mysql: {{ password: {} }} }}\n", password));
}

const v1::SecretText& PasswordOf(const SpecDocument& document) {
  return document.workload.targets(0).mysql().password();
}

// A file that is there for the length of a test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text)
      : path_(testing::TempDir() + "cavalry_secret_test") {
    FILE* file = fopen(path_.c_str(), "w");
    fwrite(text.data(), 1, text.size(), file);
    fclose(file);
  }
  ~TemporaryFile() { remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Secrets, ComeFromTheEnvironment) {
  setenv("CAVALRY_TEST_SECRET", "hunter2", 1);
  SpecDocument document = WithPassword("{ env: CAVALRY_TEST_SECRET }");
  ASSERT_TRUE(ResolveSecrets(&document).ok());
  EXPECT_EQ(PasswordOf(document).value(), "hunter2");
}

TEST(Secrets, ComeFromAFileWithoutItsLastLineFeed) {
  const TemporaryFile file("hunter2\n\n");
  SpecDocument document = WithPassword(fmt::format("{{ file: {} }}", file.path()));
  ASSERT_TRUE(ResolveSecrets(&document).ok());
  EXPECT_EQ(PasswordOf(document).value(), "hunter2\n");
}

TEST(Secrets, FromATargetStays) {
  SpecDocument document = MustParse(GoodSpec());
  ASSERT_TRUE(ResolveSecrets(&document).ok());
  EXPECT_EQ(document.workload.targets(1).handlersocket().secret().from(), "sql");
}

TEST(Secrets, ErrorsNameThePlaceAndNeverTheValue) {
  unsetenv("CAVALRY_TEST_UNSET");
  SpecDocument document = WithPassword("{ env: CAVALRY_TEST_UNSET }");
  EXPECT_EQ(StatusText(ResolveSecrets(&document)),
            "t.yaml:2:17: targets.s.mysql.password: environment variable CAVALRY_TEST_UNSET is not "
            "set");
  document = WithPassword("{ file: /nowhere/secret }");
  EXPECT_EQ(StatusText(ResolveSecrets(&document)),
            "t.yaml:2:17: targets.s.mysql.password: /nowhere/secret: No such file or directory");
  const TemporaryFile large(std::string(65'537, 'x'));
  document = WithPassword(fmt::format("{{ file: {} }}", large.path()));
  EXPECT_EQ(StatusText(ResolveSecrets(&document)),
            fmt::format("t.yaml:2:17: targets.s.mysql.password: {}: larger than 64 KiB, which no "
                        "secret is",
                        large.path()));
}

TEST(Secrets, AreHiddenInWhatIsWritten) {
  const SpecDocument document = WithPassword("hunter2");
  EXPECT_EQ(RedactSecrets(document.workload).targets(0).mysql().password().value(), "***");
  EXPECT_EQ(WriteSpec(document.workload), "targets: { s: { mysql: { password: \"***\" } } }\n");
  // Where it comes from is no secret, and is needed to run the written spec again.
  EXPECT_EQ(WriteSpec(WithPassword("{ env: BENCH_PW }").workload),
            "targets: { s: { mysql: { password: { env: BENCH_PW } } } }\n");
}

}  // namespace
}  // namespace cavalry::spec
