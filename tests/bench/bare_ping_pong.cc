// The least that a client can cost: N connections, each sends one line and waits for one line, over
// and over, on one thread, with neither clock nor statistics per operation. What cavalry costs
// beyond this is its own. Prints CPU per operation and operations per second.
//   bare_ping_pong --loop io_uring|epoll --connections N --request TEXT --seconds S HOST PORT
// An LF is added to TEXT; "\t" in it is a TAB. --greeting TEXT is sent first on each connection,
// and --greeting-answers N lines are skipped (default 1 with a greeting). io_uring only: --receive
// multishot|once, --files registered|plain. Bytes that no argument can hold: --request-file FILE
// with --answer-bytes N, the answer's length, of which --at-once K operations consist (default 1);
// --greeting-file FILE with --greeting-bytes N.
// --mysql text|prepared with --user, --password, --database: TEXT is one SQL statement (prepared:
// its one parameter is --key N); Connector/C logs in, then the same packet goes back and forth.
#include "tests/bench/bare_mysql.h"

#include <arpa/inet.h>
#include <liburing.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Options {
  std::string loop = "io_uring";
  std::string receive = "multishot";
  std::string files = "plain";
  std::string request = "1\t=\t1\t12345";
  std::string greeting;
  int greeting_answers = -1;
  std::string mysql;  // "text" or "prepared": the bytes of a MySQL statement
  std::string user, password, database;
  int key = 12345;
  std::vector<std::string> requests;  // one a connection
  std::size_t answer_bytes = 0;       // length of an answer; 0: answers end with an LF
  std::size_t greeting_bytes = 0;     // length of a greeting's answer; 0: lines
  std::uint64_t at_once = 1;          // operations in one request
  int connections = 64;
  double seconds = 5;
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
};

struct Totals {
  std::uint64_t operations = 0;
  std::uint64_t turns = 0;
};

double Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "bare_ping_pong: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

std::string Unescape(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == 't') {
      result += '\t';
      ++i;
    } else {
      result += text[i];
    }
  }
  return result + '\n';
}

std::string ReadFile(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) Fail(path.c_str());
  std::string bytes;
  std::array<char, 4096> buffer;
  for (std::size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;) {
    bytes.append(buffer.data(), got);
  }
  std::fclose(file);
  return bytes;
}

Options Parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> places;
  std::string request_file;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (!name.starts_with("--")) {
      places.push_back(name);
      continue;
    }
    if (++i == argc) Fail("missing value");
    const std::string value = argv[i];
    if (name == "--loop") options.loop = value;
    if (name == "--receive") options.receive = value;
    if (name == "--files") options.files = value;
    if (name == "--request") options.request = value;
    if (name == "--greeting") options.greeting = Unescape(value);
    if (name == "--greeting-answers") options.greeting_answers = std::atoi(value.c_str());
    if (name == "--request-file") request_file = value;
    if (name == "--greeting-file") options.greeting = ReadFile(value);
    if (name == "--answer-bytes") options.answer_bytes = std::strtoul(value.c_str(), nullptr, 10);
    if (name == "--greeting-bytes") {
      options.greeting_bytes = std::strtoul(value.c_str(), nullptr, 10);
    }
    if (name == "--at-once") options.at_once = std::strtoul(value.c_str(), nullptr, 10);
    if (name == "--mysql") options.mysql = value;
    if (name == "--user") options.user = value;
    if (name == "--password") options.password = value;
    if (name == "--database") options.database = value;
    if (name == "--key") options.key = std::atoi(value.c_str());
    if (name == "--connections") options.connections = std::atoi(value.c_str());
    if (name == "--seconds") options.seconds = std::atof(value.c_str());
  }
  if (places.size() != 2) {
    std::fprintf(stderr,
                 "usage: bare_ping_pong [--loop io_uring|epoll] [--connections N] [--request TEXT] "
                 "[--seconds S] HOST PORT\n");
    std::exit(2);
  }
  if (!request_file.empty()) {
    options.request = ReadFile(request_file);
  } else if (options.mysql.empty()) {
    options.request = Unescape(options.request);
  }
  if (options.greeting_answers < 0) options.greeting_answers = options.greeting.empty() ? 0 : 1;
  options.host = places[0];
  options.port = static_cast<std::uint16_t>(std::atoi(places[1].c_str()));
  return options;
}

