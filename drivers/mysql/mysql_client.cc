#include "drivers/mysql/mysql_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>

#include "core/base/check.h"

namespace cavalry::drivers::mysql {
namespace {

// A suspended call that is told of a timeout gives up wherever it waits; a few of them can follow
// each other (a connect tries its next step), never many.
constexpr int kMaxUnwindSteps = 64;

// Between two tries of a connect that met a full backlog: doubled from the first to the last.
constexpr Nanos kFirstBackOff = kMillisecond;
constexpr Nanos kLastBackOff = 64 * kMillisecond;

short PollEvents(int status) {
  int events = 0;
  if (status & MYSQL_WAIT_READ) events |= POLLIN;
  if (status & MYSQL_WAIT_WRITE) events |= POLLOUT;
  if (status & MYSQL_WAIT_EXCEPT) events |= POLLPRI;
  return static_cast<short>(events);
}

// The library must be told what really happened. An error or a hang-up ends any wait: reading or
// writing then finds out what it was.
int ReadyBits(short events, int waited_for) {
  int ready = 0;
  if (events & POLLIN) ready |= MYSQL_WAIT_READ;
  if (events & POLLOUT) ready |= MYSQL_WAIT_WRITE;
  if (events & POLLPRI) ready |= MYSQL_WAIT_EXCEPT;
  if (events & (POLLERR | POLLHUP | POLLNVAL)) {
    ready |= waited_for & (MYSQL_WAIT_READ | MYSQL_WAIT_WRITE);
  }
  return ready;
}

// Whether no row is a miss.
bool MissesWithoutRows(OperationKind kind) {
  return HasTable(kind) && kind != OperationKind::kInsert;
}

}  // namespace

bool LeavesTrace(OperationKind kind) {
  return IsWrite(kind) || kind == OperationKind::kCommit || kind == OperationKind::kNative;
}

MysqlClient::~MysqlClient() { Abandon(); }

// ---- Connecting

PollStep MysqlClient::StartConnect() {
  Abandon();
  candidate_ = 0;
  back_off_ = kFirstBackOff;
  connect_deadline_ = MonotonicNow() + plan_.connect_timeout;
  done_ = false;
  blocks_ = false;
  BeginCandidate();
  return Drive();
}

void MysqlClient::BeginCandidate() {
  operation_ = nullptr;
  result_ = OpResult{};
  connecting_ = true;
  timed_out_ = false;
  handle_ = NewHandle(plan_.address, CallMode::kNonBlocking, plan_.connect_timeout);
  if (handle_ == nullptr) return FailConnect(CR_OUT_OF_MEMORY, "out of memory");
  Begin(Stage::kConnect);
}

void MysqlClient::AdvanceConnect() {
  if (connected_ == nullptr) {
    const unsigned int error = mysql_errno(handle_);
    const bool not_reached =
        ClassifyError(error, ErrorPhase::kConnect).outcome == Outcome::kNotSent;
    if (not_reached && candidate_ + 1 < plan_.address.candidates.size()) {
      Abandon();
      ++candidate_;
      return BeginCandidate();
    }
    if (!IsFullBacklog(error, mysql_error(handle_), plan_.address)) {
      return FailConnect(error, mysql_error(handle_));
    }
    if (MonotonicNow() < connect_deadline_) return BeginBackOff();
    return FailConnect(CR_CONNECTION_ERROR,
                       "the socket's backlog stayed full (back_log on the server)");
  }
  if (plan_.prepared && !plan_.blocking) answer_reader_.Install(handle_);
  PrepareAll();
}

void MysqlClient::BeginBackOff() {
  Abandon();
  stage_ = Stage::kBackOff;
}

// The session is new to the server: nothing of it is known there.
void MysqlClient::PrepareAll() {
  escaping_ = (handle_->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES) != 0
                  ? Escaping::kQuotesOnly
                  : Escaping::kBackslash;
  preparing_all_ = true;
  BeginPrepare(0);
}

void MysqlClient::BeginPrepare(std::size_t index) {
  if (preparing_all_) {
    const auto is_sent_as_text = [&](std::size_t i) {
      return !plan_.prepared || !plan_.statements[i] || plan_.statements[i]->is_text_only();
    };
    while (index < prepared_.size() && is_sent_as_text(index)) ++index;
    if (index == prepared_.size()) {
      preparing_all_ = false;
      statement_ = nullptr;
      return End(Stage::kReady);
    }
    if (prepared_[index] == nullptr) {
      prepared_[index] = std::make_unique<PreparedStatement>(*plan_.statements[index]);
    }
    if (!prepared_[index]->Open(handle_)) return Fail(CR_OUT_OF_MEMORY, "out of memory");
  }
  preparing_ = index;
  answer_reader_.SkipReading(false);
  Begin(Stage::kPrepare);
}

void MysqlClient::AdvancePrepare() {
  statement_ = prepared_[preparing_].get();
  if (int_result_ != 0 || !statement_->Bind()) return FailStatement();
  answer_reader_.SkipReading(true);
  if (preparing_all_) return BeginPrepare(preparing_ + 1);
  if (!statement_->SetValues(*operation_)) return FailStatement();
  Begin(Stage::kExecute);
}

// ---- Operations

PollStep MysqlClient::Start(const Operation& operation) {
  CAVALRY_CHECK(stage_ == Stage::kReady);
  operation_ = &operation;
  result_ = OpResult{};
  done_ = false;
  blocks_ = plan_.blocking;
  const std::size_t index = operation.plan->index;
  statement_ = prepared_[index].get();
  if (statement_ != nullptr) {
    if (statement_->SetValues(operation)) {
      Begin(Stage::kExecute);
    } else {
      FailStatement();
    }
  } else if (plan_.statements[index]) [[likely]] {
    plan_.statements[index]->Write(operation, escaping_, &sql_);
    Begin(Stage::kSendQuery);
  } else {
    const bool reset = operation.plan->kind == OperationKind::kResetConnection;
    sql_ = reset ? "COM_RESET_CONNECTION" : "COM_CHANGE_USER";
    Begin(reset ? Stage::kReset : Stage::kChangeUser);
  }
  return Drive();
}

// The server has forgotten the session's statements and settings.
void MysqlClient::AdvanceRenewal() {
  const bool failed = stage_ == Stage::kReset ? int_result_ != 0 : bool_result_ != 0;
  if (failed) return FailHandle();
  PrepareAll();
  result_.reprepared = stage_ == Stage::kPrepare;
}

void MysqlClient::AdvanceText() {
  switch (stage_) {
    case Stage::kSendQuery:
      if (int_result_ != 0) return FailHandle();
      if (blocks_) return TakeTextAnswer();
      stage_ = Stage::kAwaitAnswer;
      waited_for_ = MYSQL_WAIT_READ;
      return;
    case Stage::kReadAnswer:
      return bool_result_ == 0 ? TakeTextAnswer() : FailHandle();
    case Stage::kFetchRow:
      return TakeTextRows();
    default:  // kNextResult
      return int_result_ == 0 ? TakeTextAnswer() : FailHandle();
  }
}

// Rows are taken one by one out of the library's buffer. Storing them first, as
// mysql_store_result does, would copy each and allocate 8 KiB per answer.
void MysqlClient::TakeTextAnswer() {
  if (mysql_field_count(handle_) != 0) {
    rows_ = mysql_use_result(handle_);
    if (rows_ == nullptr) return FailHandle();
    fields_.resize(mysql_num_fields(rows_));
    return Begin(Stage::kFetchRow);
  }
  result_.rows += static_cast<std::uint32_t>(mysql_affected_rows(handle_));
  result_.insert_id = mysql_insert_id(handle_);
  if (!mysql_more_results(handle_)) return FinishOperation();
  Begin(Stage::kNextResult);
}

void MysqlClient::TakeTextRows() {
  if (row_ != nullptr) {
    CountTextRow();
    return Begin(Stage::kFetchRow);
  }
  // The end, or an error: in both cases the library has read all there is, so this is local.
  mysql_free_result(rows_);
  rows_ = nullptr;
  if (mysql_errno(handle_) != 0) return FailHandle();
  if (!mysql_more_results(handle_)) return FinishOperation();
  Begin(Stage::kNextResult);
}

void MysqlClient::AdvancePrepared() {
  MYSQL_STMT* handle = statement_->handle();
  switch (stage_) {
    case Stage::kExecute:
      if (!blocks_) {
        if (int_result_ != 0) return FailStatement();
        stage_ = Stage::kAwaitAnswer;
        waited_for_ = MYSQL_WAIT_READ;
        return;
      }
      bool_result_ = int_result_ != 0;
      [[fallthrough]];
    case Stage::kReadAnswer:
      if (bool_result_ == 0) return TakePreparedAnswer();
      if (mysql_stmt_errno(handle) != ER_UNKNOWN_STMT_HANDLER || result_.reprepared) {
        return FailStatement();
      }
      result_.reprepared = true;
      return BeginPrepare(operation_->plan->index);
    case Stage::kNextRows:
      return int_result_ == 0 ? TakePreparedAnswer() : FailStatement();
    case Stage::kStoreRows:
      return int_result_ == 0 ? TakePreparedRows() : FailStatement();
    default:  // kFetchRows
      return TakePreparedRows();
  }
}

// The answer's head has been read, and its rows too unless it is streamed or calls block.
void MysqlClient::TakePreparedAnswer() {
  MYSQL_STMT* handle = statement_->handle();
  if (mysql_stmt_field_count(handle) == 0) {
    result_.rows += static_cast<std::uint32_t>(mysql_stmt_affected_rows(handle));
    result_.insert_id = mysql_stmt_insert_id(handle);
    if (!mysql_stmt_more_results(handle)) return FinishOperation();
    return Begin(Stage::kNextRows);
  }
  if (statement_->statement().is_streamed()) {
    if (!statement_->BindAnswer()) return FailStatement();
    return Begin(Stage::kFetchRows);
  }
  if (blocks_) return Begin(Stage::kStoreRows);
  TakePreparedRows();
}

void MysqlClient::TakePreparedRows() {
  MYSQL_STMT* handle = statement_->handle();
  const bool streamed = stage_ == Stage::kFetchRows;
  // Plain calls where all rows have been stored: none of them waits.
  if (!streamed) int_result_ = mysql_stmt_fetch(handle);
  while (int_result_ != MYSQL_NO_DATA) {
    if (int_result_ != 0 && int_result_ != MYSQL_DATA_TRUNCATED) return FailStatement();
    std::span<const Field> fields;
    if (!statement_->ReadRow(int_result_ == MYSQL_DATA_TRUNCATED, &fields)) return FailStatement();
    CountRow(fields);
    if (streamed) return Begin(Stage::kFetchRows);
    int_result_ = mysql_stmt_fetch(handle);
  }
  if (!mysql_stmt_more_results(handle)) return FinishOperation();
  Begin(Stage::kNextRows);
}

void MysqlClient::CountRow(std::span<const Field> fields) {
  ++result_.rows;
  for (const Field& field : fields) result_.bytes += field.text.size();
  if (operation_->rows != nullptr) operation_->rows->OnRow(fields);
}

void MysqlClient::CountTextRow() {
  const unsigned long* lengths = mysql_fetch_lengths(rows_);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    fields_[i].is_null = row_[i] == nullptr;
    fields_[i].text =
        row_[i] == nullptr ? std::string_view() : std::string_view(row_[i], lengths[i]);
  }
  CountRow(fields_);
}

