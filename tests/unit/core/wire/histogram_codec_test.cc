#include "core/wire/histogram_codec.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace cavalry::wire {
namespace {

using stats::IntervalHistogram;
using stats::LatencyHistogram;

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    int byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes;
}

v1::Histogram MessageOf(const LatencyHistogram& histogram) {
  v1::Histogram message;
  ToMessage(histogram, &message);
  return message;
}

// A message of one bucket with these count bytes, all else fitting `count` samples of 1 ns.
v1::Histogram MessageOfBytes(std::string_view hex, std::uint64_t count) {
  v1::Histogram message;
  message.set_counts(FromHex(hex));
  message.set_count(count);
  message.set_min_ns(1);
  message.set_max_ns(1);
  message.set_sum_ns(count);
  message.set_sum_squares(static_cast<double>(count));
  return message;
}

Status CheckMessage(const v1::Histogram& message) {
  LatencyHistogram histogram;
  return AddMessage(message, &histogram);
}

void ExpectSame(const LatencyHistogram& a, const LatencyHistogram& b) {
  EXPECT_EQ(a.count(), b.count());
  EXPECT_EQ(a.min(), b.min());
  EXPECT_EQ(a.max(), b.max());
  EXPECT_EQ(a.sum(), b.sum());
  EXPECT_DOUBLE_EQ(a.sum_squares(), b.sum_squares());
  EXPECT_EQ(a.beyond(), b.beyond());
  for (std::size_t i = 0; i < stats::kHistogramCounts; ++i) {
    ASSERT_EQ(a.count_at(i), b.count_at(i)) << i;
  }
}

LatencyHistogram Lognormal(int samples, unsigned seed) {
  std::mt19937_64 random(seed);
  std::lognormal_distribution<double> latencies(11, 1);
  LatencyHistogram histogram;
  for (int i = 0; i < samples; ++i) histogram.Record(static_cast<Nanos>(latencies(random)));
  return histogram;
}

TEST(HistogramCodecTest, PayloadsAreThoseOfHdrHistogram) {
  std::ifstream file(CAVALRY_SOURCE_DIR "/tests/unit/core/vectors/hdr_payloads.txt");
  int vectors = 0;
  for (std::string line; std::getline(file, line); ++vectors) {
    std::istringstream words(line);
    std::string name, hex, sample;
    words >> name >> hex;
    LatencyHistogram histogram, part;
    while (words >> sample) {
      std::uint64_t value = 0, count = 0;
      ASSERT_EQ(std::sscanf(sample.c_str(), "%lu*%lu", &value, &count), 2);
      part.Clear();
      part.AddAtIndex(stats::HistogramIndex(value), count);
      const auto nanos = static_cast<Nanos>(value);
      part.SetExact(
          nanos, nanos, value * count,
          static_cast<double>(value) * static_cast<double>(value) * static_cast<double>(count));
      histogram.Add(part);
    }
    const std::string payload = FromHex(hex);
    EXPECT_EQ(EncodeCounts(histogram), payload) << name;
    LatencyHistogram decoded;
    const Status status = AddMessage(MessageOf(histogram), &decoded);
    EXPECT_TRUE(status.ok()) << name << ": " << StatusText(status);
    ExpectSame(decoded, histogram);
  }
  EXPECT_EQ(vectors, 8);
}

TEST(HistogramCodecTest, BothSidesOfAnIntervalEncodeAlike) {
  IntervalHistogram interval;
  LatencyHistogram merged;
  for (int i = 0; i < 1'000; ++i) interval.Record(1'000 + i * i);
  merged.Add(interval);
  EXPECT_EQ(EncodeCounts(interval), EncodeCounts(merged));
  v1::Histogram message;
  ToMessage(interval, &message);
  LatencyHistogram decoded;
  ASSERT_TRUE(AddMessage(message, &decoded).ok());
  ExpectSame(decoded, merged);
}

TEST(HistogramCodecTest, EmptyIsNoBytes) {
  EXPECT_EQ(EncodeCounts(LatencyHistogram()), "");
  EXPECT_EQ(MessageOf(LatencyHistogram()).ByteSizeLong(), 0u);
  LatencyHistogram decoded;
  EXPECT_TRUE(AddMessage(v1::Histogram(), &decoded).ok());
  EXPECT_EQ(decoded.count(), 0u);
}

