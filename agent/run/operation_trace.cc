#include "agent/run/operation_trace.h"

#include <fmt/format.h>

#include "core/base/outcome.h"

namespace cavalry::run {

std::string Printable(std::string_view kept, std::size_t total) {
  std::string line;
  for (const char character : kept) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '\t') {
      line += "\\t";
    } else if (character == '\n') {
      line += "\\n";
    } else if (character == '\r') {
      line += "\\r";
    } else if (character == '\\') {
      line += "\\\\";
    } else if (byte < 0x20 || byte >= 0x7f) {
      line += fmt::format("\\x{:02x}", byte);
    } else {
      line += character;
    }
  }
  if (total > kept.size()) line += fmt::format("... ({} bytes in all)", total);
  return line;
}

std::string Describe(const OperationTrace& trace, const drivers::Operation& operation,
                     std::uint32_t session, std::uint64_t number, const drivers::OpResult& result,
                     Nanos took) {
  std::string text =
      fmt::format("{} (session {}, iteration {}): {}, {} {}, {:.3f} ms", operation.plan->name,
                  session, number, OutcomeName(result.outcome), result.rows,
                  result.rows == 1 ? "row" : "rows", static_cast<double>(took) / kMillisecond);
  if (!result.code.empty()) text += fmt::format(", {} {}", result.code, result.text);
  if (trace.sent_bytes() > 0) {
    text += fmt::format("\n  sent     {}", Printable(trace.sent(), trace.sent_bytes()));
  }
  if (trace.received_bytes() > 0) {
    text += fmt::format("\n  received {}", Printable(trace.received(), trace.received_bytes()));
  }
  return text;
}

}  // namespace cavalry::run
