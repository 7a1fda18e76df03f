// The binary protocol (doc/protocol-binary.txt), kept small: memcached's authors have declared it
// obsolete. Requests carry a running number (opaque), which their answers echo.
#include <cstring>

#include <fmt/format.h>

#include "drivers/memcached/item_value.h"
#include "drivers/memcached/memcached_codec.h"

namespace cavalry::drivers::memcached {
namespace {

constexpr std::size_t kHeaderBytes = 24;
constexpr std::uint8_t kRequestMagic = 0x80;
constexpr std::uint8_t kAnswerMagic = 0x81;
// Of incr and decr: a counter that is not there is not made.
constexpr std::uint32_t kDoNotCreate = 0xffffffff;

enum Opcode : std::uint8_t {
  kOpGetK = 0x0c,
  kOpGetKQ = 0x0d,
  kOpNoop = 0x0a,
  kOpSet = 0x01,
  kOpAdd = 0x02,
  kOpReplace = 0x03,
  kOpDelete = 0x04,
  kOpIncrement = 0x05,
  kOpDecrement = 0x06,
  kOpSetQ = 0x11,
  kOpAddQ = 0x12,
  kOpReplaceQ = 0x13,
  kOpDeleteQ = 0x14,
  kOpIncrementQ = 0x15,
  kOpDecrementQ = 0x16,
  kOpVersion = 0x0b,
  kOpStat = 0x10,
  kOpFlush = 0x08,
};

enum BinaryStatus : std::uint16_t {
  kStatusOk = 0,
  kStatusNotFound = 1,
  kStatusExists = 2,
  kStatusTooLarge = 3,
  kStatusNotStored = 5,
  kStatusNoMemory = 0x82,
};

void PutNumber(char* to, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i, number >>= 8) to[i] = static_cast<char>(number & 0xff);
}

std::uint64_t GetNumber(const char* from, int bytes) {
  std::uint64_t number = 0;
  for (int i = 0; i < bytes; ++i) number = number << 8 | static_cast<std::uint8_t>(from[i]);
  return number;
}

std::uint8_t OpcodeOf(const PlanRequest& request) {
  const bool quiet = request.blind;
  switch (request.command) {
    case Command::kAdd:
      return quiet ? kOpAddQ : kOpAdd;
    case Command::kReplace:
      return quiet ? kOpReplaceQ : kOpReplace;
    case Command::kDelete:
      return quiet ? kOpDeleteQ : kOpDelete;
    case Command::kIncr:
      return quiet ? kOpIncrementQ : kOpIncrement;
    case Command::kDecr:
      return quiet ? kOpDecrementQ : kOpDecrement;
    case Command::kStats:
      return kOpStat;
    case Command::kVersion:
      return kOpVersion;
    case Command::kFlushAll:
      return kOpFlush;
    case Command::kGet:
      return kOpGetK;
    default:
      return quiet ? kOpSetQ : kOpSet;
  }
}

class BinaryCodec final : public MemcachedCodec {
 public:
  using MemcachedCodec::MemcachedCodec;

 private:
  bool AppendRequest(const PlanRequest& request, const Operation& operation,
                     ByteBuffer& out) override {
    for (std::size_t i = 0; i < request.times; ++i) {
      if (!AppendOne(request, operation, i, out)) return false;
    }
    return true;
  }

  void AppendFence(ByteBuffer& out) override {
    const std::size_t begin = out.size();
    if (AppendHeader(kOpNoop, 0, out)) SetLengths(begin, 0, 0, out);
  }

  bool AppendOne(const PlanRequest& request, const Operation& operation, std::size_t index,
                 ByteBuffer& out) {
    const std::size_t begin = out.size();
    const bool data = HasData(request.command);
    const bool counts = request.command == Command::kIncr || request.command == Command::kDecr;
    const std::size_t extras = data ? 8 : counts ? 20 : 0;
    if (!AppendHeader(OpcodeOf(request), extras, out)) return Refuse(kCodeQueueFull, "no memory");
    if (extras > 0) {
      char bytes[20] = {};
      if (data) {
        PutNumber(bytes, request.flags, 4);
        PutNumber(bytes + 4, request.expire_at, 4);
      } else {
        PutNumber(bytes, request.amount, 8);
        PutNumber(bytes + 16, kDoNotCreate, 4);
      }
      out.Append({bytes, extras});
    }
    const std::size_t key_begin = out.size();
    if (request.key) {
      if (!AppendKey(request, operation, index, out)) return false;
    } else if (!request.keys.empty()) {
      if (!AppendWord(request, request.keys.front(), operation, out)) return false;
    }
    const std::size_t key = out.size() - key_begin;
    if (data) AppendData(request, operation, index, out);
    SetLengths(begin, key, extras, out);
    return true;
  }

  // A header with its lengths still to be set.
  bool AppendHeader(std::uint8_t opcode, std::size_t extras, ByteBuffer& out) {
    char* const header = out.Reserve(kHeaderBytes);
    if (header == nullptr) return false;
    std::memset(header, 0, kHeaderBytes);
    header[0] = static_cast<char>(kRequestMagic);
    header[1] = static_cast<char>(opcode);
    header[4] = static_cast<char>(extras);
    PutNumber(header + 12, sent_++, 4);
    out.Commit(kHeaderBytes);
    return true;
  }

  static void SetLengths(std::size_t begin, std::size_t key, std::size_t /*extras*/,
                         ByteBuffer& out) {
    if (out.overflowed()) return;
    char* const header = const_cast<char*>(out.view().data()) + begin;
    PutNumber(header + 2, key, 2);
    PutNumber(header + 8, out.size() - begin - kHeaderBytes, 4);
  }

