// The text protocol and the meta commands, which mix freely on a connection
// (https://github.com/memcached/memcached: doc/protocol.txt).
#include <array>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "drivers/memcached/item_value.h"
#include "drivers/memcached/memcached_codec.h"

namespace cavalry::drivers::memcached {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::size_t kMaxDigits = 20;

void AppendNumber(std::uint64_t number, ByteBuffer& out) {
  char* const begin = out.Reserve(kMaxDigits);
  if (begin == nullptr) return;  // the buffer's bound: seen by the caller
  out.Commit(
      static_cast<std::size_t>(std::to_chars(begin, begin + kMaxDigits, number).ptr - begin));
}

// Reads decimal digits off the front. False: there is none, or too many.
template <typename Number>
bool TakeNumber(std::string_view* text, Number* number) {
  const auto [end, failure] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (failure != std::errc()) return false;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return true;
}

// Takes what stands before the next blank off the front, with the blank.
std::string_view TakeWord(std::string_view* text) {
  const std::size_t blank = text->find(' ');
  const std::string_view word = text->substr(0, blank);
  text->remove_prefix(blank == std::string_view::npos ? text->size() : blank + 1);
  return word;
}

bool IsError(std::string_view line) {
  return line.starts_with("ERROR") || line.starts_with("CLIENT_ERROR") ||
         line.starts_with("SERVER_ERROR");
}

char ModeOf(Command command) {
  switch (command) {
    case Command::kAdd:
      return 'E';
    case Command::kReplace:
      return 'R';
    default:
      return 'S';
  }
}

class LineCodec final : public MemcachedCodec {
 public:
  using MemcachedCodec::MemcachedCodec;

  ConnectionState Start(ByteBuffer& out) override {
    if (options_.user.empty()) return MemcachedCodec::Start(out);
    // doc/protocol.txt, "Authentication": a set with any key.
    const std::string token = fmt::format("{} {}", options_.user, options_.password);
    out.Append(fmt::format("set auth 0 0 {}\r\n{}\r\n", token.size(), token));
    return state_;
  }

 private:
  bool AppendRequest(const PlanRequest& request, const Operation& operation,
                     ByteBuffer& out) override {
    if (!request.key) return AppendNative(request, operation, out);
    return options_.protocol == Protocol::kMeta ? AppendMeta(request, operation, out)
                                                : AppendClassic(request, operation, out);
  }

  void AppendFence(ByteBuffer& out) override {
    out.Append(options_.protocol == Protocol::kMeta ? "mn\r\n" : "version\r\n");
  }

  bool AppendClassic(const PlanRequest& request, const Operation& operation, ByteBuffer& out) {
    const std::string_view end = request.blind ? " noreply\r\n" : kLineEnd;
    if (request.command == Command::kGet) {
      out.Append("get");
      for (std::size_t i = 0; i < request.times; ++i) {
        out.Append(' ');
        if (!AppendKey(request, operation, i, out)) return false;
      }
      out.Append(kLineEnd);
      return true;
    }
    for (std::size_t i = 0; i < request.times; ++i) {
      out.Append(request.text_head);
      if (!AppendKey(request, operation, i, out)) return false;
      if (HasData(request.command)) {
        out.Append(' ');
        AppendNumber(request.flags, out);
        out.Append(' ');
        AppendNumber(request.expire_at, out);
        out.Append(' ');
        AppendNumber(DataSize(request, operation, i), out);
        out.Append(end);
        AppendData(request, operation, i, out);
        out.Append(kLineEnd);
        continue;
      }
      if (request.command == Command::kIncr || request.command == Command::kDecr) {
        out.Append(' ');
        AppendNumber(request.amount, out);
      }
      out.Append(end);
    }
    return true;
  }