TEST(HistogramCodecTest, SamplesBeyondTheRangeTravel) {
  LatencyHistogram histogram;
  histogram.Record(5);
  histogram.Record(stats::kHighestTrackable + 1);
  histogram.Record(7 * stats::kHighestTrackable);
  LatencyHistogram decoded;
  const Status status = AddMessage(MessageOf(histogram), &decoded);
  ASSERT_TRUE(status.ok()) << StatusText(status);
  ExpectSame(decoded, histogram);
  EXPECT_EQ(decoded.beyond(), 2u);
}

TEST(HistogramCodecTest, AddsToWhatIsThere) {
  LatencyHistogram a = Lognormal(500, 1);
  const LatencyHistogram b = Lognormal(700, 2);
  LatencyHistogram decoded;
  ASSERT_TRUE(AddMessage(MessageOf(a), &decoded).ok());
  ASSERT_TRUE(AddMessage(MessageOf(b), &decoded).ok());
  ASSERT_TRUE(AddMessage(v1::Histogram(), &decoded).ok());
  a.Add(b);
  ExpectSame(decoded, a);
}

// One agent saw only fast answers, the other one of 30 s: HdrHistogram #47.
TEST(HistogramCodecTest, MergesUnlikeRanges) {
  LatencyHistogram fast, slow, decoded;
  for (int i = 0; i < 100; ++i) fast.Record(50 * kMicrosecond);
  slow.Record(30 * kSecond);
  ASSERT_TRUE(AddMessage(MessageOf(fast), &decoded).ok());
  ASSERT_TRUE(AddMessage(MessageOf(slow), &decoded).ok());
  EXPECT_EQ(decoded.count(), 101u);
  EXPECT_EQ(decoded.max(), 30 * kSecond);
}

TEST(HistogramDecoderTest, ReadsBothFormsOfASingleZero) {
  EXPECT_TRUE(CheckMessage(MessageOfBytes("0102", 1)).ok());  // -1, 1
  EXPECT_TRUE(CheckMessage(MessageOfBytes("0002", 1)).ok());  // 0, 1
}

TEST(HistogramDecoderTest, RefusesBadBytes) {
  struct Case {
    std::string_view what, hex;
    std::uint64_t count;
  };
  for (const Case& c : {
           Case{"cut short", "0182", 1},
           Case{"longer than need be", "018200", 1},
           Case{"count of 2^62, of nine bytes", "01808080808080808080", 1ULL << 62},
           Case{"count of 2^55, of nine bytes", "01808080808080808001", 1ULL << 55},
           Case{"the largest negative", "ffffffffffffffffff", 1},
           Case{"a run one too long", "8190040102", 1},
           Case{"only zeros", "03", 0},
           Case{"value 0", "02", 1},
           Case{"counts that pass 2^64", "01feffffffffffffffff01feffffffffffffffff", 1},
       }) {
    const Status status = CheckMessage(MessageOfBytes(c.hex, c.count));
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << c.what;
  }
  // 2^53 samples are taken, one more is not.
  EXPECT_TRUE(CheckMessage(MessageOfBytes("018080808080808020", 1ULL << 53)).ok());
  EXPECT_FALSE(CheckMessage(MessageOfBytes("018280808080808020", (1ULL << 53) + 1)).ok());
}

TEST(HistogramDecoderTest, RefusesBucketsThatNoSampleCanBeIn) {
  LatencyHistogram histogram;
  // Between one hour and the top bucket.
  const std::size_t index = stats::HistogramBucketOf(stats::kHighestTrackable) + 1;
  histogram.AddAtIndex(index, 1);
  v1::Histogram message = MessageOf(histogram);
  EXPECT_FALSE(CheckMessage(message).ok());
}

