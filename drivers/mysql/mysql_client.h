// One MySQL session over Connector/C's non-blocking calls: connects, prepares, runs operations by
// text or prepared statements. All calls on one thread. Between two calls at most one library call
// is suspended, waiting for its socket; everything it was given lives in this object or in the
// operation. After warm-up an operation allocates nothing here (the library does).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "drivers/core/pollable.h"
#include "drivers/mysql/mariadb_client.h"
#include "drivers/mysql/mysql_error.h"
#include "drivers/mysql/prepared_statement.h"
#include "drivers/mysql/server_address.h"
#include "drivers/mysql/statement.h"

namespace cavalry::drivers::mysql {

// What all sessions of a target share. Immutable during a step; outlives the clients.
struct SessionPlan {
  ServerAddress address;
  bool prepared = false;
  Nanos connect_timeout = 5 * kSecond;
  // By OperationPlan::index; absent where the step has no such operation for this target.
  std::vector<std::optional<StatementTemplate>> statements;
};

class MysqlClient final : public PollableClient {
 public:
  explicit MysqlClient(const SessionPlan& plan) : plan_(plan) {}
  ~MysqlClient() override;

  PollStep StartConnect() override;
  PollStep Start(const Operation& operation) override;
  PollStep Continue(short events, bool timed_out) override;
  PollStep StartClose() override;

 private:
  // What is in progress. All but kIdle, kBackOff, kReady and kAwaitAnswer are
  // a library call.
  enum class Stage : std::uint8_t {
    kIdle,         // not connected
    kBackOff,      // waiting to try the connect again: the server's backlog was full
    kConnect,      // mysql_real_connect
    kPrepare,      // mysql_stmt_prepare, of a connect or of an operation whose statement was lost
    kReady,        // connected, nothing in progress
    kSendQuery,    // mysql_send_query
    kExecute,      // mysql_stmt_execute, which only sends
    kAwaitAnswer,  // sent; the socket is not readable yet
    kReadAnswer,   // mysql_read_query_result, also by AnswerReader
    kFetchRow,     // mysql_fetch_row
    kNextResult,   // mysql_next_result
    kStoreRows,    // mysql_stmt_store_result
    kNextRows,     // mysql_stmt_next_result
    kClose,        // mysql_close
  };

  // Goes on from a stage whose library call has just ended.
  PollStep Advance();
  PollStep AdvanceConnect();
  PollStep AdvancePrepare();
  PollStep AdvanceText();
  PollStep AdvancePrepared();
  // Resumes the suspended call with MYSQL_WAIT_* bits; 0 when it has ended.
  int ResumeCall(int ready);

  PollStep StartCandidate();
  PollStep StartBackOff();
  PollStep StartPrepare(std::size_t index);
  PollStep StartText();
  PollStep StartPrepared();
  PollStep FetchText();
  PollStep EndOfText();
  PollStep TakePreparedAnswer();
  PollStep EndOfPrepared();

  // The call of `stage` answered `status`: waits for its events, or advances when it has ended.
  PollStep After(Stage stage, int status);
  PollStep WaitFor(int status);
  // Ends what was asked with result_.
  PollStep Done(Stage next);
  PollStep FinishOperation();
  // The library call failed: classifies, keeps code and text.
  PollStep Fail(unsigned int error, const char* text);
  PollStep FailStatement();
  PollStep FailConnect(unsigned int error, const char* text);

  // Takes what a text or prepared answer brought.
  void TakeTextRow();
  bool ReadPreparedRows();
  void CountRow(std::span<const Field> fields);

  // Ends what is suspended and closes without waiting for anything.
  void Abandon();

  const SessionPlan& plan_;
  MYSQL* handle_ = nullptr;
  // By OperationPlan::index, as in the plan.
  std::vector<std::unique_ptr<PreparedStatement>> prepared_;
  Stage stage_ = Stage::kIdle;
  bool connecting_ = false;    // kConnect and the kPrepares that belong to it
  bool timed_out_ = false;     // the library's own timer ended the suspended call
  int waited_for_ = 0;         // MYSQL_WAIT_* bits of the suspended call; 0: none is
  std::size_t candidate_ = 0;  // address being tried
  std::size_t preparing_ = 0;  // statement being prepared
  Nanos connect_deadline_ = 0;
  Nanos back_off_ = 0;
  Escaping escaping_ = Escaping::kBackslash;
  AnswerReader answer_reader_;  // of prepared statements

  // Results of the library calls.
  MYSQL* connected_ = nullptr;
  MYSQL_RES* rows_ = nullptr;  // the result being fetched
  MYSQL_ROW row_ = nullptr;
  int int_result_ = 0;
  my_bool bool_result_ = 0;

  const Operation* operation_ = nullptr;
  PreparedStatement* statement_ = nullptr;  // of the operation
  OpResult result_;
  std::string sql_;
  std::vector<Field> fields_;
  std::string code_;
  std::string text_;
};

}  // namespace cavalry::drivers::mysql
