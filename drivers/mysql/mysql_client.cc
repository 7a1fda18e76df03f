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


}  // namespace

MysqlClient::~MysqlClient() { Abandon(); }

// ---- Connecting

PollStep MysqlClient::StartConnect() {
  Abandon();
  candidate_ = 0;
  back_off_ = kFirstBackOff;
  connect_deadline_ = MonotonicNow() + plan_.connect_timeout;
  return StartCandidate();
}

PollStep MysqlClient::StartCandidate() {
  operation_ = nullptr;
  result_ = OpResult{};
  connecting_ = true;
  timed_out_ = false;
  handle_ = NewHandle(plan_.address, CallMode::kNonBlocking, plan_.connect_timeout);
  if (handle_ == nullptr) return FailConnect(CR_OUT_OF_MEMORY, "out of memory");
  const ConnectArguments to = ArgumentsFor(plan_.address, candidate_);
  const int status = mysql_real_connect_start(
      &connected_, handle_, to.host, plan_.address.user.c_str(), plan_.address.password.c_str(),
      plan_.address.database.c_str(), to.port, to.socket, kClientFlags);
  return After(Stage::kConnect, status);
}

PollStep MysqlClient::AdvanceConnect() {
  if (connected_ == nullptr) {
    const unsigned int error = mysql_errno(handle_);
    const bool not_reached =
        ClassifyError(error, ErrorPhase::kConnect).outcome == Outcome::kNotSent;
    if (not_reached && candidate_ + 1 < plan_.address.candidates.size()) {
      Abandon();
      ++candidate_;
      return StartCandidate();
    }
    if (!IsFullBacklog(error, mysql_error(handle_), plan_.address)) {
      return FailConnect(error, mysql_error(handle_));
    }
    if (MonotonicNow() < connect_deadline_) return StartBackOff();
    return FailConnect(CR_CONNECTION_ERROR,
                       "the socket's backlog stayed full (back_log on the server)");
  }
  escaping_ = (handle_->server_status & SERVER_STATUS_NO_BACKSLASH_ESCAPES) != 0
                  ? Escaping::kQuotesOnly
                  : Escaping::kBackslash;
  if (!plan_.prepared) return Done(Stage::kReady);
  prepared_.resize(plan_.statements.size());
  answer_reader_.Install(handle_);
  return StartPrepare(0);
}

PollStep MysqlClient::StartBackOff() {
  Abandon();
  stage_ = Stage::kBackOff;
  PollStep step;
  step.wait.timeout = back_off_;
  back_off_ = std::min(back_off_ * 2, kLastBackOff);
  return step;
}

// Prepares the first statement at or behind `index`; none left ends the connect.
PollStep MysqlClient::StartPrepare(std::size_t index) {
  while (index < plan_.statements.size() && !plan_.statements[index]) ++index;
  if (index == plan_.statements.size()) return Done(Stage::kReady);
  preparing_ = index;
  answer_reader_.SkipReading(false);
  const StatementTemplate& statement = *plan_.statements[index];
  if (prepared_[index] == nullptr) {
    prepared_[index] = std::make_unique<PreparedStatement>(statement);
    if (!prepared_[index]->Open(handle_)) return Fail(CR_OUT_OF_MEMORY, "out of memory");
  }
  const int status =
      mysql_stmt_prepare_start(&int_result_, prepared_[index]->handle(),
                               statement.prepared().data(), statement.prepared().size());
  return After(Stage::kPrepare, status);
}

PollStep MysqlClient::AdvancePrepare() {
  PreparedStatement& statement = *prepared_[preparing_];
  if (int_result_ != 0 || !statement.Bind()) {
    statement_ = &statement;
    return FailStatement();
  }
  answer_reader_.SkipReading(true);
  if (connecting_) return StartPrepare(preparing_ + 1);
  statement_ = &statement;
  return StartPrepared();
}

// ---- Operations

PollStep MysqlClient::Start(const Operation& operation) {
  CAVALRY_CHECK(stage_ == Stage::kReady);
  operation_ = &operation;
  result_ = OpResult{};
  if (!plan_.prepared) return StartText();
  statement_ = prepared_[operation.plan->index].get();
  return StartPrepared();
}

// The query is sent and its answer read by two calls, so that the library reads only when there is
// something: mysql_real_query would first try in vain, one system call more per operation.
PollStep MysqlClient::StartText() {
  plan_.statements[operation_->plan->index]->Write(*operation_, escaping_, &sql_);
  const int status = mysql_send_query_start(&int_result_, handle_, sql_.data(), sql_.size());
  return After(Stage::kSendQuery, status);
}

