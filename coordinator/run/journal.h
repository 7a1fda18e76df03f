// The append-only file of a run: every event that the report is made of, checksummed, so that a
// report can be rebuilt after a crash. Record: u32 length, u32 CRC-32 of the payload (both
// little-endian), payload = JournalEntry. File head: "cavalry journal 1\n". One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "cavalry/v1/results.pb.h"
#include "core/base/status.h"
#include "core/base/unique_fd.h"

namespace cavalry::run {

inline constexpr std::size_t kMaxJournalRecordBytes = 64 * 1024 * 1024;

class Journal {
 public:
  // Creates `path`; an existing file is an error.
  static StatusOr<Journal> Create(const std::string& path);

  // Appends and flushes to the operating system. An error (disk full) names the file; the journal
  // can still be read up to the last whole record.
  Status Append(const v1::JournalEntry& entry);

 private:
  explicit Journal(UniqueFd file, std::string path);
  UniqueFd file_;
  std::string path_;
  std::uint64_t whole_bytes_ = 0;  // length of the file up to the last whole record
  std::uint64_t records_ = 0;
};

struct JournalReadResult {
  std::uint64_t entries = 0;
  bool torn = false;  // the last record was incomplete or damaged, and is left out
};

// Calls `visit` for each entry in order. A torn tail is no error; damage before it is.
StatusOr<JournalReadResult> ReadJournal(
    const std::string& path, const std::function<Status(const v1::JournalEntry&)>& visit);

}  // namespace cavalry::run