std::string_view MysqlClient::request_text() const {
  if (statement_ == nullptr) return sql_;
  request_text_ = statement_->Text();
  return request_text_;
}

// ---- Calls

void MysqlClient::Begin(Stage stage) {
  stage_ = stage;
  if (blocks_) {
    waited_for_ = 0;
    RunCall(stage);
  } else {
    waited_for_ = StartCall(stage);
  }
}

// The query is sent and its answer read by two calls, so that the library reads only when there is
// something: mysql_real_query would first try in vain, one system call more per operation.
int MysqlClient::StartCall(Stage stage) {
  const ServerAddress& address = plan_.address;
  switch (stage) {
    case Stage::kConnect: {
      const ConnectArguments to = ArgumentsFor(address, candidate_);
      return mysql_real_connect_start(&connected_, handle_, to.host, address.user.c_str(),
                                      address.password.c_str(), address.database.c_str(), to.port,
                                      to.socket, plan_.client_flags);
    }
    case Stage::kPrepare: {
      const std::string& sql = prepared_[preparing_]->statement().prepared();
      return mysql_stmt_prepare_start(&int_result_, prepared_[preparing_]->handle(), sql.data(),
                                      sql.size());
    }
    case Stage::kReset:
      return mysql_reset_connection_start(&int_result_, handle_);
    case Stage::kChangeUser:
      return mysql_change_user_start(&bool_result_, handle_, address.user.c_str(),
                                     address.password.c_str(), address.database.c_str());
    case Stage::kSendQuery:
      return mysql_send_query_start(&int_result_, handle_, sql_.data(), sql_.size());
    case Stage::kExecute:
      return mysql_stmt_execute_start(&int_result_, statement_->handle());
    case Stage::kReadAnswer:
      return statement_ == nullptr ? mysql_read_query_result_start(&bool_result_, handle_)
                                   : answer_reader_.Start(&bool_result_, statement_->handle(),
                                                          !statement_->statement().is_streamed());
    case Stage::kFetchRow:
      return mysql_fetch_row_start(&row_, rows_);
    case Stage::kNextResult:
      return mysql_next_result_start(&int_result_, handle_);
    case Stage::kStoreRows:
      return mysql_stmt_store_result_start(&int_result_, statement_->handle());
    case Stage::kFetchRows:
      return mysql_stmt_fetch_start(&int_result_, statement_->handle());
    case Stage::kNextRows:
      return mysql_stmt_next_result_start(&int_result_, statement_->handle());
    case Stage::kClose:
      return mysql_close_start(handle_);
    case Stage::kIdle:
    case Stage::kBackOff:
    case Stage::kReady:
    case Stage::kAwaitAnswer:
      break;
  }
  CAVALRY_CHECK(false);
  return 0;
}

