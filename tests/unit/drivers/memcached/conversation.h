// Holds a conversation with a memcached codec, whole or in pieces, and writes down what came of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/core/codec.h"
#include "drivers/memcached/memcached_factory.h"

namespace cavalry::drivers::memcached {

// A table t (id, name nullable, qty) with one operation of each kind, by its name; `native`
// statements are added behind them.
class Plans {
 public:
  enum Index : std::uint32_t { kGet, kSome, kAdd, kAddTwo, kSet, kDrop, kFirstNative };

  explicit Plans(const std::vector<std::string>& natives = {});
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  const std::vector<OperationPlan>& all() const { return plans_; }
  TableSchema& table() { return table_; }

 private:
  TableSchema table_;
  std::vector<OperationPlan> plans_;
};

Options TextOptions();

// Writes down rows and results, a line each.
class Scribe final : public RowVisitor, public CompletionSink {
 public:
  void OnRow(std::span<const Field> fields) override;
  void OnDone(Ticket ticket, const OpResult& result) override;
  const std::string& script() const { return script_; }
  void Add(std::string_view text) { script_ += text; }

 private:
  std::string script_;
};

class Talk {
 public:
  // `natives`: statements behind the table's operations.
  explicit Talk(Options options, const std::vector<std::string>& natives = {});

  // Encodes an operation; false: it was refused, and error() says why.
  bool Ask(std::uint32_t plan, const std::vector<Value>& keys,
           const std::vector<Value>& values = {}, bool visit = true);
  // What was encoded since the last call, with the end of its batch.
  std::string Sent();
  // Feeds the bytes in pieces; the codec's state.
  ConnectionState Hear(std::string_view bytes, std::size_t piece = 1 << 20);
  const std::string& script() const { return scribe_.script(); }
  const OpResult& error() const { return codec_->error(); }
  Codec& codec() { return *codec_; }

 private:
  struct Asked {
    std::vector<Value> keys;
    std::vector<Value> values;
    Operation operation;
  };

  Plans plans_;
  std::unique_ptr<MemcachedFactory> factory_;
  std::unique_ptr<Codec> codec_;
  ByteBuffer out_;
  Scribe scribe_;
  std::vector<std::unique_ptr<Asked>> asked_;
};

// Asks, hears the answers at every cut (whole, in pieces of 1, 2, 3, 5, 10 and 100 bytes, and cut
// in two at every byte) and gives the script, which must be the same each time.
template <typename AskAll>
std::string AtEveryCut(const Options& options, const std::vector<std::string>& natives,
                       const AskAll& ask, std::string_view answers) {
  const auto hold = [&](std::size_t first, std::size_t piece) {
    Talk talk(options, natives);
    ask(talk);
    talk.Sent();
    if (first > 0) talk.Hear(answers.substr(0, first));
    talk.Hear(answers.substr(first), piece);
    return talk.script();
  };
  const std::string whole = hold(0, answers.size() + 1);
  for (const std::size_t piece : {1, 2, 3, 5, 10, 100}) {
    const std::string cut = hold(0, piece);
    if (cut != whole) return "in pieces of " + std::to_string(piece) + ": " + cut;
  }
  for (std::size_t first = 1; first < answers.size(); ++first) {
    const std::string cut = hold(first, answers.size());
    if (cut != whole) return "cut at " + std::to_string(first) + ": " + cut;
  }
  return whole;
}

// A packed value of these columns; "-" is NULL.
std::string Packed(const std::vector<std::string>& columns);

}  // namespace cavalry::drivers::memcached
