#include "coordinator/report/results_directory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/clock.h"

namespace cavalry::report {
namespace {

constexpr std::int64_t kWall = 1'796'074'063 * kSecond;

class ResultsDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    base_ = testing::TempDir() + "/results_" + info->name() + "_" + std::to_string(getpid());
  }
  void TearDown() override { std::filesystem::remove_all(base_); }

  static std::string Content(const std::string& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
  }

  std::string base_;
};

TEST(Slug, IsShortAndPlain) {
  EXPECT_EQ(Slug("customer by key: SQL against HandlerSocket, cold"),
            "customer-by-key-sql-against");  // no half words
  EXPECT_EQ(Slug("customer by key: SQL against all of them; cold"),
            "customer-by-key-sql-against-all-of-them");
  EXPECT_EQ(Slug("customer by key: SQL against all of these cold"),
            "customer-by-key-sql-against-all-of-these");
  EXPECT_EQ(Slug(std::string(50, 'x')), std::string(40, 'x'));
  EXPECT_EQ(Slug("../../etc/passwd"), "etc-passwd");
  EXPECT_EQ(Slug("\xc3\xa9"), "run");
  EXPECT_EQ(Slug(""), "run");
}

TEST_F(ResultsDirectoryTest, IsNamedByTimeAndNameAndUnique) {
  const auto first = ResultsDirectory::Create(base_ + "/deep", "Quick start", kWall);
  ASSERT_TRUE(first.ok()) << StatusText(first.status());
  EXPECT_EQ(first->path(), base_ + "/deep/20261130-212743-quick-start");
  EXPECT_EQ(first->journal_path(), first->path() + "/journal");
  const auto second = ResultsDirectory::Create(base_ + "/deep", "Quick start", kWall);
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->path(), first->path() + "-2");
}

TEST_F(ResultsDirectoryTest, ABaseThatIsAFileIsNamed) {
  std::ofstream(base_) << "x";
  const auto directory = ResultsDirectory::Create(base_, "x", kWall);
  ASSERT_FALSE(directory.ok());
  EXPECT_NE(StatusText(directory.status()).find(base_), std::string::npos);
  EXPECT_NE(StatusText(directory.status()).find("--out"), std::string::npos);
}

TEST_F(ResultsDirectoryTest, WritesFilesWholeOrNotAtAll) {
  const auto directory = ResultsDirectory::Create(base_, "x", kWall);
  ASSERT_TRUE(directory.ok());
  ASSERT_TRUE(directory->Write("report.txt", "first").ok());
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{.rlim_cur = 10, .rlim_max = before.rlim_max};  // stands in for a full disk
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const Status refused = directory->Write("report.txt", std::string(1000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(StatusText(refused).find("report.txt"), std::string::npos);
  EXPECT_EQ(Content(directory->path() + "/report.txt"), "first");
  EXPECT_FALSE(std::filesystem::exists(directory->path() + "/report.txt.tmp"));
  ASSERT_TRUE(directory->Write("report.txt", "second").ok());
  EXPECT_EQ(Content(directory->path() + "/report.txt"), "second");
}

TEST_F(ResultsDirectoryTest, FindsTheLastRunThatHasAJournal) {
  EXPECT_FALSE(LastRun(base_).ok());
  for (const char* name : {"20260101-000000-a", "20260301-000000-c", "20260201-000000-b"}) {
    std::filesystem::create_directories(base_ + "/" + name);
  }
  EXPECT_FALSE(LastRun(base_).ok());
  for (const char* name : {"20260101-000000-a", "20260201-000000-b"}) {
    std::ofstream(base_ + "/" + name + "/journal") << "x";
  }
  const auto last = LastRun(base_);
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(*last, base_ + "/20260201-000000-b");
}

}  // namespace
}  // namespace cavalry::report
