#include "coordinator/run/actions.h"

namespace cavalry::run {

// The pointers that Send and Record return are used before the next action is added: the vector may
// move its elements only then.
v1::ToAgent* Actions::Send(const std::string& agent, std::uint64_t step_id) {
  SendMessage send;
  send.agent = agent;
  send.message.set_run_id(run_id_);
  send.message.set_step_id(step_id);
  actions_.emplace_back(std::move(send));
  return &std::get<SendMessage>(actions_.back()).message;
}

v1::JournalEntry* Actions::Record() {
  actions_.emplace_back(RecordEvent());
  return &std::get<RecordEvent>(actions_.back()).entry;
}

void Actions::Warn(std::string text, std::uint64_t step_id, bool generator) {
  v1::Warning* warning = Record()->mutable_warning();
  warning->set_text(std::move(text));
  warning->set_step_id(step_id);
  warning->set_generator(generator);
}

void Actions::Drop(const std::string& agent, const std::string& reason) {
  actions_.emplace_back(DropAgent{agent, reason});
}

void Actions::Say(std::string text) { actions_.emplace_back(Note{std::move(text)}); }

void Actions::Run(RunProgram program) { actions_.emplace_back(std::move(program)); }

void Actions::End(EndRun end) { actions_.emplace_back(std::move(end)); }

}  // namespace cavalry::run
