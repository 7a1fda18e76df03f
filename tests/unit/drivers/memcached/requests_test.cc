// What a spec may ask of memcached, and what is said when it may not.
#include "drivers/memcached/requests.h"

#include <gtest/gtest.h>

#include <string>

#include "drivers/memcached/memcached_driver.h"
#include "tests/unit/drivers/memcached/conversation.h"

namespace cavalry::drivers::memcached {
namespace {

std::string Check(const Options& options, OperationPlan plan) {
  plan.name = "op";
  const Status status = CheckOperation(options, plan);
  return status.ok() ? "ok" : StatusText(status);
}

std::string CheckNative(std::string_view statement, Options options = TextOptions()) {
  OperationPlan plan;
  plan.kind = OperationKind::kNative;
  plan.statement = statement;
  return Check(options, plan);
}

TEST(Requests, AllOperationsOfATable) {
  const Plans plans;
  for (const OperationPlan& plan : plans.all()) EXPECT_EQ(Check(TextOptions(), plan), "ok");
}

TEST(Requests, WhatMemcachedHasNotIsNamed) {
  const Plans plans;
  OperationPlan plan = plans.all()[Plans::kGet];
  plan.kind = OperationKind::kScan;
  EXPECT_EQ(Check(TextOptions(), plan), "op: memcached has no scan");
  plan.kind = OperationKind::kBegin;
  EXPECT_EQ(Check(TextOptions(), plan), "op: memcached has no begin");
  plan = plans.all()[Plans::kSet];
  plan.server_values = {"now()", ""};
  EXPECT_EQ(Check(TextOptions(), plan),
            "op: 'qty' is to be now(), which memcached cannot work out");
  plan = plans.all()[Plans::kDrop];
  plan.returning = true;
  EXPECT_EQ(Check(TextOptions(), plan), "op: memcached returns no row from before");
  plan = plans.all()[Plans::kGet];
  plan.kind = OperationKind::kIncrement;
  EXPECT_EQ(Check(TextOptions(), plan),
            "op: memcached increments items that are decimal digits alone: value: bytes, and one "
            "column of numbers beside the key");
}

TEST(Requests, BytesTakeOneColumn) {
  Plans plans;
  Options options = TextOptions();
  options.value = ValueForm::kBytes;
  EXPECT_EQ(Check(options, plans.all()[Plans::kGet]),
            "op: value: bytes takes the one column beside the key, and table 't' has 2; use value: "
            "packed");
  plans.table().columns.pop_back();
  EXPECT_EQ(Check(options, plans.all()[Plans::kDrop]),
            "op: value: bytes cannot tell NULL from nothing, and 'name' is nullable");
}

TEST(Requests, SeveralServersTakeOneKeyARequest) {
  const Plans plans;
  Options options = TextOptions();
  options.servers.push_back(options.servers.front());
  EXPECT_EQ(Check(options, plans.all()[Plans::kSome]),
            "op: the keys of a multi_read may lie on several servers, which would be several "
            "requests; use one server, or reads");
  EXPECT_EQ(Check(options, plans.all()[Plans::kAddTwo]),
            "op: the rows of a batch may lie on several servers, which would be several requests; "
            "use one server, or batch: 1");
  EXPECT_EQ(CheckNative("get a", options),
            "op: native statements go to one server; this target has 2");
}

TEST(Requests, NativeStatements) {
  for (const char* statement :
       {"get ?", "get a b ?", "set ? ?", "set a b 60", "add ? x", "append ? ?", "prepend ? ?",
        "replace ? ?", "cas ? ?", "delete ?", "incr ? 5", "decr ? ?", "touch ? 60"}) {
    EXPECT_EQ(CheckNative(statement), "ok") << statement;
  }
  EXPECT_EQ(CheckNative("set a"), "op: 'set a' is written 'set KEY VALUE [SECONDS]'");
  EXPECT_EQ(CheckNative("incr a b"), "op: 'incr a b': a whole number is missing");
  EXPECT_EQ(CheckNative("touch a"), "op: 'touch a' is written 'touch KEY SECONDS'");
  EXPECT_EQ(CheckNative("delete a b"), "op: 'delete a b' is written 'delete KEY'");
  EXPECT_EQ(CheckNative("get"), "op: 'get' is written 'get KEY [KEY ...]'");
  EXPECT_EQ(CheckNative("flush_all"), "op: 'flush_all' is for administration, not for a load");
  EXPECT_EQ(CheckNative("quit"),
            "op: 'quit' is no command that is known here: get, set, add, replace, append, prepend, "
            "cas, delete, incr, decr and touch are");
  Options binary = TextOptions();
  binary.protocol = Protocol::kBinary;
  EXPECT_EQ(CheckNative("get a", binary), "op: native statements go with protocol: text or meta");
}

TEST(Options, AreReadFromSettings) {
  Settings settings;
  settings.Add({"servers", "a:1,[::1]:2"});
  settings.Add({"protocol", "meta"});
  settings.Add({"expire_after", "1500000000"});
  const auto options = ReadOptions(settings);
  ASSERT_TRUE(options.ok());
  ASSERT_EQ(options->servers.size(), 2u);
  EXPECT_EQ(options->servers[1].host, "::1");
  EXPECT_EQ(options->servers[1].label, "[::1]:2");
  EXPECT_EQ(options->protocol, Protocol::kMeta);
  EXPECT_EQ(options->expire_after_seconds, 2u);
  Settings socket;
  socket.Add({"socket", "/run/m"});
  EXPECT_EQ(ReadOptions(socket)->servers[0].unix_path, "/run/m");
  Settings binary;
  binary.Add({"protocol", "binary"});
  binary.Add({"user", "me"});
  EXPECT_NE(StatusText(ReadOptions(binary).status()).find("SASL"), std::string::npos);
}

TEST(Driver, WarnsOfBlindWrites) {
  const Plans plans;
  Settings settings;
  EXPECT_TRUE(GetDriver().Warnings(settings, plans.all()).empty());
  EXPECT_FALSE(GetDriver().asks_for_no_answer(settings));
  settings.Add({"blind", "true"});
  EXPECT_EQ(GetDriver().Warnings(settings, plans.all()).size(), 4u);
  EXPECT_TRUE(GetDriver().asks_for_no_answer(settings));
}

}  // namespace
}  // namespace cavalry::drivers::memcached
