// What both loops promise: streams, watches and the alarm.
#include "agent/run/loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace cavalry::run {
namespace {

class Recorder final : public StreamHandler, public WatchHandler {
 public:
  void OnReceived(std::string_view bytes) override {
    received += bytes;
    if (on_received) on_received();
  }
  void OnSent() override { ++sent; }
  void OnLost(int error_in, std::size_t unsent_in) override {
    ++lost;
    error = error_in;
    unsent = unsent_in;
  }
  void OnEvents(short events_in) override {
    ++woken;
    events = events_in;
  }

  std::function<void()> on_received;
  std::string received;
  int sent = 0;
  int lost = 0;
  int error = 0;
  std::size_t unsent = 0;
  int woken = 0;
  short events = 0;
};

// A connected pair: ours is non-blocking, the peer's is not.
struct Pair {
  Pair() {
    std::array<int, 2> fds;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()), 0);
    ours.Reset(fds[0]);
    peer.Reset(fds[1]);
    fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  }
  void PeerSends(std::string_view bytes) {
    EXPECT_EQ(::send(peer.get(), bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
  std::string PeerReceives() {
    std::array<char, 4096> buffer;
    const ssize_t got = ::recv(peer.get(), buffer.data(), buffer.size(), 0);
    return std::string(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  }
  UniqueFd ours, peer;
};

class LoopTest : public testing::TestWithParam<LoopKind> {
 protected:
  LoopTest() {
    LoopOptions options;
    options.kind = GetParam();
    StatusOr<std::unique_ptr<Loop>> made = NewLoop(options);
    EXPECT_TRUE(made.ok()) << StatusText(made.status());
    loop_ = *std::move(made);
  }
  // Turns until it is so; a minute is for ever.
  void TurnUntil(const std::function<bool()>& so) {
    const Nanos bound = MonotonicNow() + 60 * kSecond;
    while (!so() && MonotonicNow() < bound) loop_->Turn(MonotonicNow() + 10 * kMillisecond, true);
    EXPECT_TRUE(so());
  }
  drivers::ByteBuffer Bytes(std::string_view text) {
    drivers::ByteBuffer buffer;
    buffer.Append(text);
    return buffer;
  }

  std::unique_ptr<Loop> loop_;
  Recorder recorder_;
};

TEST_P(LoopTest, MovesBytesBothWays) {
  Pair pair;
  const Loop::StreamId stream = loop_->OpenStream(std::move(pair.ours), &recorder_);
  drivers::ByteBuffer out = Bytes("ping\n");
  const bool taken = loop_->Send(stream, out, SendMode::kConfirmed);
  EXPECT_TRUE(out.empty());
  TurnUntil([&] { return taken || recorder_.sent == 1; });
  EXPECT_EQ(pair.PeerReceives(), "ping\n");
  pair.PeerSends("pong\n");
  TurnUntil([&] { return recorder_.received == "pong\n"; });
  drivers::ByteBuffer again = Bytes("silent\n");
  EXPECT_TRUE(loop_->Send(stream, again, SendMode::kSilent));
  loop_->Turn(MonotonicNow(), false);
  EXPECT_EQ(pair.PeerReceives(), "silent\n");
  EXPECT_EQ(recorder_.sent, taken ? 0 : 1);
  loop_->CloseStream(stream);
}

TEST_P(LoopTest, ALongSendWaitsForItsReaderAndStaysWhole) {
  Pair pair;
  const Loop::StreamId stream = loop_->OpenStream(std::move(pair.ours), &recorder_);
  std::string wanted;
  for (std::uint32_t i = 0; wanted.size() < 8 << 20; ++i) wanted += std::to_string(i) + ",";
  drivers::ByteBuffer out = Bytes(wanted);
  ASSERT_FALSE(loop_->Send(stream, out, SendMode::kConfirmed));
  loop_->Turn(MonotonicNow(), false);
  EXPECT_EQ(recorder_.sent, 0);
  std::string got;
  std::thread reader([&] {
    while (got.size() < wanted.size()) got += pair.PeerReceives();
  });
  TurnUntil([&] { return recorder_.sent == 1; });
  reader.join();
  EXPECT_TRUE(got == wanted);
  loop_->CloseStream(stream);
}

TEST_P(LoopTest, ALongAnswerArrivesWhole) {
  Pair pair;
  const Loop::StreamId stream = loop_->OpenStream(std::move(pair.ours), &recorder_);
  // Longer than all receive buffers together.
  std::string wanted;
  for (std::uint32_t i = 0; wanted.size() < 4 << 20; ++i) wanted += std::to_string(i) + ",";
  std::thread writer([&] { pair.PeerSends(wanted); });
  TurnUntil([&] { return recorder_.received.size() == wanted.size(); });
  writer.join();
  EXPECT_TRUE(recorder_.received == wanted);
  loop_->CloseStream(stream);
}

TEST_P(LoopTest, TellsOfTheEndAfterTheLastBytes) {
  Pair pair;
  const Loop::StreamId stream = loop_->OpenStream(std::move(pair.ours), &recorder_);
  pair.PeerSends("last words");
  pair.peer.Reset();
  TurnUntil([&] { return recorder_.lost == 1; });
  EXPECT_EQ(recorder_.received, "last words");
  EXPECT_EQ(recorder_.error, 0);
  loop_->Turn(MonotonicNow(), false);
  EXPECT_EQ(recorder_.lost, 1);
  loop_->CloseStream(stream);
}

TEST_P(LoopTest, SaysWhatOfASendWasCertainlyNotTaken) {
  Pair pair;
  const Loop::StreamId stream = loop_->OpenStream(std::move(pair.ours), &recorder_);
  pair.peer.Reset();
  drivers::ByteBuffer out = Bytes("never read\n");
  loop_->Send(stream, out, SendMode::kSilent);
  EXPECT_EQ(recorder_.lost, 0);  // never from within Send
  TurnUntil([&] { return recorder_.lost == 1; });
  // Whether the broken pipe or the end is seen first is the kernel's; only the former knows.
  if (recorder_.error != 0) {
    EXPECT_EQ(recorder_.error, EPIPE);
    EXPECT_EQ(recorder_.unsent, 11u);
  }
  loop_->CloseStream(stream);
}

TEST_P(LoopTest, WhatIsSentToAPeerThatHasJustClosedIsUnsent) {
  Pair pair;
  const Loop::StreamId stream = loop_->OpenStream(std::move(pair.ours), &recorder_);
  loop_->Turn(MonotonicNow(), false);
  drivers::ByteBuffer out = Bytes("the next request\n");
  recorder_.on_received = [&] { loop_->Send(stream, out, SendMode::kSilent); };
  pair.PeerSends("an answer\n");
  pair.peer.Reset();
  TurnUntil([&] { return recorder_.lost == 1; });
  EXPECT_EQ(recorder_.received, "an answer\n");
  EXPECT_EQ(recorder_.unsent, 17u);
  loop_->CloseStream(stream);
}

TEST_P(LoopTest, AStreamMayBeClosedWhileItReceives) {
  Pair first, second;
  Loop::StreamId stream = loop_->OpenStream(std::move(first.ours), &recorder_);
  Recorder other;
  Loop::StreamId opened = 0;
  recorder_.on_received = [&] {
    loop_->CloseStream(stream);
    opened = loop_->OpenStream(std::move(second.ours), &other);
    recorder_.on_received = nullptr;
  };
  first.PeerSends("one");
  TurnUntil([&] { return recorder_.received == "one"; });
  second.PeerSends("two");
  TurnUntil([&] { return other.received == "two"; });
  EXPECT_EQ(recorder_.received, "one");
  // The descriptor is closed: the peer sees the end.
  TurnUntil([&] {
    pollfd polled{first.peer.get(), POLLIN, 0};
    return ::poll(&polled, 1, 0) == 1;
  });
  EXPECT_EQ(first.PeerReceives(), "");
  EXPECT_EQ(recorder_.lost, 0);
  loop_->CloseStream(opened);
}

TEST_P(LoopTest, AStreamMayBeClosedInTheMiddleOfASend) {
  Pair pair;
  const Loop::StreamId stream = loop_->OpenStream(std::move(pair.ours), &recorder_);
  drivers::ByteBuffer out = Bytes(std::string(8 << 20, 'x'));
  EXPECT_FALSE(loop_->Send(stream, out, SendMode::kConfirmed));
  loop_->Turn(MonotonicNow(), false);
  loop_->CloseStream(stream);
  loop_.reset();
  EXPECT_EQ(recorder_.sent, 0);
  EXPECT_EQ(recorder_.lost, 0);
  // All that was taken, then the end.
  while (!pair.PeerReceives().empty()) {
  }
}

TEST_P(LoopTest, ManyStreamsInOneTurn) {
  std::vector<Pair> pairs(500);
  std::vector<Recorder> recorders(500);
  std::vector<Loop::StreamId> streams;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    streams.push_back(loop_->OpenStream(std::move(pairs[i].ours), &recorders[i]));
  }
  for (Pair& pair : pairs) pair.PeerSends("hello");
  TurnUntil([&] {
    for (const Recorder& recorder : recorders) {
      if (recorder.received != "hello") return false;
    }
    return true;
  });
  for (const Loop::StreamId stream : streams) loop_->CloseStream(stream);
}

TEST_P(LoopTest, AWatchWakesOncePerWait) {
  Pair pair;
  const Loop::WatchId watch = loop_->AddWatch(&recorder_);
  loop_->ArmWatch(watch, pair.ours.get(), POLLOUT, true);
  TurnUntil([&] { return recorder_.woken == 1; });
  EXPECT_EQ(recorder_.events, POLLOUT);
  char byte;
  EXPECT_LT(::recv(pair.ours.get(), &byte, 1, 0), 0);  // EAGAIN
  loop_->ArmWatch(watch, pair.ours.get(), POLLIN, false);
  loop_->Turn(MonotonicNow(), false);
  EXPECT_EQ(recorder_.woken, 1);
  pair.PeerSends("x");
  TurnUntil([&] { return recorder_.woken == 2; });
  EXPECT_EQ(recorder_.events, POLLIN);
  // Not armed: nothing is told.
  pair.PeerSends("y");
  loop_->Turn(MonotonicNow() + kMillisecond, true);
  EXPECT_EQ(recorder_.woken, 2);
  // Armed and disarmed: neither.
  loop_->ArmWatch(watch, pair.ours.get(), POLLOUT, true);
  loop_->DisarmWatch(watch);
  loop_->Turn(MonotonicNow() + kMillisecond, true);
  EXPECT_EQ(recorder_.woken, 2);
  loop_->RemoveWatch(watch);
}

TEST_P(LoopTest, AWatchEndsWithAnError) {
  Pair pair;
  const Loop::WatchId watch = loop_->AddWatch(&recorder_);
  loop_->ArmWatch(watch, pair.ours.get(), POLLIN, true);
  loop_->Turn(MonotonicNow(), false);
  pair.peer.Reset();
  TurnUntil([&] { return recorder_.woken == 1; });
  EXPECT_EQ(recorder_.events, POLLIN);
  loop_->RemoveWatch(watch);
}

TEST_P(LoopTest, AWatchedDescriptorBecomesAStream) {
  Pair pair;
  const Loop::WatchId watch = loop_->AddWatch(&recorder_);
  loop_->ArmWatch(watch, pair.ours.get(), POLLOUT, true);
  TurnUntil([&] { return recorder_.woken == 1; });
  loop_->RemoveWatch(watch);
  pair.PeerSends("early");
  Recorder handler;
  const Loop::StreamId stream = loop_->OpenStream(std::move(pair.ours), &handler);
  TurnUntil([&] { return handler.received == "early"; });
  EXPECT_EQ(recorder_.woken, 1);
  loop_->CloseStream(stream);
}

TEST_P(LoopTest, TheAlarmRingsOnTime) {
  const Nanos at = MonotonicNow() + 20 * kMillisecond;
  while (!loop_->Turn(at, true)) {
  }
  EXPECT_GE(MonotonicNow(), at);
  // One that has passed rings at once.
  while (!loop_->Turn(at, true)) {
  }
}

TEST_P(LoopTest, AnEarlierAlarmReplacesALaterOne) {
  loop_->Turn(MonotonicNow() + 60 * kSecond, false);
  const Nanos at = MonotonicNow() + 5 * kMillisecond;
  while (!loop_->Turn(at, true)) {
  }
  EXPECT_GE(MonotonicNow(), at);
  EXPECT_LT(MonotonicNow(), at + 30 * kSecond);
}

std::string NameOf(const testing::TestParamInfo<LoopKind>& kind) {
  return kind.param == LoopKind::kEpoll ? "Epoll" : "IoUring";
}

INSTANTIATE_TEST_SUITE_P(BothLoops, LoopTest, testing::Values(LoopKind::kEpoll, LoopKind::kIoUring),
                         NameOf);

}  // namespace
}  // namespace cavalry::run
