#include "coordinator/cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "coordinator/report/live_view.h"
#include "core/base/units.h"

namespace cavalry::cli {
namespace {

constexpr std::size_t kWidthUnknown = 100;

std::size_t TerminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kWidthUnknown;
  return size.ws_col;
}

void Put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

Progress::Form Progress::FormOfStderr() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return isatty(STDERR_FILENO) == 1 && !dumb ? Form::kScreen : Form::kPlain;
}

void Progress::Clear() {
  if (lines_drawn_ > 0) Put(fmt::format("\x1b[{}A\x1b[J", lines_drawn_));
  lines_drawn_ = 0;
}

std::string Progress::PhaseText(const run::Activity& activity, Nanos now) const {
  const bool load = activity.step_id != 0 && activity.start_instant != 0;
  if (load && now >= activity.start_instant) return "";
  std::string text = activity.text;
  if (activity.total > 0) {
    text += fmt::format(": {} of {} {}", FormatCount(activity.done), FormatCount(activity.total),
                        activity.what);
    const double seconds = static_cast<double>(now - activity.since) / static_cast<double>(kSecond);
    if (seconds >= 1) {
      text += fmt::format(", {} {}/s", FormatFigure(static_cast<double>(activity.done) / seconds),
                          activity.what);
    }
  }
  return text;
}

void Progress::Show(const run::RunEngine& engine, const std::vector<std::string>& notes,
                    Nanos now) {
  if (form_ == Form::kQuiet) return;
  const run::Activity activity = engine.activity();
  if (!notes.empty()) {
    Clear();
    for (const std::string& note : notes) Put(note + "\n");
    if (form_ == Form::kScreen) next_ = 0;
  }
  const bool changed = activity.text != last_activity_;
  if (now < next_ && !(form_ == Form::kPlain && changed)) return;
  last_activity_ = activity.text;
  // Lines get rarer the longer a run lasts, so that an hour does not fill a log.
  const Nanos elapsed = now - engine.started_at();
  next_ = now + (form_ == Form::kScreen ? kRedrawEvery : std::max(kPlainEvery, elapsed / 30));

  report::LiveOptions options;
  options.elapsed = now - engine.started_at();
  options.phase = PhaseText(activity, now);
  if (form_ == Form::kPlain) {
    Put(report::RenderPlainLine(engine.aggregator(), options) + "\n");
    return;
  }
  options.width = TerminalWidth();
  const std::string screen = report::RenderLive(engine.aggregator(), options);
  // One write for taking away and drawing: nothing flickers.
  const std::string up = lines_drawn_ > 0 ? fmt::format("\x1b[{}A\x1b[J", lines_drawn_) : "";
  Put(up + screen);
  lines_drawn_ = static_cast<std::size_t>(std::count(screen.begin(), screen.end(), '\n'));
}

}  // namespace cavalry::cli
