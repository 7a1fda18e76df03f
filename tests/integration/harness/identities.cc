// What must hold in every report, whatever happened in the run.
#include <fmt/format.h>

#include "tests/integration/harness/cavalry_test.h"

namespace cavalry::e2e {
namespace {

constexpr const char* kClasses[] = {"ok",       "miss",    "rejected",  "timeout", "broken",
                                    "not_sent", "dropped", "abandoned", "sent"};

std::int64_t Count(const json& summary) {
  return summary.is_null() ? 0 : summary.at("count").get<std::int64_t>();
}

void ExpectResultIdentities(const json& result, const std::string& what) {
  const json& ops = result.at("ops");
  std::int64_t sum = 0;
  for (const char* name : kClasses) sum += ops.at(name).get<std::int64_t>();
  EXPECT_EQ(ops.at("attempted"), sum) << what << ops;
  EXPECT_EQ(Count(result.at("service_us")), ops.at("ok")) << what;
  EXPECT_EQ(Count(result.at("miss_us")), ops.at("miss")) << what;
  for (const char* name : {"rejected", "timeout", "broken"}) {
    EXPECT_EQ(Count(result.at("failed_us").at(name)), ops.at(name)) << what << name;
  }
  const json& iterations = result.at("iterations");
  EXPECT_EQ(Count(result.at("response_us")), iterations.at("ok")) << what;
  std::int64_t iterations_sum = 0;
  for (const char* name : {"ok", "failed", "dropped", "abandoned"}) {
    iterations_sum += iterations.at(name).get<std::int64_t>();
  }
  EXPECT_EQ(iterations.at("attempted"), iterations_sum) << what << iterations;
  for (const char* parts : {"by_operation", "by_node"}) {
    if (!result.contains(parts) || result.at(parts).empty()) continue;
    for (const std::string name : kClasses) {
      // What was sent to no node is in no node's.
      const bool unsent = name == "not_sent" || name == "dropped" || name == "abandoned";
      if (unsent && std::string(parts) == "by_node") continue;
      std::int64_t of_parts = 0;
      for (const json& part : result.at(parts)) {
        of_parts += part.at("ops").at(name).get<std::int64_t>();
      }
      EXPECT_EQ(of_parts, ops.at(name)) << what << parts << " " << name;
    }
  }
  for (const auto& [code, error] : result.at("errors").items()) {
    EXPECT_GT(error.at("count").get<std::int64_t>(), 0) << what << code;
    EXPECT_FALSE(error.at("text").get<std::string>().empty()) << what << code;
  }
  for (const char* name : {"service_us", "response_us", "connect_us", "miss_us"}) {
    if (!result.at(name).is_null()) ExpectOrdered(result.at(name));
  }
}

}  // namespace

json OnlyResult(const json& report) {
  EXPECT_EQ(report.at("results").size(), 1U) << report.at("results").size();
  return report.at("results").at(0);
}

void ExpectOrdered(const json& summary) {
  double last = summary.at("min").get<double>();
  for (const char* name : {"p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"}) {
    const double value = summary.at(name).get<double>();
    EXPECT_LE(last, value) << name << " of " << summary;
    last = value;
  }
  EXPECT_LE(summary.at("min").get<double>(), summary.at("mean").get<double>()) << summary;
  EXPECT_LE(summary.at("mean").get<double>(), summary.at("max").get<double>()) << summary;
}

void ExpectIdentities(const json& report, const std::string& what) {
  for (const json& result : report.at("results")) {
    const std::string name =
        fmt::format("{} {} round {} ", what, result.at("target").get<std::string>(),
                    result.at("round").get<int>());
    ExpectResultIdentities(result, name);
    std::int64_t ok = 0;
    std::int64_t failed = 0;
    for (const json& second : result.at("per_second")) {
      ok += second.at("ok").get<std::int64_t>();
      failed += second.at("failed").get<std::int64_t>();
    }
    EXPECT_EQ(ok, result.at("ops").at("ok")) << name;
    std::int64_t all_failed = 0;
    for (const char* of : {"rejected", "timeout", "broken", "not_sent", "dropped", "abandoned"}) {
      all_failed += result.at("ops").at(of).get<std::int64_t>();
    }
    EXPECT_EQ(failed, all_failed) << name;
  }
  for (const json& point : report.at("summary")) ExpectResultIdentities(point, what + " summary ");
}

void ExpectCleanAudit(const json& result, std::int64_t acknowledged) {
  const json& audit = result.at("audit");
  ASSERT_FALSE(audit.is_null());
  EXPECT_EQ(audit.at("acknowledged"), acknowledged) << audit;
  for (const char* name : {"lost", "stale", "unexpected", "wrong", "unaudited"}) {
    EXPECT_EQ(audit.at(name), 0) << name << " of " << audit;
  }
}

}  // namespace cavalry::e2e
