#include "coordinator/run/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"

namespace cavalry::run {
namespace {

constexpr std::string_view kHead = "cavalry journal 1\n";
constexpr std::size_t kRecordHeadBytes = 8;

// How many bytes the search for a whole record behind a damaged one may sum, so that it ends soon
// whatever the bytes are.
constexpr std::uint64_t kMaxSearchBytes = 1ULL << 30;

std::uint32_t Crc32(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void AppendU32(std::uint32_t value, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) {
    out->push_back(static_cast<char>((value >> shift) & 0xff));
  }
}

std::uint32_t ReadU32(const char* bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

// Writes all of `bytes` or returns errno; a signal or a short write goes on where it stopped.
int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// Reads exactly `size` bytes at `offset`; the file is known to be that long.
Status ReadAt(int fd, const std::string& path, std::uint64_t offset, std::size_t size,
              std::string* out) {
  out->resize(size);
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(fd, out->data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, fmt::format("read {}", path));
    if (got == 0) return DataLoss("{}: the file became shorter while it was read", path);
    done += static_cast<std::size_t>(got);
  }
  return Status();
}

// Whether some whole record stands in `tail` behind its first byte: then what is damaged at its
// start is not the end of the file but its middle.
bool HoldsWholeRecord(std::string_view tail) {
  std::uint64_t summed = 0;
  for (std::size_t at = 1; at + kRecordHeadBytes < tail.size(); ++at) {
    const std::uint32_t length = ReadU32(tail.data() + at);
    if (length == 0 || length > tail.size() - at - kRecordHeadBytes) continue;
    summed += length;
    if (summed > kMaxSearchBytes) return true;  // too odd for a torn tail
    if (Crc32(tail.substr(at + kRecordHeadBytes, length)) == ReadU32(tail.data() + at + 4)) {
      return true;
    }
  }
  return false;
}

struct Reader {
  int fd;
  const std::string& path;
  std::uint64_t size;
  std::uint64_t offset = 0;

  // What cannot be read stands at `offset`: a torn tail, unless records follow it.
  Status TornOrDamaged(JournalReadResult* result) const {
    const std::uint64_t left = size - offset;
    // One record is the most that a crash can tear.
    if (left > kMaxJournalRecordBytes + kRecordHeadBytes) return Damaged();
    std::string tail;
    CAVALRY_RETURN_IF_ERROR(ReadAt(fd, path, offset, static_cast<std::size_t>(left), &tail));
    if (HoldsWholeRecord(tail)) return Damaged();
    result->torn = true;
    return Status();
  }

  Status Damaged() const {
    return DataLoss("{}: damaged at byte {}, and more follows it", path, offset);
  }

  // Reads one record; false at a torn tail.
  StatusOr<bool> Next(v1::JournalEntry* entry, JournalReadResult* result) {
    std::string bytes;
    const std::uint64_t left = size - offset;
    if (left < kRecordHeadBytes) {
      result->torn = true;
      return false;
    }
    CAVALRY_RETURN_IF_ERROR(ReadAt(fd, path, offset, kRecordHeadBytes, &bytes));
    const std::uint32_t length = ReadU32(bytes.data());
    const std::uint32_t crc = ReadU32(bytes.data() + 4);
    // An empty record is never written; zeros are what a crash of the machine leaves behind.
    const bool plausible = length > 0 && length <= kMaxJournalRecordBytes;
    if (!plausible || length > left - kRecordHeadBytes) {
      CAVALRY_RETURN_IF_ERROR(TornOrDamaged(result));
      return false;
    }
    CAVALRY_RETURN_IF_ERROR(ReadAt(fd, path, offset + kRecordHeadBytes, length, &bytes));
    if (Crc32(bytes) != crc || !entry->ParseFromString(bytes)) {
      CAVALRY_RETURN_IF_ERROR(TornOrDamaged(result));
      return false;
    }
    offset += kRecordHeadBytes + length;
    return true;
  }
};

}  // namespace

Journal::Journal(UniqueFd file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {}

StatusOr<Journal> Journal::Create(const std::string& path) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
  if (!file.valid()) return ErrnoStatus(errno, fmt::format("create {}", path));
  if (const int error = WriteAll(file.get(), kHead); error != 0) {
    return ErrnoStatus(error, fmt::format("write {}", path));
  }
  Journal journal(std::move(file), path);
  journal.whole_bytes_ = kHead.size();
  return journal;
}

Status Journal::Append(const v1::JournalEntry& entry) {
  std::string payload;
  CAVALRY_CHECK(entry.event_case() != v1::JournalEntry::EVENT_NOT_SET);
  if (!entry.SerializeToString(&payload) || payload.size() > kMaxJournalRecordBytes) {
    return InvalidArgument("{}: a record of {} bytes is above the bound of {}", path_,
                           entry.ByteSizeLong(), kMaxJournalRecordBytes);
  }
  std::string record;
  record.reserve(kRecordHeadBytes + payload.size());
  AppendU32(static_cast<std::uint32_t>(payload.size()), &record);
  AppendU32(Crc32(payload), &record);
  record += payload;
  if (const int error = WriteAll(file_.get(), record); error != 0) {
    // A part of a record followed by later whole ones would read as damage: take it back.
    if (::ftruncate(file_.get(), static_cast<off_t>(whole_bytes_)) != 0) {
      return ErrnoStatus(
          errno, fmt::format("write {} ({} records kept), then shorten it", path_, records_));
    }
    return ErrnoStatus(error, fmt::format("write {} ({} records kept)", path_, records_));
  }
  whole_bytes_ += record.size();
  ++records_;
  return Status();
}

StatusOr<JournalReadResult> ReadJournal(
    const std::string& path, const std::function<Status(const v1::JournalEntry&)>& visit) {
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return ErrnoStatus(errno, fmt::format("open {}", path));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return ErrnoStatus(errno, fmt::format("read {}", path));
  if (!S_ISREG(info.st_mode)) return FailedPrecondition("{}: not a file", path);

  Reader reader{file.get(), path, static_cast<std::uint64_t>(info.st_size)};
  std::string head;
  const auto head_bytes = std::min<std::uint64_t>(kHead.size(), reader.size);
  CAVALRY_RETURN_IF_ERROR(ReadAt(file.get(), path, 0, static_cast<std::size_t>(head_bytes), &head));
  if (head != kHead) return DataLoss("{}: not a cavalry journal, or of another version", path);
  reader.offset = kHead.size();

  JournalReadResult result;
  v1::JournalEntry entry;
  while (reader.offset < reader.size) {
    CAVALRY_ASSIGN_OR_RETURN(const bool whole, reader.Next(&entry, &result));
    if (!whole) break;
    CAVALRY_RETURN_IF_ERROR(visit(entry));
    ++result.entries;
  }
  return result;
}

}  // namespace cavalry::run
