#include "tests/fakes/fake_agent.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>

#include "cavalry/v1/control.grpc.pb.h"
#include "core/base/clock.h"
#include "core/stats/interval_recorder.h"
#include "core/wire/stats_codec.h"

namespace cavalry::testing {
namespace {

constexpr auto kPatience = std::chrono::seconds(10);
constexpr Nanos kInventedLatency = 100 * kMicrosecond;

// The figures of `operations` operations that were all ok.
v1::Stats Invent(const v1::Workload& workload, std::uint64_t operations) {
  std::vector<std::string> names;
  std::size_t index = 0;
  if (workload.script().steps().empty()) return {};  // no assignment yet
  for (int i = 0; i < workload.operations_size(); ++i) {
    names.push_back(workload.operations(i).name());
    if (workload.operations(i).name() == workload.script().steps(0).operation()) {
      index = static_cast<std::size_t>(i);
    }
  }
  stats::StatsTotals totals(names.size(), /*response_is_service=*/true);
  for (std::uint64_t i = 0; i < operations; ++i) {
    ++totals.operations[index].counters.attempted;
    totals.RecordOperation(index, Outcome::kOk, kInventedLatency);
    ++totals.operations[index].counters.rows;
    ++totals.iterations.attempted;
    ++totals.iterations.ok;
  }
  v1::Stats message;
  wire::ToMessage(totals, names, &message);
  return message;
}

}  // namespace

struct FakeAgent::Impl {
  Options options;
  grpc::ClientContext context;
  std::unique_ptr<v1::Control::Stub> stub;
  std::unique_ptr<grpc::ClientReaderWriter<v1::FromAgent, v1::ToAgent>> stream;
  std::mutex write_mutex;  // one write at a time
  std::mutex mutex;
  std::condition_variable changed;  // something was received, or the stream has ended
  std::vector<v1::ToAgent> received;
  v1::Assignment assignment;
  std::string run_id;
  bool muted = false;
  bool ended = false;
  std::thread reader;
};

FakeAgent::FakeAgent(Options options) : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
  arguments.SetMaxSendMessageSize(-1);
  impl_->stub = v1::Control::NewStub(
      grpc::CreateCustomChannel(fmt::format("127.0.0.1:{}", impl_->options.port),
                                grpc::InsecureChannelCredentials(), arguments));
  impl_->context.set_wait_for_ready(true);
  impl_->stream = impl_->stub->Connect(&impl_->context);
  v1::FromAgent message;
  v1::Hello* hello = message.mutable_hello();
  hello->set_name(impl_->options.name);
  hello->set_host("fakehost");
  hello->set_version(impl_->options.version);
  hello->set_cores(1);
  hello->set_workers(1);
  hello->set_max_open_files(impl_->options.max_open_files);
  for (const char* kind : {"mysql", "handlersocket"}) {
    v1::DriverInfo* driver = hello->add_drivers();
    driver->set_kind(kind);
    for (const char* operation : {"read", "insert", "update", "delete"}) {
      driver->add_operations(operation);
    }
    driver->set_files_per_session(1);
  }
  Send(std::move(message));
  impl_->reader = std::thread([this] { Read(); });
}

FakeAgent::~FakeAgent() {
  // In order first; a coordinator that does not end the stream in turn is cut off.
  {
    const std::lock_guard lock(impl_->write_mutex);
    impl_->stream->WritesDone();
  }
  {
    std::unique_lock lock(impl_->mutex);
    impl_->changed.wait_for(lock, std::chrono::seconds(1), [this] { return impl_->ended; });
  }
  impl_->context.TryCancel();
  impl_->reader.join();
}

const FakeAgent::Options& FakeAgent::options() const { return impl_->options; }

void FakeAgent::Read() {
  v1::ToAgent message;
  while (impl_->stream->Read(&message)) {
    const Nanos received = MonotonicNow();
    bool muted = false;
    {
      const std::lock_guard lock(impl_->mutex);
      if (message.has_welcome()) impl_->run_id = message.run_id();
      if (message.has_assignment()) impl_->assignment = message.assignment();
      if (!message.has_clock_probe() && !message.has_heartbeat()) {
        impl_->received.push_back(message);
        impl_->changed.notify_all();
      }
      muted = impl_->muted;
    }
    if (muted) continue;
    if (message.has_clock_probe()) {
      v1::FromAgent reply;
      reply.mutable_clock_reply()->set_probe_sent_ns(message.clock_probe().sent_ns());
      reply.mutable_clock_reply()->set_received_ns(received);
      reply.mutable_clock_reply()->set_sent_ns(MonotonicNow());
      Send(std::move(reply));
      continue;
    }
    if (impl_->options.override && impl_->options.override(this, message)) continue;
    Behave(message);
  }
  impl_->stream->Finish();
  const std::lock_guard lock(impl_->mutex);
  impl_->ended = true;
  impl_->changed.notify_all();
}

