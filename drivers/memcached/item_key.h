// What items are called: the template of the target's `key` with table and key filled in. Immutable
// after building; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"
#include "drivers/core/byte_buffer.h"
#include "drivers/core/operation.h"

namespace cavalry::drivers::memcached {

// doc/protocol.txt, "Keys": at most 250 bytes, no control character and no blank.
inline constexpr std::size_t kMaxKeyBytes = 250;
// Between the values of several key columns.
inline constexpr char kKeySeparator = ':';

// "" when the text can be part of a key, else what is wrong with it.
std::string_view KeyFault(std::string_view text);

class ItemKey {
 public:
  // Fails when the template lacks {key}, or has or makes something that no key can hold.
  static StatusOr<ItemKey> Make(std::string_view key_template, std::string_view table);

  const std::string& prefix() const { return prefix_; }
  const std::string& suffix() const { return suffix_; }

  // Appends the whole key. False: `why` says why not; nothing was appended.
  bool Append(std::span<const Value> values, ByteBuffer& out, std::string_view* why) const;
  // The key of the item that marks the table as cavalry's.
  std::string MarkKey() const { return prefix_ + "#mark" + suffix_; }
  // The part between prefix and suffix; an empty view when it is no key of this table.
  std::string_view Middle(std::string_view key) const;

 private:
  std::string prefix_;
  std::string suffix_;
};

}  // namespace cavalry::drivers::memcached
