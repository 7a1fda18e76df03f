#include "drivers/core/blocking_channel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/fakes/line_driver.h"
#include "tests/fakes/line_server.h"

namespace cavalry::drivers {
namespace {

using fakes::LineReply;
using fakes::LineServer;

class BlockingChannelTest : public testing::Test {
 protected:
  static fakes::LineServerOptions Serving(
      std::function<LineReply(std::uint64_t, std::uint64_t, std::string_view)> reply) {
    fakes::LineServerOptions options;
    options.reply = std::move(reply);
    return options;
  }

  StatusOr<std::unique_ptr<BlockingChannel>> Open(std::uint16_t port, bool greet = false,
                                                  Nanos operation_timeout = 10 * kSecond) {
    fakes::LineDriverOptions options;
    options.endpoints.push_back({"127.0.0.1", port, "", "stub at work"});
    options.greet = greet;
    driver_ = std::make_unique<fakes::LineDriver>(options);
    factory_ = *driver_->NewClientFactory({});
    const auto& factory = *std::get<std::unique_ptr<CodecFactory>>(factory_);
    return BlockingChannel::Open(factory.endpoints().front(), factory.NewCodec(0), kSecond,
                                 operation_timeout);
  }

  Operation Read(std::int64_t key) {
    plan_.kind = OperationKind::kRead;
    Operation operation;
    operation.plan = &plan_;
    operation.key = Value::Integer(key);
    return operation;
  }

 private:
  std::unique_ptr<fakes::LineDriver> driver_;
  ClientFactory factory_;
  OperationPlan plan_;
};

TEST_F(BlockingChannelTest, ShakesHandsAndRunsOperations) {
  LineServer server(Serving([](std::uint64_t, std::uint64_t, std::string_view line) {
    if (line == "HELLO") return LineReply{"WELCOME\n", 0, 2};
    return LineReply{line == "R 7" ? "OK 3\n" : "MISS\n", 0, 1};
  }));
  auto channel = Open(server.port(), true);
  ASSERT_TRUE(channel.ok()) << StatusText(channel.status());
  EXPECT_EQ((*channel)->Run(Read(7)).rows, 3u);
  EXPECT_EQ((*channel)->Run(Read(8)).outcome, Outcome::kMiss);
  EXPECT_TRUE((*channel)->usable());
}

TEST_F(BlockingChannelTest, ManyAtATimeInTheOrderOfTheAnswers) {
  LineServer server(Serving([](std::uint64_t, std::uint64_t, std::string_view line) {
    return LineReply{"OK " + std::string(line.substr(2)) + "\n"};
  }));
  auto channel = Open(server.port());
  ASSERT_TRUE(channel.ok());
  std::vector<Operation> operations;
  for (int i = 0; i < 5'000; ++i) operations.push_back(Read(i));
  std::vector<std::size_t> done;
  (*channel)->RunAll(operations, 16, [&](std::size_t index, const OpResult& result) {
    EXPECT_EQ(result.rows, index);
    done.push_back(index);
  });
  ASSERT_EQ(done.size(), 5'000u);
  EXPECT_EQ(done[4'999], 4'999u);
  EXPECT_GT(server.most_lines_in_a_read(), 1u);
  EXPECT_LE(server.most_lines_in_a_read(), 16u);
}

TEST_F(BlockingChannelTest, ALostConnectionEndsEachOperationOnce) {
  LineServer server(Serving([](std::uint64_t, std::uint64_t request, std::string_view) {
    return LineReply{request < 5 ? "OK 1\n" : "", 0, 0, request == 5};
  }));
  auto channel = Open(server.port());
  ASSERT_TRUE(channel.ok());
  const std::vector<Operation> operations(20, Read(1));
  std::vector<int> by_outcome(kOutcomeCount);
  std::vector<int> ends(20);
  (*channel)->RunAll(operations, 8, [&](std::size_t index, const OpResult& result) {
    ++by_outcome[static_cast<std::size_t>(result.outcome)];
    ++ends[index];
  });
  EXPECT_EQ(ends, std::vector<int>(20, 1));
  EXPECT_EQ(by_outcome[static_cast<std::size_t>(Outcome::kOk)], 5);
  EXPECT_GE(by_outcome[static_cast<std::size_t>(Outcome::kBroken)], 1);
  EXPECT_GE(by_outcome[static_cast<std::size_t>(Outcome::kNotSent)], 1);
  EXPECT_FALSE((*channel)->usable());
  EXPECT_EQ((*channel)->Run(Read(1)).outcome, Outcome::kNotSent);
}

TEST_F(BlockingChannelTest, ASilentServerIsATimeout) {
  LineServer server(
      Serving([](std::uint64_t, std::uint64_t, std::string_view) { return LineReply{""}; }));
  auto channel = Open(server.port(), false, 20 * kMillisecond);
  ASSERT_TRUE(channel.ok());
  const OpResult result = (*channel)->Run(Read(1));
  EXPECT_EQ(result.outcome, Outcome::kTimeout);
  EXPECT_TRUE(result.outcome_unknown);
  EXPECT_FALSE((*channel)->usable());
}

TEST_F(BlockingChannelTest, AnErrorThatEndsTheConnectionIsHandedOn) {
  LineServer server(Serving([](std::uint64_t, std::uint64_t, std::string_view) {
    return LineReply{"FATAL 17 not for you\n"};
  }));
  auto channel = Open(server.port());
  ASSERT_TRUE(channel.ok());
  const OpResult result = (*channel)->Run(Read(1));
  EXPECT_EQ(result.outcome, Outcome::kRejected);
  EXPECT_EQ(result.severity, Severity::kFatal);
  EXPECT_FALSE((*channel)->usable());
}

TEST_F(BlockingChannelTest, WhatCannotBeReachedIsNamed) {
  std::uint16_t port = 0;
  {
    LineServer server(
        Serving([](std::uint64_t, std::uint64_t, std::string_view) { return LineReply{""}; }));
    port = server.port();
    const auto silent = Open(port, true);
    EXPECT_EQ(StatusText(silent.status()), "stub at work: timeout no answer in time");
  }
  const auto channel = Open(port);
  EXPECT_EQ(StatusText(channel.status()),
            "stub at work: cannot connect: ECONNREFUSED Connection refused");
}

TEST_F(BlockingChannelTest, AGreetingThatIsRefusedIsNamed) {
  LineServer server(Serving(
      [](std::uint64_t, std::uint64_t, std::string_view) { return LineReply{"ERR 5 go away\n"}; }));
  EXPECT_EQ(StatusText(Open(server.port(), true).status()), "stub at work: 5 go away");
}

}  // namespace
}  // namespace cavalry::drivers
