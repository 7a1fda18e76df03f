// One memcached connection as a sans-I/O state machine (drivers/core/codec.h): what its protocols
// have in common. Answers come in the order of the requests. An operation of several requests (a
// batch, a multi-get in meta) ends with the last answer. Writes that ask for no answer end as sent
// once an answer to something behind them has come; a batch that ends in such writes is closed by a
// request that must be answered (the fence). One thread; `requests` must outlive it. After warm-up
// neither Encode nor Feed allocates, but for texts of errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/core/codec.h"
#include "drivers/core/ring_queue.h"
#include "drivers/memcached/options.h"
#include "drivers/memcached/requests.h"

namespace cavalry::drivers::memcached {

// Bounds of what is sent and not yet answered.
inline constexpr std::size_t kMaxInFlight = 4096;
// Of an answer's line; the longest are a key of 250 bytes and some numbers.
inline constexpr std::size_t kMaxLineBytes = 8192;

inline constexpr std::string_view kCodeValue = "value";           // it cannot be sent
inline constexpr std::string_view kCodeQueueFull = "queue_full";  // a bound above
inline constexpr std::string_view kCodeProtocol = "protocol";     // not memcached's answer
inline constexpr std::string_view kCodeFormat = "format";         // an item that is no row of ours

struct Pending {
  enum class Phase : std::uint8_t {
    kOperation,
    kBlind,  // no answer comes
    kFence,  // no operation
    kCas,    // the second request of a cas
  };
  const PlanRequest* request = nullptr;
  const Operation* operation = nullptr;
  Ticket ticket = 0;
  std::uint32_t left = 1;  // answers still to come
  Phase phase = Phase::kOperation;
};

class MemcachedCodec : public Codec {
 public:
  MemcachedCodec(const Options& options, const std::vector<PlanRequest>& requests,
                 const std::string& label)
      : options_(options), requests_(requests), label_(label) {}
  MemcachedCodec(const MemcachedCodec&) = delete;
  MemcachedCodec& operator=(const MemcachedCodec&) = delete;

  ConnectionState Start(ByteBuffer& out) override;
  bool Encode(const Operation& operation, Ticket ticket, ByteBuffer& out) final;
  void EndBatch(ByteBuffer& out) final;
  ConnectionState Feed(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) final;
  const OpResult& error() const final { return error_; }

 protected:
  // Appends one operation's requests. False after Refuse; what was appended is taken back.
  virtual bool AppendRequest(const PlanRequest& request, const Operation& operation,
                             ByteBuffer& out) = 0;
  virtual void AppendFence(ByteBuffer& out) = 0;
  // Takes one answer, or one row of it, from the front of `bytes`; gives how much it took, 0 when
  // more is needed, or after Break.
  virtual std::size_t Take(std::string_view bytes, ByteBuffer& out, CompletionSink& sink) = 0;

  // For AppendRequest: false, always.
  bool Refuse(std::string_view code, std::string_view text);
  bool RefuseValue(const PlanRequest& request, std::string_view why);
  // The key of the operation's row `index`.
  bool AppendKey(const PlanRequest& request, const Operation& operation, std::size_t index,
                 ByteBuffer& out);
  bool AppendWord(const PlanRequest& request, const Word& word, const Operation& operation,
                  ByteBuffer& out);
  // The value of row `index`: its size, then its bytes.
  std::size_t DataSize(const PlanRequest& request, const Operation& operation,
                       std::size_t index) const;
  void AppendData(const PlanRequest& request, const Operation& operation, std::size_t index,
                  ByteBuffer& out);

  // For Take. The operations in front that ask for no answer were done, as what came is the answer
  // to something behind them; gives whether something is left that can be answered.
  bool SkipBlind(CompletionSink& sink);
  // An item that was found. False: it is no row of ours; the operation is rejected.
  void TakeItem(std::string_view key, std::uint32_t flags, std::string_view data);
  // One answer of the front operation came to this; ends the operation if it was the last.
  // `code` and `text` are copied.
  void TakeOutcome(Outcome outcome, std::string_view code, std::string_view text, bool unknown,
                   Severity severity, CompletionSink& sink);
  // The rest of the answers is there, too: of a get, whose rows came one by one.
  void EndRows(CompletionSink& sink);
  std::size_t Break(std::string_view what, std::string_view bytes);
  // Refused before anything was asked, or while authenticating.
  std::size_t FailConnection(std::string_view code, std::string text, Severity severity);

  const Options& options_;
  const std::vector<PlanRequest>& requests_;
  const std::string& label_;
  ConnectionState state_ = ConnectionState::kHandshake;
  RingQueue<Pending, kMaxInFlight> pending_;
  OpResult result_;           // of the front operation so far
  bool in_answer_ = false;    // result_ holds something
  std::uint64_t unique_ = 0;  // of a cas, from its gets

 private:
  bool ShowPacked(const PlanRequest& request, std::string_view data);
  void ShowRow(const PlanRequest& request, std::string_view key, std::string_view data);
  void Begin();
  void End(CompletionSink& sink);

  bool fence_needed_ = false;
  ByteBuffer partial_;         // an answer that has not ended yet
  std::vector<Field> fields_;  // of the row being visited
  std::vector<Field> packed_;
  std::string code_;
  std::string text_;
  OpResult error_;
};

std::unique_ptr<Codec> NewLineCodec(const Options& options,
                                    const std::vector<PlanRequest>& requests,
                                    const std::string& label);
std::unique_ptr<Codec> NewBinaryCodec(const Options& options,
                                      const std::vector<PlanRequest>& requests,
                                      const std::string& label);

}  // namespace cavalry::drivers::memcached
