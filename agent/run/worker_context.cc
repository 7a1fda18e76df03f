#include "agent/run/worker_context.h"

#include <utility>

#include "agent/run/connection.h"
#include "agent/run/session.h"

namespace cavalry::run {

WorkerContext::WorkerContext(SharedRun* shared_in, std::uint32_t worker_in,
                             std::unique_ptr<Loop> loop_in)
    : StepContext(shared_in, worker_in),
      loop(std::move(loop_in)),
      wheel(now),
      pacer(&wheel, ConnectDistance(plan, shared_in->workers), now, worker_in, shared_in->workers) {
  if (const auto* codecs =
          std::get_if<std::unique_ptr<drivers::CodecFactory>>(&shared_in->clients)) {
    router = (*codecs)->NewRouter();
  }
}

void WorkerContext::ResumeReady() {
  while (!ready.empty()) ready.PopFront()->Resume();
}

void WorkerContext::FlushSends() {
  // By index: nothing is added while flushing, but a handler's turn may have grown it before.
  for (std::size_t i = 0; i < unflushed.size(); ++i) unflushed[i]->Flush();
  unflushed.clear();
}

void WorkerContext::Dispatch() {
  Issue issue;
  while (!idle.empty() && issuer.Next(now, &issue)) idle.PopFront()->Give(issue);
}

}  // namespace cavalry::run
