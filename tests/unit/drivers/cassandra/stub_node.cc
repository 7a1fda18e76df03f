#include "tests/unit/drivers/cassandra/stub_node.h"

#include <algorithm>

#include <fmt/format.h>

namespace cavalry::drivers::cassandra {
namespace {

constexpr std::size_t kHeaderBytes = 9;
constexpr std::uint8_t kVersion = 4;
constexpr std::uint64_t kVarchar = 0x0d;
constexpr std::uint64_t kInt = 0x09;

enum Opcode : std::uint8_t {
  kError = 0x00,
  kStartup = 0x01,
  kReady = 0x02,
  kOptions = 0x05,
  kSupported = 0x06,
  kQuery = 0x07,
  kResult = 0x08,
  kPrepare = 0x09,
  kExecute = 0x0a,
};

std::string Number(std::uint64_t number, int bytes) {
  std::string text;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>(number >> shift & 0xff));
  }
  return text;
}

std::string ShortText(std::string_view text) { return Number(text.size(), 2) + std::string(text); }

std::uint32_t ReadNumber(std::string_view bytes) {
  std::uint32_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<unsigned char>(c);
  return number;
}

std::string Set(const std::vector<std::string>& elements) {
  std::string bytes = Number(elements.size(), 4);
  for (const std::string& element : elements) bytes += Number(element.size(), 4) + element;
  return bytes;
}

// Metadata of so many columns of one type, after the flags that say that all are of one table.
std::string Columns(std::size_t count, std::uint64_t type) {
  std::string bytes = ShortText("k") + ShortText("t");
  for (std::size_t i = 0; i < count; ++i) {
    bytes += ShortText(fmt::format("c{}", i)) + Number(type, 2);
  }
  return bytes;
}

std::string ErrorBody(std::int32_t code, std::string_view message) {
  return Number(static_cast<std::uint32_t>(code), 4) + ShortText(message);
}

std::string RowsBody(const StubAnswer& answer) {
  if (answer.columns == 0) return Number(1, 4);  // void
  std::string body = Number(2, 4) + Number(1, 4) + Number(answer.columns, 4);
  body += Columns(answer.columns, kVarchar) + Number(answer.rows.size(), 4);
  for (const auto& row : answer.rows) {
    for (const std::optional<std::string>& value : row) {
      body += value ? Number(value->size(), 4) + *value : Number(0xffffffff, 4);
    }
  }
  return body;
}

// Every parameter is an int, as is the column of a read's answer.
std::string PreparedBody(const std::string& id, const std::string& cql) {
  const auto marks = static_cast<std::size_t>(std::count(cql.begin(), cql.end(), '?'));
  const std::size_t columns = cql.starts_with("SELECT") ? 1 : 0;
  std::string body = Number(4, 4) + ShortText(id);
  body += Number(1, 4) + Number(marks, 4) + Number(0, 4) + Columns(marks, kInt);
  return body + Number(1, 4) + Number(columns, 4) + Columns(columns, kInt);
}

}  // namespace

StubNode::StubNode(StubNodeOptions options)
    : options_(std::move(options)),
      server_([this](fakes::StubConnection& client) { Serve(client); }) {}

std::vector<std::uint16_t> StubNode::Asked(std::string_view begin) const {
  std::vector<std::uint16_t> levels;
  absl::MutexLock lock(&mutex_);
  for (const auto& [cql, level] : asked_) {
    if (std::string_view(cql).starts_with(begin)) levels.push_back(level);
  }
  return levels;
}

StubAnswer StubNode::AnswerTo(const std::string& cql, std::uint16_t level) {
  std::size_t before = 0;
  {
    absl::MutexLock lock(&mutex_);
    before = static_cast<std::size_t>(std::count_if(
        asked_.begin(), asked_.end(), [&](const auto& one) { return one.first == cql; }));
    asked_.emplace_back(cql, level);
  }
  if (options_.answer) {
    if (auto answer = options_.answer(cql, before)) return *std::move(answer);
  }
  if (cql.find("tokens, CAST(rpc_address") != std::string::npos) {
    return {7,
            {{"stub", "5.0.6", "org.apache.cassandra.dht.Murmur3Partitioner", options_.datacenter,
              "r1", Set({"0"}), "127.0.0.1"}},
            0,
            {}};
  }
  if (cql.find("FROM system.peers_v2") != std::string::npos) {
    StubAnswer answer{7, {}, 0, {}};
    for (const auto& peer : options_.peers) {
      answer.rows.push_back({peer[0], peer[0], peer[2], "r1", Set({"100"}), "id", peer[1]});
    }
    return answer;
  }
  if (cql.starts_with("SELECT")) return {1, {}, 0, {}};
  return {};
}

void StubNode::Serve(fakes::StubConnection& client) {
  while (true) {
    const std::string header = client.Read(kHeaderBytes);
    if (header.size() < kHeaderBytes) return;
    const std::string body = client.Read(ReadNumber(std::string_view(header).substr(5, 4)));
    const auto answer = [&](Opcode opcode, const std::string& text) {
      client.Write(std::string{static_cast<char>(0x80 | kVersion), '\0', header[2], header[3],
                               static_cast<char>(opcode)} +
                   Number(text.size(), 4) + text);
    };
    if (header[0] != kVersion) {
      answer(kError, ErrorBody(0x000a, "Invalid or unsupported protocol version (5)"));
      return;
    }
    const auto rows = [&](const std::string& cql, std::uint16_t level) {
      const StubAnswer found = AnswerTo(cql, level);
      if (found.error != 0) return answer(kError, ErrorBody(found.error, found.message));
      answer(kResult, RowsBody(found));
    };
    const std::string_view view = body;
    switch (header[4]) {
      case kStartup:
        answer(kReady, "");
        break;
      case kOptions:
        answer(kSupported, Number(0, 2));
        break;
      case kPrepare: {
        const std::string cql(view.substr(4, ReadNumber(view.substr(0, 4))));
        const std::string id = fmt::format("{:016x}", std::hash<std::string>()(cql));
        {
          absl::MutexLock lock(&mutex_);
          prepared_[id] = cql;
        }
        answer(kResult, PreparedBody(id, cql));
        break;
      }
      case kQuery: {
        const std::size_t size = ReadNumber(view.substr(0, 4));
        rows(std::string(view.substr(4, size)),
             static_cast<std::uint16_t>(ReadNumber(view.substr(4 + size, 2))));
        break;
      }
      case kExecute: {
        const std::size_t size = ReadNumber(view.substr(0, 2));
        std::string cql;
        {
          absl::MutexLock lock(&mutex_);
          cql = prepared_[std::string(view.substr(2, size))];
        }
        rows(cql, static_cast<std::uint16_t>(ReadNumber(view.substr(2 + size, 2))));
        break;
      }
      default:
        answer(kError, ErrorBody(0x000a, "not by this stub"));
    }
  }
}

}  // namespace cavalry::drivers::cassandra