// Rows are taken one by one out of the library's buffer. Storing them first, as
// mysql_store_result does, would copy each and allocate 8 KiB per answer.
PollStep MysqlClient::FetchText() {
  if (rows_ == nullptr) {
    rows_ = mysql_use_result(handle_);
    if (rows_ == nullptr) return Fail(mysql_errno(handle_), mysql_error(handle_));
    fields_.resize(mysql_num_fields(rows_));
  }
  return After(Stage::kFetchRow, mysql_fetch_row_start(&row_, rows_));
}

PollStep MysqlClient::AdvanceText() {
  switch (stage_) {
    case Stage::kSendQuery:
      if (int_result_ != 0) break;
      stage_ = Stage::kAwaitAnswer;
      return WaitFor(MYSQL_WAIT_READ);
    case Stage::kAwaitAnswer:
      return After(Stage::kReadAnswer, mysql_read_query_result_start(&bool_result_, handle_));
    case Stage::kReadAnswer:
      if (bool_result_ != 0) break;
      if (mysql_field_count(handle_) != 0) return FetchText();
      result_.rows += static_cast<std::uint32_t>(mysql_affected_rows(handle_));
      return EndOfText();
    case Stage::kFetchRow:
      if (row_ != nullptr) {
        TakeTextRow();
        return FetchText();
      }
      // The end, or an error: in both cases the library has read all there is, so this is local.
      mysql_free_result(rows_);
      rows_ = nullptr;
      if (mysql_errno(handle_) != 0) break;
      return EndOfText();
    case Stage::kNextResult:
      if (int_result_ != 0) break;
      if (mysql_field_count(handle_) != 0) return FetchText();
      return EndOfText();
    default:
      break;
  }
  return Fail(mysql_errno(handle_), mysql_error(handle_));
}

PollStep MysqlClient::EndOfText() {
  if (!mysql_more_results(handle_)) return FinishOperation();
  return After(Stage::kNextResult, mysql_next_result_start(&int_result_, handle_));
}

PollStep MysqlClient::StartPrepared() {
  if (!statement_->SetValues(*operation_)) return FailStatement();
  return After(Stage::kExecute, mysql_stmt_execute_start(&int_result_, statement_->handle()));
}

PollStep MysqlClient::AdvancePrepared() {
  MYSQL_STMT* handle = statement_->handle();
  switch (stage_) {
    case Stage::kExecute:
      if (int_result_ != 0) return FailStatement();
      stage_ = Stage::kAwaitAnswer;
      return WaitFor(MYSQL_WAIT_READ);
    case Stage::kAwaitAnswer:
      return After(Stage::kReadAnswer, answer_reader_.Start(&bool_result_, handle));
    case Stage::kReadAnswer:
      if (bool_result_ == 0) return TakePreparedAnswer();
      if (mysql_stmt_errno(handle) != ER_UNKNOWN_STMT_HANDLER || result_.reprepared) {
        return FailStatement();
      }
      result_.reprepared = true;
      return StartPrepare(operation_->plan->index);
    case Stage::kNextRows:
      if (int_result_ != 0) return FailStatement();
      if (mysql_stmt_field_count(handle) == 0) return TakePreparedAnswer();
      return After(Stage::kStoreRows, mysql_stmt_store_result_start(&int_result_, handle));
    case Stage::kStoreRows:
      return int_result_ == 0 ? TakePreparedAnswer() : FailStatement();
    default:
      CAVALRY_CHECK(false);
      return {};
  }
}

PollStep MysqlClient::TakePreparedAnswer() {
  MYSQL_STMT* handle = statement_->handle();
  if (mysql_stmt_field_count(handle) == 0) {
    result_.rows += static_cast<std::uint32_t>(mysql_stmt_affected_rows(handle));
  } else if (!ReadPreparedRows()) {
    return FailStatement();
  }
  return EndOfPrepared();
}

PollStep MysqlClient::EndOfPrepared() {
  MYSQL_STMT* handle = statement_->handle();
  if (!mysql_stmt_more_results(handle)) return FinishOperation();
  return After(Stage::kNextRows, mysql_stmt_next_result_start(&int_result_, handle));
}

void MysqlClient::CountRow(std::span<const Field> fields) {
  ++result_.rows;
  for (const Field& field : fields) result_.bytes += field.text.size();
  if (operation_->rows != nullptr) operation_->rows->OnRow(fields);
}

void MysqlClient::TakeTextRow() {
  const unsigned long* lengths = mysql_fetch_lengths(rows_);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    fields_[i].is_null = row_[i] == nullptr;
    fields_[i].text =
        row_[i] == nullptr ? std::string_view() : std::string_view(row_[i], lengths[i]);
  }
  CountRow(fields_);
}

