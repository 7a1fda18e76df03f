#include <gtest/gtest.h>

#include <google/protobuf/util/message_differencer.h>

#include "coordinator/spec/spec_check.h"
#include "coordinator/spec/spec_loader.h"
#include "random_message.h"
#include "spec_texts.h"

namespace cavalry::spec {
namespace {

// Writes and reads, and compares with the workload, secrets hidden.
void ExpectRoundTrip(const v1::Workload& workload, const std::string& what) {
  const std::string text = WriteSpec(workload);
  const StatusOr<SpecDocument> again = ParseSpec(text, "written.yaml");
  ASSERT_TRUE(again.ok()) << what << ": " << StatusText(again.status()) << "\n" << text;
  std::string difference;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&difference);
  EXPECT_TRUE(differencer.Compare(RedactSecrets(workload), again->workload))
      << what << ": " << difference << "\n"
      << text;
  EXPECT_EQ(WriteSpec(again->workload), text) << what;
}

TEST(RoundTrip, OfEveryConfig) {
  SetConfigEnvironment();
  for (const std::string& file : ConfigFiles()) {
    const StatusOr<SpecDocument> document = LoadSpec(file);
    ASSERT_TRUE(document.ok()) << StatusText(document.status());
    ExpectRoundTrip(document->workload, file);
    v1::Workload filled = document->workload;
    ApplyDefaults(&filled);
    ExpectRoundTrip(filled, file + " with defaults");
  }
}

TEST(RoundTrip, OfTheEmptySpec) { EXPECT_EQ(WriteSpec(v1::Workload()), "{}\n"); }

TEST(RoundTrip, OfRandomWorkloads) {
  for (std::uint64_t number = 0; number < 1'000 && !HasFailure(); ++number) {
    RandomStream random(1, 2, number);
    v1::Workload workload;
    FillRandomly(&workload, &random);
    ExpectRoundTrip(workload, fmt::format("workload {}", number));
  }
}

TEST(Configs, LoadAndPassTheCheck) {
  SetConfigEnvironment();
  EXPECT_GE(ConfigFiles().size(), 3u);
  for (const std::string& file : ConfigFiles()) {
    const StatusOr<SpecDocument> document = LoadSpec(file);
    ASSERT_TRUE(document.ok()) << StatusText(document.status());
    EXPECT_EQ(StatusText(CheckSpec(*document)), "");
  }
}

}  // namespace
}  // namespace cavalry::spec
