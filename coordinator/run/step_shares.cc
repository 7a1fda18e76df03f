#include "coordinator/run/step_shares.h"

#include <algorithm>
#include <limits>

#include "coordinator/run/load_split.h"
#include "coordinator/spec/spec_check.h"
#include "core/base/check.h"
#include "core/wire/operation_keys.h"

namespace cavalry::run {
namespace {

__extension__ using Wide = unsigned __int128;

std::uint64_t KeysInRange(const v1::Keys& keys) {
  const v1::Range* range = wire::RangeOf(keys);
  if (range == nullptr || range->last() < range->first()) return 0;
  return range->last() - range->first() + 1;
}

// Iterations that visit every key of the script's first operation once; 0 if it draws no keys.
std::uint64_t IterationsOfPass(const v1::Workload& workload) {
  const v1::OperationSpec* operation = spec::PassOperation(workload);
  if (operation == nullptr) return 0;
  std::uint64_t per_iteration = spec::TimesPerIteration(workload, operation->name());
  if (operation->has_multi_read()) per_iteration *= operation->multi_read().count();
  per_iteration = std::max<std::uint64_t>(per_iteration, 1);
  const std::uint64_t count = KeysInRange(*wire::KeysOf(*operation));
  return count / per_iteration + (count % per_iteration != 0 ? 1 : 0);
}

}  // namespace

std::optional<std::uint64_t> TotalIterations(const v1::Workload& workload) {
  const v1::StopAfter& stop = workload.load().stop_after();
  std::optional<std::uint64_t> total;
  if (stop.has_iterations()) total = stop.iterations();
  if (stop.has_passes()) {
    const Wide wide = Wide{stop.passes()} * IterationsOfPass(workload);
    const auto passes =
        static_cast<std::uint64_t>(std::min<Wide>(wide, std::numeric_limits<std::uint64_t>::max()));
    total = total ? std::min(*total, passes) : passes;
  }
  return total;
}

std::vector<StepShare> SplitStep(const v1::Workload& workload, std::size_t agents) {
  CAVALRY_CHECK(agents > 0);
  const std::uint64_t all_sessions = workload.load().sessions();
  std::vector<std::uint64_t> sessions = SplitEvenly(all_sessions, agents);
  while (!sessions.empty() && sessions.back() == 0) sessions.pop_back();

  const std::optional<std::uint64_t> total = TotalIterations(workload);
  std::vector<std::uint64_t> counts;
  if (total) counts = SplitByWeight(*total, sessions);

  const v1::Load& load = workload.load();
  const std::vector<std::uint64_t> pool = SplitByWeight(load.pool().size(), sessions);
  const std::vector<std::uint64_t> overflow = SplitByWeight(load.pool().overflow(), sessions);

  std::vector<StepShare> shares(sessions.size());
  std::uint64_t first_session = 0;
  std::uint64_t first_number = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    StepShare& share = shares[i];
    share.sessions = static_cast<std::uint32_t>(sessions[i]);
    share.first_session = static_cast<std::uint32_t>(first_session);
    first_session += sessions[i];
    share.connect_rate = static_cast<double>(workload.load().connect_rate()) *
                         static_cast<double>(sessions[i]) / static_cast<double>(all_sessions);
    if (load.has_pool()) {
      // An agent with sessions needs a connection at least, even where there are more agents.
      share.pool_size = std::max(static_cast<std::uint32_t>(pool[i]), 1U);
      share.pool_overflow = static_cast<std::uint32_t>(overflow[i]);
    }
    if (total) {
      share.numbers.set_first(first_number);
      share.numbers.set_stride(1);
      share.numbers.set_count(counts[i]);
      share.numbers.set_warmup_first(*total + i);
      share.numbers.set_warmup_stride(shares.size());
      first_number += counts[i];
    } else {
      share.numbers.set_first(i);
      share.numbers.set_stride(shares.size());
    }
  }
  return shares;
}

std::vector<v1::KeyShare> SplitKeys(const v1::Table& table, std::size_t agents) {
  const std::vector<std::uint64_t> counts = SplitEvenly(table.rows(), agents);
  std::vector<v1::KeyShare> shares(agents);
  std::uint64_t first = 1;
  for (std::size_t i = 0; i < agents; ++i) {
    shares[i].set_table(table.name());
    shares[i].set_first(first);
    shares[i].set_count(counts[i]);
    first += counts[i];
  }
  return shares;
}

}  // namespace cavalry::run