bool MysqlClient::ReadPreparedRows() {
  for (;;) {
    // Plain calls: all rows have been stored, none of them waits.
    const int fetched = mysql_stmt_fetch(statement_->handle());
    if (fetched == MYSQL_NO_DATA) return true;
    if (fetched != 0 && fetched != MYSQL_DATA_TRUNCATED) return false;
    std::span<const Field> fields;
    if (!statement_->ReadRow(fetched == MYSQL_DATA_TRUNCATED, &fields)) return false;
    CountRow(fields);
  }
}

// ---- Waiting and ending

PollStep MysqlClient::After(Stage stage, int status) {
  stage_ = stage;
  waited_for_ = status;
  return status == 0 ? Advance() : WaitFor(status);
}

PollStep MysqlClient::WaitFor(int status) {
  PollStep step;
  // Asked anew each time: during a connect the library may have another socket.
  step.wait.fd = mysql_get_socket(handle_);
  step.wait.events = PollEvents(status);
  if (status & MYSQL_WAIT_TIMEOUT) {
    step.wait.timeout = static_cast<Nanos>(mysql_get_timeout_value_ms(handle_)) * kMillisecond;
  }
  return step;
}

PollStep MysqlClient::Continue(short events, bool timed_out) {
  if (stage_ == Stage::kAwaitAnswer) return Advance();
  if (stage_ == Stage::kBackOff) return StartCandidate();
  timed_out_ = timed_out;
  return After(stage_, ResumeCall(timed_out ? MYSQL_WAIT_TIMEOUT : ReadyBits(events, waited_for_)));
}

int MysqlClient::ResumeCall(int ready) {
  switch (stage_) {
    case Stage::kConnect:
      return mysql_real_connect_cont(&connected_, handle_, ready);
    case Stage::kPrepare:
      return mysql_stmt_prepare_cont(&int_result_, prepared_[preparing_]->handle(), ready);
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

PollStep MysqlClient::Advance() {
  switch (stage_) {
    case Stage::kConnect:
      return AdvanceConnect();
    case Stage::kPrepare:
      return AdvancePrepare();
    case Stage::kAwaitAnswer:
    case Stage::kReadAnswer:
      return plan_.prepared ? AdvancePrepared() : AdvanceText();
    case Stage::kSendQuery:
    case Stage::kFetchRow:
    case Stage::kNextResult:
      return AdvanceText();
    case Stage::kExecute:
    case Stage::kStoreRows:
    case Stage::kNextRows:
      return AdvancePrepared();
    case Stage::kClose:
      handle_ = nullptr;
      Abandon();
      return Done(Stage::kIdle);
    case Stage::kIdle:
    case Stage::kBackOff:
    case Stage::kReady:
      break;
  }
  CAVALRY_CHECK(false);
  return {};
}

PollStep MysqlClient::Done(Stage next) {
  stage_ = next;
  connecting_ = false;
  operation_ = nullptr;
  PollStep step;
  step.done = true;
  step.result = result_;
  return step;
}

PollStep MysqlClient::FinishOperation() {
  // An insert that was answered without an error is done; anything else that found no row missed.
  if (result_.rows == 0 && operation_->plan->kind != OperationKind::kInsert) {
    result_.outcome = Outcome::kMiss;
  }
  return Done(Stage::kReady);
}

PollStep MysqlClient::FailStatement() {
  const unsigned int error = mysql_stmt_errno(statement_->handle());
  if (error != 0) return Fail(error, mysql_stmt_error(statement_->handle()));
  return Fail(mysql_errno(handle_), mysql_error(handle_));
}

PollStep MysqlClient::Fail(unsigned int error, const char* text) {
  if (connecting_) return FailConnect(error, text);
  const ErrorClass kind = ClassifyError(error, ErrorPhase::kOperation);
  result_.outcome = kind.outcome;
  result_.severity = kind.severity;
  result_.outcome_unknown = kind.write_unknown && IsWrite(operation_->plan->kind);
  result_.rows = 0;
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), error).ptr;
  code_.assign(digits, end);
  text_.assign(text);
  result_.code = code_;
  result_.text = text_;
  return Done(Stage::kReady);
}

PollStep MysqlClient::FailConnect(unsigned int error, const char* text) {
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
  return Done(Stage::kIdle);
}

// ---- Closing

PollStep MysqlClient::StartClose() {
  result_ = OpResult{};
  if (stage_ == Stage::kReady) return After(Stage::kClose, mysql_close_start(handle_));
  Abandon();
  return Done(Stage::kIdle);
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
  prepared_.clear();
  statement_ = nullptr;
  stage_ = Stage::kIdle;
}

}  // namespace cavalry::drivers::mysql