  bool AppendMeta(const PlanRequest& request, const Operation& operation, ByteBuffer& out) {
    const std::string_view end = request.blind ? " q\r\n" : kLineEnd;
    for (std::size_t i = 0; i < request.times; ++i) {
      switch (request.command) {
        case Command::kGet:
          out.Append("mg ");
          break;
        case Command::kDelete:
          out.Append("md ");
          break;
        case Command::kIncr:
        case Command::kDecr:
          out.Append("ma ");
          break;
        default:
          out.Append("ms ");
          break;
      }
      if (!AppendKey(request, operation, i, out)) return false;
      if (request.command == Command::kGet) {
        out.Append(" k f v\r\n");
      } else if (HasData(request.command)) {
        out.Append(' ');
        AppendNumber(DataSize(request, operation, i), out);
        out.Append(" F");
        AppendNumber(request.flags, out);
        out.Append(" T");
        AppendNumber(request.expire_at, out);
        out.Append(" M");
        out.Append(ModeOf(request.command));
        out.Append(end);
        AppendData(request, operation, i, out);
        out.Append(kLineEnd);
      } else {
        if (request.command != Command::kDelete) {
          out.Append(" D");
          AppendNumber(request.amount, out);
          out.Append(request.command == Command::kIncr ? " MI" : " MD");
        }
        out.Append(end);
      }
    }
    return true;
  }

  bool AppendNative(const PlanRequest& request, const Operation& operation, ByteBuffer& out) {
    // The first request of a cas asks for what it has to name.
    out.Append(request.command == Command::kCas ? "gets " : request.text_head);
    for (std::size_t i = 0; i < request.keys.size(); ++i) {
      if (i > 0) out.Append(' ');
      const std::size_t begin = out.size();
      if (!AppendWord(request, request.keys[i], operation, out)) return false;
      const std::string_view key = out.view().substr(begin);
      const std::string_view fault = key.empty() ? "a key is empty" : KeyFault(key);
      if (!fault.empty()) return RefuseValue(request, fault);
    }
    if (HasData(request.command) && request.command != Command::kCas) {
      return AppendNativeData(request, operation, out) && AppendValueLine(request, operation, out);
    }
    if (request.command == Command::kIncr || request.command == Command::kDecr) {
      out.Append(' ');
      if (!AppendCount(request, request.value, operation, out)) return false;
    }
    if (request.command == Command::kTouch) {
      out.Append(' ');
      if (!AppendCount(request, request.ttl, operation, out)) return false;
    }
    out.Append(kLineEnd);
    return true;
  }

  // " <flags> <exptime> <bytes>", without the line's end.
  bool AppendNativeData(const PlanRequest& request, const Operation& operation, ByteBuffer& out) {
    out.Append(" 0 ");
    if (request.ttl.parameter || !request.ttl.literal.empty()) {
      if (!AppendCount(request, request.ttl, operation, out)) return false;
    } else {
      AppendNumber(request.expire_at, out);
    }
    const Word& word = request.value;
    if (word.parameter && operation.values[*word.parameter].kind == Value::Kind::kNull) {
      return RefuseValue(request, "NULL is no value of an item");
    }
    out.Append(' ');
    AppendNumber(word.parameter ? TextSize(operation.values[*word.parameter]) : word.literal.size(),
                 out);
    return true;
  }

  bool AppendValueLine(const PlanRequest& request, const Operation& operation, ByteBuffer& out) {
    out.Append(kLineEnd);
    if (!AppendWord(request, request.value, operation, out)) return false;
    out.Append(kLineEnd);
    return true;
  }

  bool AppendCount(const PlanRequest& request, const Word& word, const Operation& operation,
                   ByteBuffer& out) {
    const std::size_t begin = out.size();
    if (!AppendWord(request, word, operation, out)) return false;
    const std::string_view text = out.view().substr(begin);
    const bool number =
        !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    return number || RefuseValue(request, "a number of memcached is whole and not negative");
  }

  // The second request of a cas; its answer comes behind those to what was sent meanwhile.
  void SendCas(ByteBuffer& out) {
    Pending pending = pending_.front();
    pending_.Pop();
    in_answer_ = false;
    const PlanRequest& request = *pending.request;
    out.Append("cas ");
    // It could be sent before, so it can be again.
    CAVALRY_CHECK(AppendWord(request, request.keys.front(), *pending.operation, out));
    if (!AppendNativeData(request, *pending.operation, out)) out.Append(" 0 0 0");
    out.Append(' ');
    AppendNumber(unique_, out);
    AppendValueLine(request, *pending.operation, out);
    pending.phase = Pending::Phase::kCas;
    pending.left = 1;
    pending_.Push(pending);
  }

