// Drives a RunState as its engine and its agents would, with a clock that the test moves.
// Header-only; tests only.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/run/run_state.h"

namespace cavalry::testing {

class StateDriver {
 public:
  using Sent = std::pair<std::string, v1::ToAgent>;

  explicit StateDriver(run::RunPlan plan) : state(std::move(plan)) { state.Start(now); }

  void Join(const std::string& name, Nanos offset = 0, Nanos rtt = 0) {
    run::Member member;
    member.name = name;
    member.host = "host-" + name;
    member.cores = 4;
    member.workers = 2;
    member.clock_offset = offset;
    member.clock_rtt = rtt;
    state.OnAgentReady(member, now);
    Collect();
  }

  void Pass(Nanos time) {
    now += time;
    state.OnTime(now);
    Collect();
  }

  // A message of this run from `agent`.
  void Say(const std::string& agent, std::uint64_t step_id,
           const std::function<void(v1::FromAgent*)>& fill) {
    v1::FromAgent message;
    message.set_run_id("run-1");
    message.set_step_id(step_id);
    fill(&message);
    state.OnMessage(agent, message, now);
    Collect();
  }

  void PhaseDone(const std::string& agent, std::uint64_t step_id, v1::Phase phase,
                 const std::function<void(v1::PhaseDone*)>& fill = nullptr) {
    Say(agent, step_id, [&](v1::FromAgent* message) {
      message->mutable_phase_done()->set_phase(phase);
      if (fill) fill(message->mutable_phase_done());
    });
  }

  void Armed(const std::string& agent, std::uint64_t step_id) {
    Say(agent, step_id, [](v1::FromAgent* message) { message->mutable_armed(); });
  }

  void Interval(const std::string& agent, std::uint64_t step_id, std::uint64_t seq,
                std::uint64_t attempted = 100) {
    Say(agent, step_id, [&](v1::FromAgent* message) {
      v1::Interval* interval = message->mutable_interval();
      interval->set_seq(seq);
      interval->set_part(v1::STEP_PART_MEASURE);
      interval->mutable_stats()->mutable_iterations()->set_attempted(attempted);
    });
  }

  void Report(const std::string& agent, std::uint64_t step_id, std::uint64_t seq,
              const std::function<void(v1::StepReport*)>& fill = nullptr) {
    Say(agent, step_id, [&](v1::FromAgent* message) {
      message->mutable_step_report()->set_seq(seq);
      if (fill) fill(message->mutable_step_report());
    });
  }

  void Lose(const std::string& agent, const std::string& reason = "its stream ended") {
    state.OnAgentLost(agent, reason, now);
    Collect();
  }

  void ProgramEnded(const Status& status = Status()) {
    state.OnProgramEnded(status, now);
    Collect();
  }

  void Interrupt() {
    state.OnInterrupt(now);
    Collect();
  }

  // Answers phases as agents would, in `rows` of an empty server, until none is asked for.
  void AnswerPhases() {
    while (true) {
      const auto order = std::find_if(sent.begin(), sent.end(), [](const Sent& message) {
        return message.second.has_run_phase();
      });
      if (order == sent.end()) return;
      const auto [agent, message] = *order;
      sent.erase(order);
      phases.push_back(message.run_phase());
      phase_agents.push_back(agent);
      PhaseDone(agent, message.step_id(), message.run_phase().phase(), [&](v1::PhaseDone* done) {
        const v1::Phase phase = message.run_phase().phase();
        if (phase == v1::PHASE_RESET || phase == v1::PHASE_PREPARE) {
          for (const v1::Table& table : message.run_phase().workload().tables()) {
            v1::TableState* state_of = done->add_tables();
            state_of->set_table(table.name());
            state_of->set_exists(phase == v1::PHASE_PREPARE);
            state_of->set_marked(phase == v1::PHASE_PREPARE);
            state_of->set_filled(tables_filled);
            state_of->set_max_key(tables_filled ? table.rows() : 0);
            state_of->set_rows(tables_filled ? table.rows() : 0);
          }
        }
        if (phase == v1::PHASE_FILL) {
          for (const v1::KeyShare& share : message.run_phase().shares()) {
            done->set_rows(done->rows() + share.count());
          }
        }
        if (phase == v1::PHASE_AUDIT) done->mutable_audit()->set_acknowledged(7);
      });
    }
  }

  // Phases answered so far, by name: "preflight reset prepare ...".
  std::string PhaseNames() const {
    std::string names;
    for (const v1::RunPhase& phase : phases) {
      names += (names.empty() ? "" : " ") + run::PhaseName(phase.phase());
    }
    return names;
  }

  // Takes the first message to `agent` that `is` picks.
  std::optional<v1::ToAgent> TakeSent(const std::string& agent,
                                      const std::function<bool(const v1::ToAgent&)>& is) {
    for (auto message = sent.begin(); message != sent.end(); ++message) {
      if (message->first != agent || !is(message->second)) continue;
      v1::ToAgent taken = message->second;
      sent.erase(message);
      return taken;
    }
    return std::nullopt;
  }
  std::optional<v1::ToAgent> TakeAssignment(const std::string& agent) {
    return TakeSent(agent, [](const v1::ToAgent& m) { return m.has_assignment(); });
  }
  std::optional<v1::ToAgent> TakeStart(const std::string& agent) {
    return TakeSent(agent, [](const v1::ToAgent& m) { return m.has_start_at(); });
  }
  std::optional<v1::ToAgent> TakeStop(const std::string& agent) {
    return TakeSent(agent, [](const v1::ToAgent& m) { return m.has_stop(); });
  }
  std::optional<v1::ToAgent> TakeAck(const std::string& agent) {
    return TakeSent(agent, [](const v1::ToAgent& m) { return m.has_ack(); });
  }

  const v1::StepEnded* StepEnded(std::uint64_t step_id) const {
    for (const v1::JournalEntry& entry : records) {
      if (entry.has_step_ended() && entry.step_ended().step_id() == step_id) {
        return &entry.step_ended();
      }
    }
    return nullptr;
  }
  std::size_t Count(v1::JournalEntry::EventCase event) const {
    return static_cast<std::size_t>(
        std::count_if(records.begin(), records.end(),
                      [&](const v1::JournalEntry& entry) { return entry.event_case() == event; }));
  }
  // All warnings, one a line.
  std::string Warnings() const {
    std::string text;
    for (const v1::JournalEntry& entry : records) {
      if (entry.has_warning()) text += entry.warning().text() + "\n";
    }
    return text;
  }

  void Collect() {
    for (run::Action& action : state.TakeActions()) {
      if (auto* send = std::get_if<run::SendMessage>(&action)) {
        sent.emplace_back(send->agent, std::move(send->message));
      } else if (auto* record = std::get_if<run::RecordEvent>(&action)) {
        records.push_back(std::move(record->entry));
      } else if (auto* drop = std::get_if<run::DropAgent>(&action)) {
        dropped.push_back(drop->agent);
      } else if (auto* program = std::get_if<run::RunProgram>(&action)) {
        programs.push_back(*program);
      } else if (auto* end_run = std::get_if<run::EndRun>(&action)) {
        end = *end_run;
      }
    }
  }

  Nanos now = 1000 * kSecond;
  run::RunState state;
  bool tables_filled = false;  // what AnswerPhases says of tables
  std::vector<Sent> sent;
  std::vector<v1::RunPhase> phases;
  std::vector<std::string> phase_agents;
  std::vector<v1::JournalEntry> records;
  std::vector<std::string> dropped;
  std::vector<run::RunProgram> programs;
  std::optional<run::EndRun> end;
};

}  // namespace cavalry::testing