  std::size_t Take(std::string_view bytes, ByteBuffer& /*out*/, CompletionSink& sink) override {
    if (static_cast<std::uint8_t>(bytes[0]) != kAnswerMagic) {
      return Break("no answer of the binary protocol", bytes);
    }
    if (bytes.size() < kHeaderBytes) return 0;
    const std::size_t key_size = GetNumber(bytes.data() + 2, 2);
    const std::size_t extras = static_cast<std::uint8_t>(bytes[4]);
    const std::size_t body = GetNumber(bytes.data() + 8, 4);
    if (body > kMaxValueBytes || key_size + extras > body)
      return Break("a malformed answer", bytes);
    if (bytes.size() < kHeaderBytes + body) return 0;
    if (pending_.empty()) return Break("an answer that nobody asked for", bytes);
    const auto status = static_cast<std::uint16_t>(GetNumber(bytes.data() + 6, 2));
    const auto opaque = static_cast<std::uint32_t>(GetNumber(bytes.data() + 12, 4));
    const std::string_view key = bytes.substr(kHeaderBytes + extras, key_size);
    const std::string_view value =
        bytes.substr(kHeaderBytes + extras + key_size, body - extras - key_size);
    const std::size_t taken = kHeaderBytes + body;
    if (!SkipTo(opaque, status, sink)) return state_ == ConnectionState::kFailed ? 0 : taken;
    Pending& front = pending_.front();
    if (front.phase == Pending::Phase::kFence) {
      pending_.Pop();
      return taken;
    }
    return TakeAnswer(bytes, key, value, status, extras, sink) ? taken : 0;
  }

  // Ends what stands before the answer's request and had none itself; false: the answer belongs to
  // nothing that waits (or the connection has failed).
  bool SkipTo(std::uint32_t opaque, std::uint16_t status, CompletionSink& sink) {
    if (pending_.front().phase != Pending::Phase::kBlind) {
      // The answers come in order, so this is the number of the next one.
      if (opaque == answered_) {
        ++answered_;
        return true;
      }
      return Break("an answer to another request", fmt::format("number {}", opaque)) != 0;
    }
    // Quiet requests answer errors only, under their own numbers.
    std::uint32_t first = answered_;
    while (!pending_.empty() && pending_.front().phase == Pending::Phase::kBlind) {
      const Pending done = pending_.front();
      const std::uint32_t times = done.request->times;
      if (opaque - first < times && status != kStatusOk) {
        Break("an error to a write that asked for no answer", Explain(status));
        return false;
      }
      first += times;
      answered_ = first;
      pending_.Pop();
      OpResult sent;
      sent.outcome = Outcome::kSent;
      sent.rows = times;
      sink.OnDone(done.ticket, sent);
    }
    if (pending_.empty() || opaque != answered_) {
      return Break("an answer to another request", fmt::format("number {}", opaque)) != 0;
    }
    ++answered_;
    return true;
  }

  bool TakeAnswer(std::string_view bytes, std::string_view key, std::string_view value,
                  std::uint16_t status, std::size_t extras, CompletionSink& sink) {
    Pending& front = pending_.front();
    const Command command = front.request->command;
    if (command == Command::kStats) {
      if (key.empty()) {
        EndRows(sink);
      } else {
        --answered_;  // the next row has the same number
        TakeItem(key, 0, value);
      }
      return true;
    }
    if (status == kStatusOk && command == Command::kVersion) {
      TakeItem("version", 0, value);
      EndRows(sink);
      return true;
    }
    if (status == kStatusOk && command == Command::kGet) {
      if (extras != 4) return Break("a value without flags", bytes) != 0;
      TakeItem(key, static_cast<std::uint32_t>(GetNumber(bytes.data() + kHeaderBytes, 4)), value);
      if (--front.left == 0) EndRows(sink);
      return true;
    }
    const bool refused_add =
        command == Command::kAdd && (status == kStatusExists || status == kStatusNotStored);
    Outcome outcome = Outcome::kRejected;
    if (status == kStatusOk) outcome = Outcome::kOk;
    if (status == kStatusNotFound || (status == kStatusNotStored && !refused_add)) {
      outcome = Outcome::kMiss;
    }
    // A value that found no room has removed the one before it.
    const bool unknown =
        HasData(command) && (status == kStatusTooLarge || status == kStatusNoMemory);
    const bool refused = outcome == Outcome::kRejected;
    TakeOutcome(outcome, refused ? Code(status) : "", refused ? Explain(status) : "", unknown,
                Severity::kNormal, sink);
    return true;
  }

  std::string_view Code(std::uint16_t status) {
    code_text_ = fmt::format("{:#06x}", status);
    return code_text_;
  }

  static std::string_view Explain(std::uint16_t status) {
    switch (status) {
      case kStatusExists:
      case kStatusNotStored:
        return "there is such an item";
      case kStatusTooLarge:
        return "object too large for cache";
      case 4:
        return "invalid arguments";
      case 6:
        return "the item is no number";
      case 0x20:
        return "the server wants authentication, which the binary protocol is not spoken with here";
      case 0x81:
        return "the server does not know the command";
      case kStatusNoMemory:
        return "out of memory storing object";
      default:
        return "the server refused";
    }
  }

  std::uint32_t sent_ = 0;      // number of the next request
  std::uint32_t answered_ = 0;  // number of the next answer
  std::string code_text_;
};

}  // namespace

std::unique_ptr<Codec> NewBinaryCodec(const Options& options,
                                      const std::vector<PlanRequest>& requests,
                                      const std::string& label) {
  return std::make_unique<BinaryCodec>(options, requests, label);
}

}  // namespace cavalry::drivers::memcached
