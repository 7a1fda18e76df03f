#include "drivers/cassandra/segment.h"

#include <algorithm>

#include "drivers/cassandra/checksum.h"
#include "drivers/cassandra/compression.h"
#include "drivers/cassandra/wire.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::size_t kPlainHeader = 3;
constexpr std::size_t kLz4Header = 5;
constexpr std::size_t kCrc24Bytes = 3;
constexpr std::size_t kCrc32Bytes = 4;
constexpr int kLengthBits = 17;
constexpr std::uint64_t kLengthMask = (1U << kLengthBits) - 1;

// Least significant byte first, unlike envelopes.
void PutLittle(char* to, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i, number >>= 8) to[i] = static_cast<char>(number & 0xff);
}

std::uint64_t GetLittle(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    number = number << 8 | static_cast<std::uint8_t>(bytes[i - 1]);
  }
  return number;
}

void AppendSegment(std::string_view payload, bool self_contained, bool lz4, ByteBuffer& out) {
  const std::size_t header = lz4 ? kLz4Header : kPlainHeader;
  const std::size_t begin = out.size();
  char* const space = out.Reserve(header + kCrc24Bytes);
  if (space == nullptr) return;  // the buffer's bound: seen by the caller
  out.Commit(header + kCrc24Bytes);
  const std::size_t body = out.size();
  std::uint64_t fields = payload.size() | static_cast<std::uint64_t>(self_contained) << kLengthBits;
  if (lz4) {
    const std::size_t packed = AppendLz4(payload, out);
    const bool smaller = packed > 0 && packed < payload.size();
    if (!smaller) {
      out.Truncate(body);
      out.Append(payload);
    }
    // The plain length is 0 where nothing was compressed.
    fields = (smaller ? packed : payload.size()) |
             static_cast<std::uint64_t>(smaller ? payload.size() : 0) << kLengthBits |
             static_cast<std::uint64_t>(self_contained) << (2 * kLengthBits);
  } else {
    out.Append(payload);
  }
  if (out.overflowed()) return;
  char* const at = const_cast<char*>(out.view().data()) + begin;
  PutLittle(at, fields, header);
  PutLittle(at + header, Crc24({at, header}), kCrc24Bytes);
  const std::uint32_t crc = Crc32(out.view().substr(body));
  if (char* const end = out.Reserve(kCrc32Bytes)) {
    PutLittle(end, crc, kCrc32Bytes);
    out.Commit(kCrc32Bytes);
  }
}

std::size_t EnvelopeSize(std::string_view envelopes) {
  WireReader reader(envelopes.substr(kEnvelopeHeaderBytes - 4, 4));
  return kEnvelopeHeaderBytes + static_cast<std::uint32_t>(reader.Int());
}

}  // namespace

void AppendSegments(std::string_view envelopes, bool lz4, ByteBuffer& out) {
  while (!envelopes.empty()) {
    std::size_t whole = 0;
    while (whole < envelopes.size()) {
      const std::size_t size = EnvelopeSize(envelopes.substr(whole));
      if (whole + size > kMaxSegmentPayload) break;
      whole += size;
    }
    if (whole > 0) {
      AppendSegment(envelopes.substr(0, whole), true, lz4, out);
      envelopes.remove_prefix(whole);
      continue;
    }
    std::string_view large = envelopes.substr(0, EnvelopeSize(envelopes));
    envelopes.remove_prefix(large.size());
    while (!large.empty()) {
      const std::size_t piece = std::min(large.size(), kMaxSegmentPayload);
      AppendSegment(large.substr(0, piece), false, lz4, out);
      large.remove_prefix(piece);
    }
  }
}

Segment ReadSegment(std::string_view bytes, bool lz4, ByteBuffer& unpacked) {
  Segment segment;
  const std::size_t header = lz4 ? kLz4Header : kPlainHeader;
  if (bytes.size() < header + kCrc24Bytes) return segment;
  if (GetLittle(bytes.substr(header, kCrc24Bytes)) != Crc24(bytes.substr(0, header))) {
    segment.state = Segment::State::kDamaged;
    return segment;
  }
  const std::uint64_t fields = GetLittle(bytes.substr(0, header));
  const std::size_t length = fields & kLengthMask;
  const std::size_t plain = lz4 ? fields >> kLengthBits & kLengthMask : 0;
  segment.self_contained = (fields >> (lz4 ? 2 * kLengthBits : kLengthBits) & 1) != 0;
  const std::size_t begin = header + kCrc24Bytes;
  if (bytes.size() < begin + length + kCrc32Bytes) return segment;
  const std::string_view payload = bytes.substr(begin, length);
  segment.state = Segment::State::kDamaged;
  if (GetLittle(bytes.substr(begin + length, kCrc32Bytes)) != Crc32(payload)) return segment;
  segment.payload = payload;
  if (plain > 0) {
    unpacked.Clear();
    if (!UnpackLz4(payload, plain, unpacked)) return segment;
    segment.payload = unpacked.view();
  }
  segment.state = Segment::State::kWhole;
  segment.taken = begin + length + kCrc32Bytes;
  return segment;
}

}  // namespace cavalry::drivers::cassandra