int Connect(const Options& options) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  inet_pton(AF_INET, options.host.c_str(), &address.sin_addr);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) Fail("connect");
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (!options.greeting.empty() &&
      send(fd, options.greeting.data(), options.greeting.size(), 0) < 0) {
    Fail("send");
  }
  for (std::size_t taken = 0; taken < options.greeting_bytes; ++taken) {
    char byte;
    if (recv(fd, &byte, 1, 0) != 1) Fail("greeting");
  }
  for (int lines = 0; options.greeting_bytes == 0 && lines < options.greeting_answers;) {
    char byte;
    if (recv(fd, &byte, 1, 0) != 1) Fail("greeting");
    if (byte == '\n') ++lines;
  }
  return fd;
}

// Tells when the answer of a connection has ended; a connection has one in flight.
class AnswerEnds {
 public:
  AnswerEnds(std::size_t connections, std::size_t answer_bytes)
      : answer_bytes_(answer_bytes), received_(connections) {}

  bool Take(std::size_t index, const char* bytes, int count) {
    if (answer_bytes_ == 0) {
      return std::memchr(bytes, '\n', static_cast<std::size_t>(count)) != nullptr;
    }
    received_[index] += static_cast<std::size_t>(count);
    if (received_[index] < answer_bytes_) return false;
    received_[index] = 0;
    return true;
  }

 private:
  std::size_t answer_bytes_;
  std::vector<std::size_t> received_;
};

Totals RunEpoll(const Options& options, const std::vector<int>& fds) {
  Totals totals;
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  AnswerEnds ends(fds.size(), options.answer_bytes);
  for (const int& fd : fds) {
    const auto number = static_cast<std::size_t>(&fd - fds.data());
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    event.data.u64 = number;
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) Fail("epoll_ctl");
    const std::string& request = options.requests[number];
    if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) Fail("send");
  }
  std::array<epoll_event, 256> events;
  std::array<char, 16384> buffer;
  const double end = Now() + options.seconds;
  while ((totals.turns & 63) != 0 || Now() < end) {
    ++totals.turns;
    const int count = epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const std::size_t index = events[static_cast<std::size_t>(i)].data.u64;
      const int fd = fds[index];
      const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got <= 0) Fail("recv");
      if (!ends.Take(index, buffer.data(), static_cast<int>(got))) continue;
      ++totals.operations;
      const std::string& request = options.requests[index];
      if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) Fail("send");
    }
  }
  return totals;
}

class Uring {
 public:
  Uring(const Options& options, const std::vector<int>& fds)
      : options_(options), fds_(fds), own_(fds.size()), ends_(fds.size(), options.answer_bytes) {
    io_uring_params params{};
    params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
    if (io_uring_queue_init_params(4096, &ring_, &params) != 0) Fail("io_uring");
    io_uring_register_ring_fd(&ring_);
    if (Registered() &&
        io_uring_register_files(&ring_, fds.data(), static_cast<unsigned>(fds.size())) != 0) {
      Fail("register files");
    }
    if (Multishot()) ProvideBuffers();
  }

  Totals Run() {
    Totals totals;
    for (std::size_t i = 0; i < fds_.size(); ++i) {
      if (Multishot()) Receive(i);
      Send(i);
      if (!Multishot()) Receive(i);
    }
    const double end = Now() + options_.seconds;
    while ((totals.turns & 63) != 0 || Now() < end) {
      ++totals.turns;
      io_uring_submit_and_wait(&ring_, 1);
      unsigned head;
      unsigned count = 0;
      io_uring_cqe* cqe;
      io_uring_for_each_cqe(&ring_, head, cqe) {
        ++count;
        Take(*cqe, &totals);
      }
      io_uring_cq_advance(&ring_, count);
    }
    return totals;
  }

 private:
  static constexpr unsigned kBuffers = 256;
  static constexpr unsigned kBufferBytes = 4096;

  bool Multishot() const { return options_.receive == "multishot"; }
  bool Registered() const { return options_.files == "registered"; }

