#include "drivers/cassandra/prepared.h"

namespace cavalry::drivers::cassandra {
namespace {

constexpr int kMaxTypeDepth = 16;
constexpr std::int32_t kGlobalTable = 1;

enum TypeCode : std::uint16_t {
  kCustom = 0x0000,
  kList = 0x0020,
  kMap = 0x0021,
  kSet = 0x0022,
  kUserType = 0x0030,
  kTuple = 0x0031,
};

}  // namespace

std::uint16_t ReadType(WireReader* reader, int depth) {
  const std::uint16_t code = reader->Short();
  if (depth > kMaxTypeDepth) {
    reader->Take(SIZE_MAX);  // fails
    return code;
  }
  switch (code) {
    case kCustom:
      reader->String();
      break;
    case kList:
    case kSet:
      ReadType(reader, depth + 1);
      break;
    case kMap:
      ReadType(reader, depth + 1);
      ReadType(reader, depth + 1);
      break;
    case kUserType: {
      reader->String();
      reader->String();
      const std::uint16_t fields = reader->Short();
      for (std::uint16_t i = 0; i < fields && reader->ok(); ++i) {
        reader->String();
        ReadType(reader, depth + 1);
      }
      break;
    }
    case kTuple: {
      const std::uint16_t parts = reader->Short();
      for (std::uint16_t i = 0; i < parts && reader->ok(); ++i) ReadType(reader, depth + 1);
      break;
    }
    default:
      break;
  }
  return code;
}

bool ReadPrepared(WireReader* reader, std::uint8_t version, Prepared* prepared) {
  prepared->id = reader->String();
  if (version >= 5) prepared->result_id = reader->String();
  prepared->type_codes.clear();
  const std::int32_t flags = reader->Int();
  const std::int32_t columns = reader->Int();
  const std::int32_t key_parts = reader->Int();
  for (std::int32_t i = 0; i < key_parts && reader->ok(); ++i) reader->Short();
  const bool global = (flags & kGlobalTable) != 0;
  if (global) {
    reader->String();
    reader->String();
  }
  for (std::int32_t i = 0; i < columns && reader->ok(); ++i) {
    if (!global) {
      reader->String();
      reader->String();
    }
    reader->String();
    prepared->type_codes.push_back(ReadType(reader));
  }
  // What the answer will look like is told again with each answer that needs it.
  return reader->ok() && !prepared->id.empty();
}

}  // namespace cavalry::drivers::cassandra