  std::size_t Take(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) override {
    const void* const found = std::memchr(bytes.data(), '\n', bytes.size());
    if (found == nullptr) {
      return bytes.size() > kMaxLineBytes ? Break("an answer that is too long", bytes) : 0;
    }
    const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data());
    if (end == 0 || bytes[end - 1] != '\r') return Break("an answer without a line's end", bytes);
    const std::string_view line = bytes.substr(0, end - 1);
    if (state_ == ConnectionState::kHandshake) [[unlikely]] {
      return TakeAuthentication(line, end + 1);
    }
    if (pending_.empty()) [[unlikely]] {
      return TakeUnasked(line);
    }
    if (IsError(line)) [[unlikely]] {
      return TakeError(line, end + 1, sink);
    }
    if (pending_.front().phase == Pending::Phase::kBlind && !SkipBlind(sink)) [[unlikely]] {
      return Break("an answer to a write that asked for none", line);
    }
    if (line.starts_with("VALUE ") || line.starts_with("VA ")) {
      return TakeValue(line, bytes, end + 1, sink);
    }
    return TakeLine(line, out, sink) ? end + 1 : 0;
  }

  std::size_t TakeAuthentication(std::string_view line, std::size_t taken) {
    if (line == "STORED") {
      state_ = ConnectionState::kReady;
      return taken;
    }
    return FailConnection(
        IsError(line) ? line.substr(0, line.find(' ')) : kCodeProtocol,
        fmt::format("{}: the server refused user '{}': {}; is the password right?", label_,
                    options_.user, line),
        Severity::kFatal);
  }

  std::size_t TakeUnasked(std::string_view line) {
    // A server that has no room for the connection says so, and closes it.
    if (!IsError(line)) return Break("an answer that nobody asked for", line);
    const bool room = line.starts_with("ERROR Too many open");
    return FailConnection(
        line.substr(0, line.find(' ')),
        fmt::format("{}: {}{}", label_, line, room ? ": raise memcached's --conn-limit (-c)" : ""),
        Severity::kReconnect);
  }

  std::size_t TakeError(std::string_view line, std::size_t taken, CompletionSink& sink) {
    const Pending& front = pending_.front();
    if (front.phase == Pending::Phase::kBlind || front.phase == Pending::Phase::kFence) {
      return Break("an error to a write that asked for no answer, so which one is not known", line);
    }
    const std::string_view code = line.substr(0, line.find(' '));
    const bool server = code == "SERVER_ERROR";
    const bool data = HasData(front.request->command);
    // The server may take the value that follows a refused line for commands.
    const Severity severity = data && !server ? Severity::kReconnect : Severity::kNormal;
    if (line.find("unauthenticated") != std::string_view::npos) {
      FailConnection(code, fmt::format("{}: the server wants a user and a password", label_),
                     Severity::kFatal);
      return 0;
    }
    // The item that was there before is gone all the same.
    const bool unknown = server && data;
    const std::string_view text = line.substr(std::min(code.size() + 1, line.size()));
    const bool meta = options_.protocol == Protocol::kMeta && front.request->key;
    if (front.request->command == Command::kGet && !meta) {
      pending_.front().left = 1;  // it answers the whole line
    }
    TakeOutcome(Outcome::kRejected, code, text.empty() ? line : text, unknown, severity, sink);
    return taken;
  }