void MysqlClient::RunCall(Stage stage) {
  const ServerAddress& address = plan_.address;
  switch (stage) {
    case Stage::kPrepare: {
      const std::string& sql = prepared_[preparing_]->statement().prepared();
      int_result_ = mysql_stmt_prepare(prepared_[preparing_]->handle(), sql.data(), sql.size());
      return;
    }
    case Stage::kReset:
      int_result_ = mysql_reset_connection(handle_);
      return;
    case Stage::kChangeUser:
      bool_result_ = mysql_change_user(handle_, address.user.c_str(), address.password.c_str(),
                                       address.database.c_str());
      return;
    case Stage::kSendQuery:  // and reads the answer
      int_result_ = mysql_real_query(handle_, sql_.data(), sql_.size());
      return;
    case Stage::kExecute:  // and reads the answer
      int_result_ = mysql_stmt_execute(statement_->handle());
      return;
    case Stage::kFetchRow:
      row_ = mysql_fetch_row(rows_);
      return;
    case Stage::kNextResult:
      int_result_ = mysql_next_result(handle_);
      return;
    case Stage::kStoreRows:
      int_result_ = mysql_stmt_store_result(statement_->handle());
      return;
    case Stage::kFetchRows:
      int_result_ = mysql_stmt_fetch(statement_->handle());
      return;
    case Stage::kNextRows:
      int_result_ = mysql_stmt_next_result(statement_->handle());
      return;
    case Stage::kIdle:
    case Stage::kBackOff:
    case Stage::kConnect:
    case Stage::kReady:
    case Stage::kAwaitAnswer:
    case Stage::kReadAnswer:
    case Stage::kClose:
      break;
  }
  CAVALRY_CHECK(false);
}

