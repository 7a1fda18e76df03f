// A coordinator in this process with scripted agents over real loopback gRPC. Deadlines are short,
// so that faults are seen soon; nothing sleeps. Header-only; tests only.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/report/rebuild.h"
#include "coordinator/report/report.h"
#include "coordinator/requirements.h"
#include "coordinator/run/journal.h"
#include "coordinator/run_session.h"
#include "coordinator/spec/spec_check.h"
#include "tests/fakes/fake_agent.h"
#include "tests/unit/coordinator/run_engine/plan_builder.h"

namespace cavalry::testing {

class ClusterTest : public ::testing::Test {
 protected:
  ClusterTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "cavalry-test-XXXXXX").string();
    folder_ = mkdtemp(folder.data());
    auto session = coordinator::RunSession::Open("127.0.0.1:0", nullptr);
    if (session.ok()) session_ = *std::move(session);
    auto journal = run::Journal::Create(folder_ + "/journal");
    if (journal.ok()) journal_ = std::make_unique<run::Journal>(*std::move(journal));
  }
  ~ClusterTest() override {
    // Before the agents: a stream that its coordinator ends is the usual course.
    session_.reset();
    agents_.clear();
    std::filesystem::remove_all(folder_);
  }

  void SetUp() override {
    ASSERT_NE(session_, nullptr);
    ASSERT_NE(journal_, nullptr);
  }

  // The run's options; a test changes them before Start().
  run::RunEngine::Options& Plan(const v1::Workload& workload,
                                const std::vector<std::string>& targets, std::size_t agents) {
    options_.plan = MakePlan(workload, targets, agents);
    options_.registry.run_id = options_.plan.run_id;
    options_.registry.version = CAVALRY_VERSION;
    options_.registry.agents = agents;
    options_.registry.requirements = coordinator::RequirementsOf(options_.plan);
    options_.registry.heartbeat = 50 * kMillisecond;
    options_.started.set_run_id(options_.plan.run_id);
    *options_.started.mutable_workload() = workload;
    for (const run::PlannedStep& step : options_.plan.steps) {
      *options_.started.add_steps() = step.step;
    }
    options_.started.set_version(CAVALRY_VERSION);
    return options_;
  }

  void Start() { session_->Start(options_, journal_.get(), std::nullopt); }

  FakeAgent* AddAgent(FakeAgent::Options options) {
    options.port = session_->port();
    agents_.push_back(std::make_unique<FakeAgent>(std::move(options)));
    return agents_.back().get();
  }
  FakeAgent* AddAgent(const std::string& name) {
    FakeAgent::Options options;
    options.name = name;
    return AddAgent(std::move(options));
  }

  // Turns the session until `reached` (or the run's end); false after 30 s.
  template <typename Condition>
  bool TurnUntil(Condition reached) {
    const Nanos deadline = MonotonicNow() + 30 * kSecond;
    while (!reached() && MonotonicNow() < deadline) {
      if (!session_->Turn(20 * kMillisecond)) break;
    }
    return reached();
  }
  bool TurnToEnd() {
    return TurnUntil([this] { return session_->engine().ended(); });
  }

  const report::Aggregator& run() const { return session_->engine().aggregator(); }
  const run::EndRun& end() const { return session_->engine().end(); }
  report::Report MakeReport() const { return report::MakeReport(run()); }
  std::uint64_t OkOfStep(std::size_t index) const {
    return run().steps()[index].totals.TotalOperations()[Outcome::kOk];
  }
  bool Warned(const std::string& part) const {
    return std::any_of(run().warnings().begin(), run().warnings().end(), [&](const auto& warning) {
      return warning.text().find(part) != std::string::npos;
    });
  }

  std::string folder_;
  std::unique_ptr<run::Journal> journal_;
  std::unique_ptr<coordinator::RunSession> session_;
  run::RunEngine::Options options_;
  std::vector<std::unique_ptr<FakeAgent>> agents_;
};

}  // namespace cavalry::testing