  void ProvideBuffers() {
    void* memory = nullptr;
    if (posix_memalign(&memory, 4096, kBuffers * sizeof(io_uring_buf)) != 0) Fail("memory");
    buffer_ring_ = static_cast<io_uring_buf_ring*>(memory);
    io_uring_buf_ring_init(buffer_ring_);
    shared_.resize(kBuffers * (kBufferBytes + 64));
    io_uring_buf_reg registration{};
    registration.ring_addr = reinterpret_cast<std::uint64_t>(buffer_ring_);
    registration.ring_entries = kBuffers;
    if (io_uring_register_buf_ring(&ring_, &registration, 0) != 0) Fail("register buffers");
    for (unsigned i = 0; i < kBuffers; ++i) Provide(i);
  }
  char* Shared(unsigned buffer) { return shared_.data() + buffer * (kBufferBytes + 64); }
  void Provide(unsigned buffer) {
    io_uring_buf_ring_add(buffer_ring_, Shared(buffer), kBufferBytes,
                          static_cast<unsigned short>(buffer), io_uring_buf_ring_mask(kBuffers), 0);
    io_uring_buf_ring_advance(buffer_ring_, 1);
  }
  io_uring_sqe* Next(std::size_t index) {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    if (sqe == nullptr) {
      io_uring_submit(&ring_);
      sqe = io_uring_get_sqe(&ring_);
    }
    io_uring_sqe_set_data64(sqe, index);
    return sqe;
  }
  int File(std::size_t index) const { return Registered() ? static_cast<int>(index) : fds_[index]; }
  void Finish(io_uring_sqe* sqe, std::size_t index) {
    io_uring_sqe_set_data64(sqe, index);
    if (Registered()) sqe->flags |= IOSQE_FIXED_FILE;
  }
  void Send(std::size_t index) {
    io_uring_sqe* sqe = Next(index);
    const std::string& request = options_.requests[index];
    io_uring_prep_send(sqe, File(index), request.data(), request.size(),
                       MSG_WAITALL | MSG_NOSIGNAL);
    Finish(sqe, index);
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
  }
  void Receive(std::size_t index) {
    io_uring_sqe* sqe = Next(index);
    if (Multishot()) {
      io_uring_prep_recv_multishot(sqe, File(index), nullptr, 0, 0);
      Finish(sqe, index);
      sqe->flags |= IOSQE_BUFFER_SELECT;
    } else {
      io_uring_prep_recv(sqe, File(index), own_[index].data(), own_[index].size(), 0);
      Finish(sqe, index);
      sqe->ioprio |= IORING_RECVSEND_POLL_FIRST;
    }
  }
  void Take(const io_uring_cqe& cqe, Totals* totals) {
    const auto index = static_cast<std::size_t>(cqe.user_data);
    if (cqe.res == -ENOBUFS) {
      Receive(index);
      return;
    }
    if (cqe.res <= 0) {
      errno = -cqe.res;
      Fail("lost a connection");
    }
    bool ended;
    if (Multishot()) {
      const unsigned buffer = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
      ended = ends_.Take(index, Shared(buffer), cqe.res);
      Provide(buffer);
      if ((cqe.flags & IORING_CQE_F_MORE) == 0) Receive(index);
    } else {
      ended = ends_.Take(index, own_[index].data(), cqe.res);
    }
    if (ended) {
      ++totals->operations;
      Send(index);
    }
    if (!Multishot()) Receive(index);
  }

  const Options& options_;
  const std::vector<int>& fds_;
  io_uring ring_{};
  io_uring_buf_ring* buffer_ring_ = nullptr;
  std::vector<char> shared_;
  std::vector<std::array<char, 4096>> own_;
  AnswerEnds ends_;
};

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = Parse(argc, argv);
  std::vector<int> fds;
  if (options.mysql.empty()) {
    for (int i = 0; i < options.connections; ++i) fds.push_back(Connect(options));
    options.requests.assign(fds.size(), options.request);
  } else {
    const cavalry::bench::BareMysql mysql = cavalry::bench::ConnectBareMysql(
        {options.host, options.port, options.user, options.password, options.database,
         options.request, options.mysql == "prepared", options.key, options.connections});
    fds = mysql.fds;
    options.requests = mysql.requests;
    options.answer_bytes = mysql.answer_bytes;
  }

  rusage before;
  getrusage(RUSAGE_THREAD, &before);
  const double start = Now();
  const Totals totals =
      options.loop == "epoll" ? RunEpoll(options, fds) : Uring(options, fds).Run();
  const double seconds = Now() - start;
  rusage after;
  getrusage(RUSAGE_THREAD, &after);

  const auto operations = static_cast<double>(totals.operations * options.at_once);
  std::printf(
      "{\"loop\": \"%s\", \"connections\": %d, \"operations\": %.0f, \"ops_per_s\": %.0f, "
      "\"ops_per_turn\": %.2f, \"user_us_per_op\": %.3f, \"system_us_per_op\": %.3f}\n",
      options.loop.c_str(), options.connections, operations, operations / seconds,
      operations / static_cast<double>(totals.turns),
      (Seconds(after.ru_utime) - Seconds(before.ru_utime)) / operations * 1e6,
      (Seconds(after.ru_stime) - Seconds(before.ru_stime)) / operations * 1e6);
  return 0;
}