int MysqlClient::ResumeCall(int ready) {
  switch (stage_) {
    case Stage::kConnect:
      return mysql_real_connect_cont(&connected_, handle_, ready);
    case Stage::kPrepare:
      return mysql_stmt_prepare_cont(&int_result_, prepared_[preparing_]->handle(), ready);
    case Stage::kReset:
      return mysql_reset_connection_cont(&int_result_, handle_, ready);
    case Stage::kChangeUser:
      return mysql_change_user_cont(&bool_result_, handle_, ready);
    case Stage::kSendQuery:
      return mysql_send_query_cont(&int_result_, handle_, ready);
    case Stage::kReadAnswer:
      return mysql_read_query_result_cont(&bool_result_, handle_, ready);
    case Stage::kFetchRow:
      return mysql_fetch_row_cont(&row_, rows_, ready);
    case Stage::kNextResult:
      return mysql_next_result_cont(&int_result_, handle_, ready);
    case Stage::kExecute:
      return mysql_stmt_execute_cont(&int_result_, statement_->handle(), ready);
    case Stage::kStoreRows:
      return mysql_stmt_store_result_cont(&int_result_, statement_->handle(), ready);
    case Stage::kFetchRows:
      return mysql_stmt_fetch_cont(&int_result_, statement_->handle(), ready);
    case Stage::kNextRows:
      return mysql_stmt_next_result_cont(&int_result_, statement_->handle(), ready);
    case Stage::kClose:
      return mysql_close_cont(handle_, ready);
    case Stage::kIdle:
    case Stage::kBackOff:
    case Stage::kReady:
    case Stage::kAwaitAnswer:
      return 0;
  }
  return 0;
}

