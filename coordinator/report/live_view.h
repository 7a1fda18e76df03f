// Progress of a run while it goes, of the same aggregator as the report: a screen for a terminal,
// plain lines for a pipe. Pure: the caller gives the time, moves the cursor and decides when. One
// thread.
#pragma once

#include <cstddef>
#include <string>

#include "coordinator/report/aggregator.h"
#include "core/base/clock.h"

namespace cavalry::report {

struct LiveOptions {
  std::size_t width = 100;  // of the terminal; longer lines are cut
  Nanos elapsed = 0;        // since the run began
  // What goes on where no load is measured: "fill customer: 83,000 of 150,000 rows, 41,000 rows/s".
  // Empty while a step's load runs.
  std::string phase;
};

// The whole screen, each line ended by a line feed, none wider than options.width.
std::string RenderLive(const Aggregator& run, const LiveOptions& options);

// One line without its line feed: "0:12 step 3/12 hs, 16 sessions  measure 2/5 s  61,204 find/s
// ...".
std::string RenderPlainLine(const Aggregator& run, const LiveOptions& options);

}  // namespace cavalry::report
