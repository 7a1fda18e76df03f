// Shows a run on stderr while it goes: a screen redrawn in place on a terminal, plain lines
// elsewhere, nothing when quiet (the report tells what went wrong). One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/run/run_engine.h"
#include "core/base/clock.h"

namespace cavalry::cli {

class Progress {
 public:
  enum class Form : std::uint8_t { kQuiet, kPlain, kScreen };
  static constexpr Nanos kRedrawEvery = 200 * kMillisecond;
  static constexpr Nanos kPlainEvery = 2 * kSecond;

  explicit Progress(Form form) : form_(form) {}
  // kScreen when stderr is a terminal that can move its cursor.
  static Form FormOfStderr();

  // Notes go above the screen; the screen is drawn anew when it is time.
  void Show(const run::RunEngine& engine, const std::vector<std::string>& notes, Nanos now);
  // Takes the screen away, so that what follows stands alone.
  void Clear();

 private:
  std::string PhaseText(const run::Activity& activity, Nanos now) const;

  Form form_;
  std::size_t lines_drawn_ = 0;
  Nanos next_ = 0;
  std::string last_activity_;
};

}  // namespace cavalry::cli
