// The codec's words: what refusals and broken answers are called. Off the hot path.
#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "drivers/handlersocket/handlersocket_codec.h"
#include "drivers/handlersocket/server_errors.h"

namespace cavalry::drivers::handlersocket {
namespace {

// Of bytes from the server in messages.
constexpr std::size_t kMaxQuotedBytes = 48;

char Printable(char c) { return c >= ' ' && c <= '~' ? c : '.'; }

std::string Quote(std::string_view bytes) {
  std::string quoted(bytes.substr(0, kMaxQuotedBytes));
  std::transform(quoted.begin(), quoted.end(), quoted.begin(), Printable);
  if (bytes.size() > kMaxQuotedBytes) quoted += "...";
  return quoted;
}

// Of all columns that the plan's open_index names.
std::string ColumnNames(const OperationPlan& plan) {
  std::string names;
  const auto add = [&](std::uint32_t column) {
    if (!names.empty()) names += ", ";
    names += plan.table->columns[column].name;
  };
  for (const std::uint32_t column : OpenColumns(plan)) add(column);
  for (const Filter& filter : plan.scan.filters) add(filter.column);
  return names;
}

}  // namespace

// "1 121": the code and at most so many bytes of its text that they fit. Allocates nothing, for a
// server may reject every operation.
std::string_view HandlerSocketCodec::WriteCode(std::uint32_t code, std::string_view word) {
  char* to = std::to_chars(code_.data(), code_.data() + code_.size(), code).ptr;
  if (!word.empty()) *to++ = ' ';
  const auto room = static_cast<std::size_t>(code_.data() + code_.size() - to);
  to = std::transform(word.begin(),
                      word.begin() + static_cast<std::ptrdiff_t>(std::min(room, word.size())), to,
                      Printable);
  return {code_.data(), static_cast<std::size_t>(to - code_.data())};
}

void HandlerSocketCodec::Reject(const Answer& answer, const PlanRequest& request,
                                OpResult& result) {
  result.outcome = Outcome::kRejected;
  result.code = WriteCode(answer.code, answer.tokens);
  if (answer.code == kCodeRequest || answer.code == kCodeAuthorisation) {
    // The server refused before it did anything, and will do so again.
    result.severity = Severity::kFatal;
    text_ =
        answer.code == kCodeRequest ? DescribeRequestError(answer.tokens) : DescribeSecretError();
    result.text = text_;
    return;
  }
  const ServerError known =
      answer.code == kCodeServer ? ExplainServerError(answer.tokens) : ServerError{};
  result.outcome_unknown = IsWrite(request.kind) && !known.not_done;
  result.retryable = known.retryable;
  if (!known.meaning.empty()) {
    result.text = known.meaning;
    return;
  }
  text_.assign("the server answered ").append(result.code);
  result.text = text_;
}

std::string HandlerSocketCodec::DescribeRequestError(std::string_view word) const {
  if (word == "readonly") {
    // The server calls each of its listeners read or write; the spec must name the same ports.
    return fmt::format(
        "{}: this is the server's read port, which takes no writes. Set the target's write_port to "
        "the server's handlersocket_port_wr (by custom 9999); or are port and write_port swapped?",
        requests_.label());
  }
  const std::string_view meaning = ExplainRequestError(word);
  return fmt::format("{}: {}", requests_.label(),
                     meaning.empty() ? fmt::format("the server answered 2 {}", Quote(word))
                                     : std::string(meaning));
}

std::string HandlerSocketCodec::DescribeSecretError() const {
  const bool write = requests_.port() == Port::kWrite;
  const std::string_view option =
      write ? "write_secret (by default the value of secret)" : "secret";
  return fmt::format(
      "{}: {}. Set the target's {} to the server's {}, or write {}: {{ from: TARGET }} to ask a "
      "mysql target of the same server for it",
      requests_.label(),
      requests_.sends_secret() ? "the server refused the secret" : "the server wants a secret",
      option, write ? "handlersocket_plain_secret_wr" : "handlersocket_plain_secret",
      write ? "write_secret" : "secret");
}

std::string HandlerSocketCodec::DescribeOpenError(const Answer& answer, std::string_view word,
                                                  const OperationPlan& plan) const {
  const std::string table = fmt::format("{}.{}", requests_.database(), plan.table->name);
  const std::string_view label = requests_.label();
  if (answer.code == kCodeServer && word == "open_table") {
    return fmt::format(
        "{}: cannot open {}: no such table or database (names are compared exactly, case too)",
        label, table);
  }
  if (answer.code == kCodeRequest && word == "idxnum") {
    if (!plan.scan.index.empty()) {
      return fmt::format("{}: {} has no index {} (names are compared exactly, case too)", label,
                         table, plan.scan.index);
    }
    return fmt::format(
        "{}: {} has no primary key, by which HandlerSocket finds its rows, also those to insert. "
        "Give the table one, or scan another index by its name",
        label, table);
  }
  if (answer.code == kCodeRequest && word == "fld") {
    return fmt::format(
        "{}: {} does not have all of the columns {} (names are compared exactly, case too)", label,
        table, ColumnNames(plan));
  }
  return fmt::format("{}: cannot open {} with columns {}: the server answered {} {}", label, table,
                     ColumnNames(plan), answer.code, Quote(word));
}

bool HandlerSocketCodec::TakeHandshakeAnswer(std::string_view line, const Answer& answer) {
  if (answer.code == kCodeOk) {
    if (answer.columns != 1) return Break("an answer with another number of columns", line);
    if (++handshake_answers_ == requests_.handshake_answers()) state_ = ConnectionState::kReady;
    return true;
  }
  const OperationPlan* plan = requests_.HandshakePlan(handshake_answers_);
  text_ = answer.code == kCodeAuthorisation || plan == nullptr
              ? DescribeSecretError()
              : DescribeOpenError(answer, answer.tokens, *plan);
  // Whatever it is (secret, table, index, column), asking again will not make it better.
  error_ = {.outcome = Outcome::kRejected,
            .severity = Severity::kFatal,
            .code = WriteCode(answer.code, answer.tokens),
            .text = text_};
  state_ = ConnectionState::kFailed;
  return false;
}

bool HandlerSocketCodec::Break(std::string_view what, std::string_view line) {
  // A peer whose first words are not HandlerSocket's is another kind of server.
  const bool stranger = state_ == ConnectionState::kHandshake;
  text_ = fmt::format("{}: {}: \"{}\"{}", requests_.label(), what, Quote(line),
                      stranger ? ". Is this one of the server's HandlerSocket ports?" : "");
  error_ = {.outcome = Outcome::kBroken,
            .severity = stranger ? Severity::kFatal : Severity::kReconnect,
            .outcome_unknown = !stranger,
            .code = kCodeProtocol,
            .text = text_};
  state_ = ConnectionState::kFailed;
  return false;
}

}  // namespace cavalry::drivers::handlersocket