// ---- Waiting and ending

PollStep MysqlClient::Drive() {
  while (!done_) {
    if (waited_for_ != 0 || stage_ == Stage::kBackOff) return WaitStep();
    Advance();
  }
  PollStep step;
  step.done = true;
  step.result = result_;
  return step;
}

PollStep MysqlClient::WaitStep() {
  PollStep step;
  if (stage_ == Stage::kBackOff) {
    step.wait.timeout = back_off_;
    back_off_ = std::min(back_off_ * 2, kLastBackOff);
    return step;
  }
  // Asked anew each time: during a connect the library may have another socket.
  step.wait.fd = mysql_get_socket(handle_);
  step.wait.events = PollEvents(waited_for_);
  if (waited_for_ & MYSQL_WAIT_TIMEOUT) {
    step.wait.timeout = static_cast<Nanos>(mysql_get_timeout_value_ms(handle_)) * kMillisecond;
  }
  return step;
}

PollStep MysqlClient::Continue(short events, bool timed_out) {
  if (stage_ == Stage::kAwaitAnswer) {
    Begin(Stage::kReadAnswer);
  } else if (stage_ == Stage::kBackOff) {
    BeginCandidate();
  } else {
    timed_out_ = timed_out;
    waited_for_ = ResumeCall(timed_out ? MYSQL_WAIT_TIMEOUT : ReadyBits(events, waited_for_));
  }
  return Drive();
}

void MysqlClient::Advance() {
  switch (stage_) {
    case Stage::kConnect:
      return AdvanceConnect();
    case Stage::kPrepare:
      return AdvancePrepare();
    case Stage::kReset:
    case Stage::kChangeUser:
      return AdvanceRenewal();
    case Stage::kReadAnswer:
      return statement_ != nullptr ? AdvancePrepared() : AdvanceText();
    case Stage::kSendQuery:
    case Stage::kFetchRow:
    case Stage::kNextResult:
      return AdvanceText();
    case Stage::kExecute:
    case Stage::kStoreRows:
    case Stage::kFetchRows:
    case Stage::kNextRows:
      return AdvancePrepared();
    case Stage::kClose:
      handle_ = nullptr;
      Abandon();
      return End(Stage::kIdle);
    case Stage::kIdle:
    case Stage::kBackOff:
    case Stage::kReady:
    case Stage::kAwaitAnswer:
      break;
  }
  CAVALRY_CHECK(false);
}

