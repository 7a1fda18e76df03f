#include "coordinator/report/rebuild.h"

#include "coordinator/run/journal.h"

namespace cavalry::report {

StatusOr<std::unique_ptr<Aggregator>> RebuildRun(const std::string& journal_path) {
  auto run = std::make_unique<Aggregator>();
  const auto visit = [&run](const v1::JournalEntry& entry) {
    const Status status = run->Apply(entry);
    // Before the run has begun nothing can be left out: this is no journal of a run.
    return run->started() ? Status() : status;
  };
  CAVALRY_ASSIGN_OR_RETURN(const run::JournalReadResult result,
                           run::ReadJournal(journal_path, visit));
  if (!run->started()) return DataLoss("{}: no run has begun in it", journal_path);
  if (result.torn) run->NoteTornJournal(result.entries);
  if (!run->ended()) run->CloseOpenStep("its journal ends here");
  return run;
}

}  // namespace cavalry::report
