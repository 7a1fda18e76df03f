// One MySQL session over Connector/C: connects, prepares, runs operations by text or prepared
// statements. All calls on one thread. After warm-up an operation allocates nothing here (the
// library does).
//
// It is a machine of stages: each is a library call, and when the call has ended the machine starts
// the next. Between two calls of ours at most one library call is suspended, waiting for its
// socket; everything it was given lives in this object or in the operation. With blocking
// operations (SessionPlan::blocking) the machine is the same, but those of an operation are the
// library's blocking calls, so that it runs through; connecting and closing wait as ever, for their
// deadlines are finer than the library's.
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
  bool blocking = false;
  unsigned long client_flags = kClientFlags;
  Nanos connect_timeout = 5 * kSecond;
  Nanos operation_timeout = 10 * kSecond;  // of blocking operations
  // By OperationPlan::index; absent where the step has no such operation for this target, or one
  // that is no statement.
  std::vector<std::optional<StatementTemplate>> statements;
};

// Whether an operation of this kind may have changed rows when its answer is unknown.
bool LeavesTrace(OperationKind kind);

class MysqlClient final : public PollableClient {
 public:
  explicit MysqlClient(const SessionPlan& plan) : plan_(plan), prepared_(plan.statements.size()) {}
  ~MysqlClient() override;

  PollStep StartConnect() override;
  PollStep Start(const Operation& operation) override;
  PollStep Continue(short events, bool timed_out) override;
  PollStep StartClose() override;
  std::string_view request_text() const override;

  // The connection's socket while connected, else -1.
  int socket() const { return stage_ == Stage::kReady ? mysql_get_socket(handle_) : -1; }

 private:
  // What is in progress. All but kIdle, kBackOff, kReady and kAwaitAnswer are
  // a library call.
  enum class Stage : std::uint8_t {
    kIdle,         // not connected
    kBackOff,      // waiting to try the connect again: the server's backlog was full
    kConnect,      // mysql_real_connect
    kPrepare,      // mysql_stmt_prepare, of a connect or reset, or of a statement that was lost
    kReady,        // connected, nothing in progress
    kReset,        // mysql_reset_connection
    kChangeUser,   // mysql_change_user
    kSendQuery,    // mysql_send_query
    kExecute,      // mysql_stmt_execute, which only sends
    kAwaitAnswer,  // sent; the socket is not readable yet
    kReadAnswer,   // mysql_read_query_result, also by AnswerReader
    kFetchRow,     // mysql_fetch_row
    kNextResult,   // mysql_next_result
    kStoreRows,    // mysql_stmt_store_result
    kFetchRows,    // mysql_stmt_fetch, of a streamed result
    kNextRows,     // mysql_stmt_next_result
    kClose,        // mysql_close
  };

  // Begins a stage: starts its library call, or makes it where calls block.
  void Begin(Stage stage);
  int StartCall(Stage stage);
  void RunCall(Stage stage);
  // Resumes the suspended call with MYSQL_WAIT_* bits; 0 when it has ended.
  int ResumeCall(int ready);
  // Goes on until something must be waited for, or what was asked is done.
  PollStep Drive();
  // Goes on from a stage whose library call has just ended.
  void Advance();
  void AdvanceConnect();
  void AdvancePrepare();
  void AdvanceRenewal();
  void AdvanceText();
  void AdvancePrepared();

  void BeginCandidate();
  void BeginBackOff();
  // Prepares the first statement at or behind `index`; none left ends what was asked.
  void BeginPrepare(std::size_t index);
  void PrepareAll();
  void TakeTextAnswer();
  void TakeTextRows();
  void TakePreparedAnswer();
  void TakePreparedRows();

  PollStep WaitStep();
  // Ends what was asked with result_.
  void End(Stage next);
  void FinishOperation();
  // The library call failed: classifies, keeps code and text.
  void Fail(unsigned int error, const char* text);
  void FailHandle() { Fail(mysql_errno(handle_), mysql_error(handle_)); }
  void FailStatement();
  void FailConnect(unsigned int error, const char* text);

  void CountTextRow();
  void CountRow(std::span<const Field> fields);

  // Ends what is suspended and closes without waiting for anything.
  void Abandon();

  const SessionPlan& plan_;
  MYSQL* handle_ = nullptr;
  // By OperationPlan::index, as in the plan; null: sent as text.
  std::vector<std::unique_ptr<PreparedStatement>> prepared_;
  Stage stage_ = Stage::kIdle;
  bool done_ = true;            // nothing was asked, or it has ended
  bool blocks_ = false;         // calls of what is in progress block
  bool connecting_ = false;     // kConnect and the kPrepares that belong to it
  bool preparing_all_ = false;  // kPrepare goes on with the next statement
  bool timed_out_ = false;      // the library's own timer ended the suspended call
  int waited_for_ = 0;          // MYSQL_WAIT_* bits that are waited for; 0: none are
  std::size_t candidate_ = 0;   // address being tried
  std::size_t preparing_ = 0;   // statement being prepared
  Nanos connect_deadline_ = 0;
  Nanos back_off_ = 0;
  Escaping escaping_ = Escaping::kBackslash;
  AnswerReader answer_reader_;  // of prepared statements that don't block

  // Results of the library calls.
  MYSQL* connected_ = nullptr;
  MYSQL_RES* rows_ = nullptr;  // the result being fetched
  MYSQL_ROW row_ = nullptr;
  int int_result_ = 0;
  my_bool bool_result_ = 0;

  const Operation* operation_ = nullptr;
  PreparedStatement* statement_ = nullptr;  // of the operation; null: text
  OpResult result_;
  std::string sql_;
  std::vector<Field> fields_;
  std::string code_;
  std::string text_;
  mutable std::string request_text_;
};

}  // namespace cavalry::drivers::mysql