TEST(HistogramDecoderTest, RefusesFiguresThatDoNotFitTheBuckets) {
  LatencyHistogram histogram = Lognormal(1'000, 3);
  const v1::Histogram good = MessageOf(histogram);
  ASSERT_TRUE(CheckMessage(good).ok());
  const auto refused = [&good](auto change) {
    v1::Histogram message = good;
    change(&message);
    LatencyHistogram untouched;
    untouched.Record(77);
    const Status status = AddMessage(message, &untouched);
    return status.code() == absl::StatusCode::kDataLoss && untouched.count() == 1 &&
           untouched.sum() == 77;
  };
  EXPECT_TRUE(refused([&](auto* m) { m->set_count(good.count() + 1); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_count(0); }));
  EXPECT_TRUE(refused([&](auto* m) { m->clear_counts(); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_min_ns(0); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_min_ns(good.min_ns() * 2); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_min_ns(good.max_ns() + 1); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_max_ns(good.max_ns() * 2); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_max_ns(~0ULL); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_sum_ns(good.sum_ns() * 2); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_sum_ns(good.sum_ns() / 2); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_sum_ns(~0ULL); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_sum_squares(good.sum_squares() * 2); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_sum_squares(-1); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_sum_squares(std::nan("")); }));
  EXPECT_TRUE(refused([&](auto* m) { m->set_beyond(1); }));
  v1::Histogram only_figures;
  only_figures.set_sum_ns(1);
  EXPECT_FALSE(CheckMessage(only_figures).ok());
}

TEST(HistogramDecoderTest, RefusesWhatDoesNotFitIntoTheTotal) {
  LatencyHistogram total;
  ASSERT_TRUE(AddMessage(MessageOfBytes("018080808080808020", 1ULL << 53), &total).ok());
  EXPECT_FALSE(AddMessage(MessageOfBytes("0102", 1), &total).ok());
  EXPECT_EQ(total.count(), 1ULL << 53);
  LatencyHistogram sums;
  for (int i = 0; i < 2; ++i) sums.Record(std::numeric_limits<Nanos>::max());
  LatencyHistogram more;
  more.Record(100);
  EXPECT_FALSE(AddMessage(MessageOf(more), &sums).ok());
  EXPECT_EQ(sums.count(), 2u);
}

TEST(HistogramDecoderTest, EveryTruncationIsRefused) {
  const v1::Histogram good = MessageOf(Lognormal(2'000, 4));
  LatencyHistogram decoded;
  for (std::size_t size = 0; size < good.counts().size(); ++size) {
    v1::Histogram message = good;
    message.set_counts(good.counts().substr(0, size));
    ASSERT_FALSE(AddMessage(message, &decoded).ok()) << size;
  }
}

// A flipped bit of the counts can make another valid histogram of as many samples only by moving
// some within the outer buckets, which the sum may not show. What is taken must agree with itself.
TEST(HistogramDecoderTest, FlippedBitsGiveAnErrorOrAConsistentHistogram) {
  const v1::Histogram good = MessageOf(Lognormal(300, 5));
  LatencyHistogram decoded;
  int refused = 0;
  const std::size_t bits = good.counts().size() * 8;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    v1::Histogram message = good;
    (*message.mutable_counts())[bit / 8] =
        static_cast<char>(good.counts()[bit / 8] ^ (1 << (bit % 8)));
    decoded.Clear();
    if (!AddMessage(message, &decoded).ok()) {
      ++refused;
      EXPECT_EQ(decoded.count(), 0u);
      continue;
    }
    EXPECT_EQ(decoded.count(), good.count());
    EXPECT_EQ(EncodeCounts(decoded).empty(), false);
  }
  EXPECT_GT(refused * 100, static_cast<int>(bits) * 95);
}

TEST(HistogramDecoderTest, AnyBytesGiveAnErrorOrAConsistentHistogram) {
  std::mt19937 random(6);
  LatencyHistogram decoded, again;
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    v1::Histogram message;
    std::string bytes(1 + random() % 3, '\0');
    // Small numbers, and figures near what they stand for, so that some are taken.
    for (char& byte : bytes) byte = static_cast<char>(random() % 16 == 0 ? random() : random() % 5);
    message.set_counts(bytes);
    message.set_count(random() % 4);
    message.set_min_ns(random() % 4);
    message.set_max_ns(message.min_ns() + random() % 3);
    message.set_sum_ns(message.min_ns() * message.count() + random() % 3);
    message.set_sum_squares(static_cast<double>(message.min_ns() * message.sum_ns()));
    decoded.Clear();
    if (!AddMessage(message, &decoded).ok()) continue;
    ++taken;
    EXPECT_EQ(decoded.count(), message.count());
    again.Clear();
    ASSERT_TRUE(AddMessage(MessageOf(decoded), &again).ok());
    EXPECT_EQ(EncodeCounts(again), EncodeCounts(decoded));
  }
  EXPECT_GT(taken, 10);
}

}  // namespace
}  // namespace cavalry::wire