void FakeAgent::Behave(const v1::ToAgent& message) {
  if (message.has_run_phase()) return SendPhaseDone(message, v1::Status());
  if (message.has_assignment()) return SendArmed(message);
  const bool start = message.has_start_at();
  if (!start && !message.has_stop()) return;
  std::uint32_t intervals = start ? impl_->options.intervals : 0;
  std::uint64_t each = impl_->options.per_interval;
  {
    const std::lock_guard lock(impl_->mutex);
    // A counted step: exactly its numbers, in one interval.
    if (impl_->assignment.numbers().has_count()) {
      intervals = start ? 1 : 0;
      each = impl_->assignment.numbers().count();
    }
  }
  if (start) SendIntervals(message.step_id(), 1, intervals, each);
  if (impl_->options.reports) SendReport(message.step_id(), intervals, each);
}

void FakeAgent::Send(v1::FromAgent message) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->muted) return;
    if (message.run_id().empty()) message.set_run_id(impl_->run_id);
  }
  const std::lock_guard lock(impl_->write_mutex);
  impl_->stream->Write(message);
}

void FakeAgent::SendPhaseDone(const v1::ToAgent& order, const v1::Status& status) {
  v1::FromAgent message;
  message.set_step_id(order.step_id());
  v1::PhaseDone* done = message.mutable_phase_done();
  done->set_phase(order.run_phase().phase());
  *done->mutable_status() = status;
  if (order.run_phase().phase() == v1::PHASE_PREPARE) {
    for (const v1::Table& table : order.run_phase().workload().tables()) {
      v1::TableState* state = done->add_tables();
      state->set_table(table.name());
      state->set_exists(true);
      state->set_marked(true);
    }
  }
  for (const v1::KeyShare& share : order.run_phase().shares()) {
    if (order.run_phase().phase() == v1::PHASE_FILL) done->set_rows(done->rows() + share.count());
  }
  if (order.run_phase().phase() == v1::PHASE_AUDIT) done->mutable_audit();
  Send(std::move(message));
}

void FakeAgent::SendArmed(const v1::ToAgent& order) {
  v1::FromAgent message;
  message.set_step_id(order.step_id());
  message.mutable_armed()->set_connected(order.assignment().sessions());
  Send(std::move(message));
}

void FakeAgent::SendIntervals(std::uint64_t step_id, std::uint64_t first_seq, std::uint32_t count,
                              std::uint64_t per_interval) {
  v1::Workload workload;
  {
    const std::lock_guard lock(impl_->mutex);
    workload = impl_->assignment.workload();
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    v1::FromAgent message;
    message.set_step_id(step_id);
    v1::Interval* interval = message.mutable_interval();
    interval->set_seq(first_seq + i);
    interval->set_index(static_cast<std::uint32_t>(first_seq - 1 + i));
    interval->set_part(v1::STEP_PART_MEASURE);
    *interval->mutable_stats() = Invent(workload, per_interval);
    Send(std::move(message));
  }
}

void FakeAgent::SendReport(std::uint64_t step_id, std::uint32_t count, std::uint64_t per_interval,
                           const std::function<void(v1::StepReport*)>& change) {
  v1::FromAgent message;
  message.set_step_id(step_id);
  v1::StepReport* report = message.mutable_step_report();
  {
    const std::lock_guard lock(impl_->mutex);
    *report->mutable_totals() = Invent(impl_->assignment.workload(), count * per_interval);
  }
  report->set_seq(count + 1);
  const std::uint64_t duration = std::uint64_t{kSecond} * count;
  report->set_duration_ns(duration);
  report->set_issuing_ns(duration);
  report->set_loop("epoll");
  report->set_max_rss_bytes(1 << 20);
  v1::WorkerUsage* worker = report->add_workers();
  worker->set_wall_ns(duration);
  worker->set_cpu_user_ns(duration / 10);
  if (change) change(report);
  Send(std::move(message));
}

void FakeAgent::Kill() { impl_->context.TryCancel(); }

void FakeAgent::Mute() {
  const std::lock_guard lock(impl_->mutex);
  impl_->muted = true;
}

std::optional<v1::ToAgent> FakeAgent::Await(const std::function<bool(const v1::ToAgent&)>& is) {
  std::optional<v1::ToAgent> found;
  const auto arrived = [&] {
    for (const v1::ToAgent& message : impl_->received) {
      if (is(message)) found = message;
    }
    return found.has_value() || impl_->ended;
  };
  std::unique_lock lock(impl_->mutex);
  impl_->changed.wait_for(lock, kPatience, arrived);
  return found;
}

bool FakeAgent::AwaitEnd() {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, kPatience, [this] { return impl_->ended; });
}

std::vector<v1::ToAgent> FakeAgent::Received() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->received;
}

}  // namespace cavalry::testing
