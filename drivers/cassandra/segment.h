// Protocol v5's segments around envelopes: native_protocol_v5.spec, section 2. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "drivers/core/byte_buffer.h"

namespace cavalry::drivers::cassandra {

inline constexpr std::size_t kEnvelopeHeaderBytes = 9;
inline constexpr std::size_t kMaxSegmentPayload = 131'071;

// Appends whole envelopes, as many to a segment as fit; a large one is cut over several.
void AppendSegments(std::string_view envelopes, bool lz4, ByteBuffer& out);

// Reads one segment off the front of `bytes`.
struct Segment {
  enum class State : std::uint8_t { kWhole, kMore, kDamaged };
  State state = State::kMore;
  std::size_t taken = 0;  // bytes of `bytes`
  bool self_contained = false;
  std::string_view payload;  // of `bytes`, or of `unpacked`
};
// `unpacked`: cleared, and filled where the payload was compressed.
Segment ReadSegment(std::string_view bytes, bool lz4, ByteBuffer& unpacked);

}  // namespace cavalry::drivers::cassandra
