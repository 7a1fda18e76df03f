// A MySQL session whose operations are the library's blocking calls, as most programs use it: a
// MysqlClient that waits by itself. One thread at a time, but for Interrupt and the watch.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/unique_fd.h"
#include "drivers/core/blocking.h"
#include "drivers/mysql/deadline_watch.h"
#include "drivers/mysql/mysql_client.h"

namespace cavalry::drivers::mysql {

class BlockingMysqlClient final : public BlockingClient, private DeadlineWatch::Watched {
 public:
  // Both must outlive the client.
  BlockingMysqlClient(const SessionPlan& plan, DeadlineWatch* watch);
  ~BlockingMysqlClient() override;

  OpResult Connect() override;
  OpResult Run(const Operation& operation) override;
  void Close() override;
  void Interrupt() override;
  std::string_view request_text() const override { return session_->request_text(); }

 private:
  void EndIfLate(Nanos now) override;
  // Waits for what a connect or close asks for, until `deadline` or an interrupt.
  OpResult Drive(PollStep step, Nanos deadline);
  // Drops the session as it is; what it was doing ended as `outcome`.
  OpResult GiveUp(Outcome outcome, std::string text);
  void SetSocket(int fd);

  const SessionPlan& plan_;
  DeadlineWatch* const watch_;
  std::optional<MysqlClient> session_;  // never empty
  std::string text_;

  // When the operation in progress must have ended; kNever between operations, kLate once the watch
  // has ended it.
  static constexpr Nanos kNever = INT64_MAX;
  static constexpr Nanos kLate = -1;
  std::atomic<Nanos> deadline_{kNever};

  UniqueFd interrupted_;  // an eventfd that stays readable from the first Interrupt on
  std::mutex mutex_;      // guards what follows
  int socket_ = -1;       // the one to shut down; -1 while there is none
  bool is_interrupted_ = false;
};

}  // namespace cavalry::drivers::mysql
