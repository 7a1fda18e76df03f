#include "tests/contract/drivers/back_end.h"

namespace cavalry::driver_contract {
namespace {

Settings Text() {
  Settings settings;
  settings.Add({"host", Environment("CAVALRY_MEMCACHED_HOST")});
  settings.Add({"port", Environment("CAVALRY_MEMCACHED_PORT")});
  return settings;
}
Settings Meta() { return With(Text(), "protocol", "meta"); }
Settings Binary() { return With(Text(), "protocol", "binary"); }
// Only bare digits can be added to.
Settings TextOfBytes() { return With(Text(), "value", "bytes"); }
Settings MetaOfBytes() { return With(Meta(), "value", "bytes"); }
Settings BinaryOfBytes() { return With(Binary(), "value", "bytes"); }

}  // namespace

std::vector<BackEnd> MemcachedBackEnds() {
  BackEnd text;
  text.name = "memcached_text";
  text.kind = "memcached";
  text.can.scan = false;
  text.can.native = true;
  text.can.bounds_texts = false;
  // It cannot list its items: only those of numbers 1 to n can be found again.
  text.can.drops_unnumbered = false;
  text.can.shakes_hands = false;
  text.needs = {"CAVALRY_MEMCACHED_HOST", "CAVALRY_MEMCACHED_PORT"};
  text.settings = Text;
  text.increment_settings = TextOfBytes;
  BackEnd meta = text;
  meta.name = "memcached_meta";
  meta.settings = Meta;
  meta.increment_settings = MetaOfBytes;
  BackEnd binary = text;
  binary.name = "memcached_binary";
  binary.can.native = false;
  binary.settings = Binary;
  binary.increment_settings = BinaryOfBytes;
  return {text, meta, binary};
}

}  // namespace cavalry::driver_contract