void MysqlClient::End(Stage next) {
  stage_ = next;
  waited_for_ = 0;
  connecting_ = false;
  operation_ = nullptr;
  done_ = true;
}

void MysqlClient::FinishOperation() {
  // An insert, or a statement of which nothing is known, that was answered without an error is
  // done; anything else that found no row missed.
  if (result_.rows == 0 && MissesWithoutRows(operation_->plan->kind)) {
    result_.outcome = Outcome::kMiss;
  }
  End(Stage::kReady);
}

void MysqlClient::FailStatement() {
  const unsigned int error = mysql_stmt_errno(statement_->handle());
  if (error != 0) return Fail(error, mysql_stmt_error(statement_->handle()));
  if (mysql_errno(handle_) != 0) return FailHandle();
  Fail(CR_MALFORMED_PACKET, "the server counts other parameters or columns than the statement has");
}

void MysqlClient::Fail(unsigned int error, const char* text) {
  if (connecting_) return FailConnect(error, text);
  ErrorClass kind = ClassifyError(error, ErrorPhase::kOperation);
  // Half renewed, with statements missing, the session is of no use.
  if (preparing_all_ && kind.severity == Severity::kNormal) kind.severity = Severity::kReconnect;
  preparing_all_ = false;
  result_.outcome = kind.outcome;
  result_.severity = kind.severity;
  result_.outcome_unknown = kind.write_unknown && LeavesTrace(operation_->plan->kind);
  result_.retryable = kind.retryable;
  result_.rows = 0;
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), error).ptr;
  code_.assign(digits, end);
  text_.assign(text);
  result_.code = code_;
  result_.text = text_;
  End(Stage::kReady);
}

void MysqlClient::FailConnect(unsigned int error, const char* text) {
  const ErrorClass kind = ClassifyError(error, ErrorPhase::kConnect);
  result_ = OpResult{};
  result_.outcome = timed_out_ ? Outcome::kTimeout : kind.outcome;
  result_.severity = timed_out_ ? Severity::kReconnect : kind.severity;
  code_ = std::to_string(error);
  if (timed_out_) {
    text_ = fmt::format("{}: no answer within the connect timeout", plan_.address.label);
  } else {
    text_ = ConnectErrorText(error, text, plan_.address);
  }
  result_.code = code_;
  result_.text = text_;
  Abandon();
  End(Stage::kIdle);
}

// ---- Closing

PollStep MysqlClient::StartClose() {
  result_ = OpResult{};
  done_ = false;
  blocks_ = false;
  if (stage_ == Stage::kReady) {
    Begin(Stage::kClose);
  } else {
    Abandon();
    End(Stage::kIdle);
  }
  return Drive();
}

void MysqlClient::Abandon() {
  if (handle_ != nullptr && stage_ != Stage::kReady) {
    // Nothing below may wait for the peer: a socket that is shut down answers at once. A suspended
    // call is told of a timeout, so that it gives up and frees what it holds.
    const int fd = mysql_get_socket(handle_);
    if (fd >= 0) shutdown(fd, SHUT_RDWR);
    for (int i = 0; waited_for_ != 0 && i < kMaxUnwindSteps; ++i) {
      waited_for_ = ResumeCall(MYSQL_WAIT_TIMEOUT);
    }
  }
  mysql_free_result(rows_);
  rows_ = nullptr;
  // A mysql_close that went through, now or just before, has freed the handle.
  if (stage_ != Stage::kClose) mysql_close(handle_);
  handle_ = nullptr;
  waited_for_ = 0;
  // Closing the connection has cut the statements off, so that these are local calls.
  for (std::unique_ptr<PreparedStatement>& statement : prepared_) statement.reset();
  statement_ = nullptr;
  preparing_all_ = false;
  stage_ = Stage::kIdle;
}

}  // namespace cavalry::drivers::mysql
