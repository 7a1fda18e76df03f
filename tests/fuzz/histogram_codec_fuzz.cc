// A histogram message of any bytes: an error, or a histogram that is read back the same.
#include <cstdint>
#include <string>

#include "core/base/check.h"
#include "core/wire/histogram_codec.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  cavalry::v1::Histogram message;
  if (!message.ParseFromArray(data, static_cast<int>(size))) return 0;
  cavalry::stats::LatencyHistogram histogram;
  if (!cavalry::wire::AddMessage(message, &histogram).ok()) {
    CAVALRY_CHECK(histogram.count() == 0);
    return 0;
  }
  CAVALRY_CHECK(histogram.count() == message.count());
  CAVALRY_CHECK(histogram.Percentile(50) >= histogram.min());
  CAVALRY_CHECK(histogram.Percentile(99) <= histogram.max());

  cavalry::v1::Histogram again;
  cavalry::wire::ToMessage(histogram, &again);
  cavalry::stats::LatencyHistogram twice;
  CAVALRY_CHECK(cavalry::wire::AddMessage(again, &twice).ok());
  CAVALRY_CHECK(cavalry::wire::EncodeCounts(twice) == again.counts());
  return 0;
}