  // "VALUE <key> <flags> <bytes> [<unique>]", or "VA <bytes> k<key> f<flags>", then the data.
  std::size_t TakeValue(std::string_view line, std::string_view bytes, std::size_t taken,
                        CompletionSink& sink) {
    const bool meta = line[2] == ' ';
    std::string_view rest = line.substr(meta ? 3 : 6);
    std::string_view key;
    std::uint32_t flags = 0;
    std::uint32_t size = 0;
    bool right = true;
    if (meta) {
      right = TakeNumber(&rest, &size);
      while (right && !rest.empty()) {
        TakeWord(&rest);  // the blank before it
        std::string_view word = TakeFlag(&rest);
        if (word.empty()) break;
        if (word[0] == 'k') key = word.substr(1);
        if (word[0] != 'f') continue;
        word.remove_prefix(1);
        right = TakeNumber(&word, &flags) && word.empty();
      }
    } else {
      key = TakeWord(&rest);
      right = !key.empty() && TakeNumber(&rest, &flags) && TakeWord(&rest).empty() &&
              TakeNumber(&rest, &size);
      if (right && !rest.empty()) {
        rest.remove_prefix(1);
        right = TakeNumber(&rest, &unique_) && rest.empty();
      }
    }
    if (!right || size > kMaxValueBytes) return Break("a malformed value", line);
    if (bytes.size() < taken + size + kLineEnd.size()) return 0;
    if (bytes.substr(taken + size, kLineEnd.size()) != kLineEnd) {
      return Break("a value without its end", line);
    }
    const Pending& front = pending_.front();
    const bool asked =
        front.phase == Pending::Phase::kOperation &&
        (front.request->command == Command::kGet || front.request->command == Command::kCas);
    if (!asked) return Break("a value that nobody asked for", line);
    TakeItem(key, flags, bytes.substr(taken, size));
    if (meta && --pending_.front().left == 0) EndRows(sink);
    return taken + size + kLineEnd.size();
  }

  // The word up to the next blank, which stays.
  static std::string_view TakeFlag(std::string_view* rest) {
    const std::string_view word = rest->substr(0, rest->find(' '));
    rest->remove_prefix(word.size());
    return word;
  }

  // All other answers. False after Break.
  bool TakeLine(std::string_view line, ByteBuffer& out, CompletionSink& sink) {
    const Pending& front = pending_.front();
    if (front.phase == Pending::Phase::kFence) {
      if (line != "MN" && !line.starts_with("VERSION "))
        return Break("no end of a batch", line) != 0;
      pending_.Pop();
      return true;
    }
    const Command command = front.request->command;
    const auto end = [&](Outcome outcome) {
      const bool refused = outcome == Outcome::kRejected;
      TakeOutcome(outcome, refused ? line : "", refused ? Explain(line) : "", false,
                  Severity::kNormal, sink);
      return true;
    };
    if (command == Command::kGet ||
        (command == Command::kCas && front.phase != Pending::Phase::kCas)) {
      if (line == "END") {
        if (command == Command::kCas && in_answer_) {
          SendCas(out);
        } else {
          EndRows(sink);
        }
        return true;
      }
      if (line == "EN" || line.starts_with("EN ")) return end(Outcome::kMiss);
      return Break("no answer to a get", line) != 0;
    }
    if (command == Command::kStats && line.starts_with("STAT ")) {
      std::string_view rest = line.substr(5);
      const std::string_view name = TakeWord(&rest);
      TakeItem(name, 0, rest);
      return true;
    }
    if (command == Command::kStats && (line == "END" || line == "RESET")) {
      EndRows(sink);
      return true;
    }
    if (command == Command::kVersion && line.starts_with("VERSION ")) {
      TakeItem("version", 0, line.substr(8));
      EndRows(sink);
      return true;
    }
    if (line == "STORED" || line == "DELETED" || line == "TOUCHED" || line == "OK" ||
        line.starts_with("HD") || IsCount(command, line)) {
      return end(Outcome::kOk);
    }
    if (line == "NOT_FOUND" || line.starts_with("NF")) return end(Outcome::kMiss);
    if (line == "NOT_STORED" || line.starts_with("NS")) {
      // There is such an item (add), or none (replace, append, prepend).
      return end(command == Command::kAdd ? Outcome::kRejected : Outcome::kMiss);
    }
    if (line == "EXISTS" || line.starts_with("EX")) return end(Outcome::kRejected);
    return Break("no answer to this command", line) != 0;
  }

  // The number that incr and decr answer, maybe with blanks behind it.
  static bool IsCount(Command command, std::string_view line) {
    return (command == Command::kIncr || command == Command::kDecr) && !line.empty() &&
           line.find_first_not_of("0123456789 ") == std::string_view::npos;
  }

  static std::string_view Explain(std::string_view line) {
    return line.starts_with("EX") ? "the item was changed meanwhile" : "there is such an item";
  }
};

}  // namespace

std::unique_ptr<Codec> NewLineCodec(const Options& options,
                                    const std::vector<PlanRequest>& requests,
                                    const std::string& label) {
  return std::make_unique<LineCodec>(options, requests, label);
}

}  // namespace cavalry::drivers::memcached
