#include "coordinator/run/journal.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace cavalry::run {
namespace {

constexpr std::size_t kHeadBytes = 18;  // "cavalry journal 1\n"

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = testing::TempDir() + "/journal_" + info->name() + "_" + std::to_string(getpid());
    std::filesystem::create_directories(directory_);
    path_ = directory_ + "/journal";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static v1::JournalEntry Entry(std::uint64_t step, std::size_t text_bytes = 10) {
    v1::JournalEntry entry;
    entry.mutable_warning()->set_step_id(step);
    entry.mutable_warning()->set_text(std::string(text_bytes, 'x'));
    return entry;
  }

  void WriteEntries(int count) {
    auto journal = Journal::Create(path_);
    ASSERT_TRUE(journal.ok()) << StatusText(journal.status());
    for (int i = 1; i <= count; ++i) {
      ASSERT_TRUE(journal->Append(Entry(static_cast<std::uint64_t>(i))).ok());
    }
  }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }
  void SetBytes(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
  }

  // Step ids read before the end or an error.
  StatusOr<JournalReadResult> Read() {
    read_.clear();
    return ReadJournal(path_, [this](const v1::JournalEntry& entry) {
      read_.push_back(entry.warning().step_id());
      return Status();
    });
  }

  std::string directory_;
  std::string path_;
  std::vector<std::uint64_t> read_;
};

TEST_F(JournalTest, ReadsWhatWasWritten) {
  WriteEntries(3);
  const auto result = Read();
  ASSERT_TRUE(result.ok()) << StatusText(result.status());
  EXPECT_EQ(result->entries, 3u);
  EXPECT_FALSE(result->torn);
  EXPECT_EQ(read_, (std::vector<std::uint64_t>{1, 2, 3}));
}

TEST_F(JournalTest, NeverOverwritesAnotherRun) {
  WriteEntries(1);
  const auto again = Journal::Create(path_);
  ASSERT_FALSE(again.ok());
  EXPECT_NE(StatusText(again.status()).find(path_), std::string::npos);
}

TEST_F(JournalTest, ATailCutAtAnyByteIsTorn) {
  WriteEntries(3);
  const std::string whole = Bytes();
  const std::size_t record = (whole.size() - kHeadBytes) / 3;
  for (std::size_t cut = kHeadBytes; cut < whole.size(); ++cut) {
    SetBytes(whole.substr(0, cut));
    const auto result = Read();
    ASSERT_TRUE(result.ok()) << cut << ": " << StatusText(result.status());
    EXPECT_EQ(result->entries, (cut - kHeadBytes) / record) << cut;
    EXPECT_EQ(result->torn, (cut - kHeadBytes) % record != 0) << cut;
  }
}

TEST_F(JournalTest, AByteChangedAnywhereIsNeverBelieved) {
  WriteEntries(3);
  const std::string whole = Bytes();
  const std::size_t last = kHeadBytes + (whole.size() - kHeadBytes) / 3 * 2;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    SetBytes(bytes);
    const auto result = Read();
    if (at < last) {
      EXPECT_FALSE(result.ok()) << at;
    } else {
      ASSERT_TRUE(result.ok()) << at << ": " << StatusText(result.status());
      EXPECT_TRUE(result->torn) << at;
      EXPECT_EQ(read_, (std::vector<std::uint64_t>{1, 2})) << at;
    }
  }
}

TEST_F(JournalTest, ZerosAtTheEndAreATornTail) {
  WriteEntries(2);
  SetBytes(Bytes() + std::string(4096, '\0'));
  const auto result = Read();
  ASSERT_TRUE(result.ok()) << StatusText(result.status());
  EXPECT_TRUE(result->torn);
  EXPECT_EQ(result->entries, 2u);
}

TEST_F(JournalTest, AnOversizeLengthIsNotFollowed) {
  WriteEntries(2);
  std::string bytes = Bytes();
  bytes.replace(kHeadBytes, 4, "\xff\xff\xff\x7f");
  SetBytes(bytes);
  const auto result = Read();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(StatusText(result.status()).find("byte 18"), std::string::npos);
}

TEST_F(JournalTest, RefusesOtherFiles) {
  EXPECT_FALSE(Read().ok());  // absent
  for (const std::string content : {"", "cavalry", "cavalry journal 2\n",
                                    "\x7f"
                                    "ELF............."}) {
    SetBytes(content);
    const auto result = Read();
    ASSERT_FALSE(result.ok()) << content;
    EXPECT_NE(StatusText(result.status()).find(path_), std::string::npos);
  }
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(Read().ok());
}

TEST_F(JournalTest, StopsAtAnErrorOfItsVisitor) {
  WriteEntries(3);
  int seen = 0;
  const auto result = ReadJournal(path_, [&seen](const v1::JournalEntry&) {
    return ++seen == 2 ? Cancelled("enough") : Status();
  });
  EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(seen, 2);
}

TEST_F(JournalTest, RefusesARecordAboveItsBound) {
  auto journal = Journal::Create(path_);
  ASSERT_TRUE(journal.ok());
  EXPECT_FALSE(journal->Append(Entry(1, kMaxJournalRecordBytes + 1)).ok());
  EXPECT_TRUE(journal->Append(Entry(2)).ok());
  ASSERT_TRUE(Read().ok());
  EXPECT_EQ(read_, (std::vector<std::uint64_t>{2}));
}

// A limit on the size of files stands in for a full disk: write() stores a part, then fails.
TEST_F(JournalTest, AFullDiskNamesTheFileAndLeavesWholeRecords) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  auto journal = Journal::Create(path_);
  ASSERT_TRUE(journal.ok());
  ASSERT_TRUE(journal->Append(Entry(1)).ok());
  const rlimit full{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const Status refused = journal->Append(Entry(2, 1000));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);

  ASSERT_FALSE(refused.ok());
  EXPECT_NE(StatusText(refused).find(path_), std::string::npos);
  // There is room again: what follows is whole too.
  EXPECT_TRUE(journal->Append(Entry(3)).ok());
  const auto result = Read();
  ASSERT_TRUE(result.ok()) << StatusText(result.status());
  EXPECT_FALSE(result->torn);
  EXPECT_EQ(read_, (std::vector<std::uint64_t>{1, 3}));
}

TEST_F(JournalTest, AMissingFolderIsAnErrorThatNamesIt) {
  const auto journal = Journal::Create(directory_ + "/none/journal");
  ASSERT_FALSE(journal.ok());
  EXPECT_NE(StatusText(journal.status()).find("none/journal"), std::string::npos);
}

}  // namespace
}  // namespace cavalry::run
