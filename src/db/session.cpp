#include "db/session.h"

#include <fmt/format.h>

#include <chrono>
#include <pqxx/pqxx>
#include <utility>

namespace lockstep::db {
namespace {

bool send(PGconn* connection, const Query& query) {
  std::vector<const char*> values;
  for (const auto& parameter : query.parameters) values.push_back(parameter ? parameter->c_str() : nullptr);
  return PQsendQueryParams(connection, query.sql.c_str(), static_cast<int>(values.size()), nullptr,
                           values.data(), nullptr, nullptr, 1) == 1;
}

/// libpq would keep the single-row mode of an earlier message for the first query of a pipeline. To begin a
/// message ends the mode, and this one is refused for its missing text before anything is sent.
void end_single_row_mode(PGconn* connection) {
  PQsendQuery(connection, nullptr);
}

/// How many were sent.
std::size_t sync(PGconn* connection) {
  return PQpipelineSync(connection) == 1 ? 1 : 0;
}

bool is_success(const PGresult* result) {
  switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_EMPTY_QUERY:
      return true;
    default:
      return false;
  }
}

std::unique_ptr<pqxx::connection> seize(PGconn* connection) {
  return std::make_unique<pqxx::connection>(pqxx::connection::seize_raw_connection(connection));
}

}  // namespace

Session::Session(PGconn* connection) : typed_(seize(connection)), raw_(connection), cancellable_(connection) {
  diagnostics_.attach(raw_);
  PQsetNoticeReceiver(raw_, on_notice, this);
}

Session::~Session() = default;

void Session::on_notice(void* self, const PGresult* result) {
  const auto& sink = static_cast<Session*>(self)->notices_;
  if (sink) sink(server_notice(result));
}

void Session::typed(std::string_view doing, const std::function<void(pqxx::nontransaction&)>& work) {
  diagnostics_.last_error.reset();
  try {
    pqxx::nontransaction transaction(*typed_);
    work(transaction);
  } catch (const pqxx::failure& failure) {
    throw_if_interrupted();
    auto error = diagnostics_.last_error.value_or(ServerError{});
    if (error.message.empty()) error.message = failure.what();
    throw failed(*this, ErrorKind::connection, "query_failed", fmt::format("cannot {}", doing), error);
  }
}

Answer Session::pipeline(const std::vector<Query>& queries, Grouping grouping) {
  end_single_row_mode(raw_);
  PQenterPipelineMode(raw_);
  Answer answer;
  std::size_t syncs = 0;
  for (const auto& query : queries) {
    if (!send(raw_, query)) {
      answer.error = connection_error(raw_);
      break;
    }
    if (grouping == Grouping::each_alone) syncs += sync(raw_);
  }
  // Without it, the server does not commit what has arrived.
  if (grouping == Grouping::all_together && !answer.error) syncs += sync(raw_);

  while (syncs > 0 && !lost()) {
    auto result = next_result();
    if (!result) continue;
    if (PQresultStatus(result.get()) == PGRES_PIPELINE_SYNC) {
      --syncs;
    } else if (is_success(result.get())) {
      answer.results.push_back(std::move(result));
    } else if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR && !answer.error) {
      answer.error = server_error(result.get());
    }
  }
  PQexitPipelineMode(raw_);
  if (lost() && !answer.error) answer.error = connection_error(raw_);
  return answer;
}

Answer Session::simple(const std::string& sql) {
  Answer answer;
  if (PQsendQuery(raw_, sql.c_str()) != 1) answer.error = connection_error(raw_);
  collect(answer);
  return answer;
}

void Session::collect(Answer& answer) {
  while (auto result = next_result()) {
    if (is_success(result.get())) {
      answer.results.push_back(std::move(result));
    } else if (!answer.error) {
      answer.error = server_error(result.get());
    }
  }
  if (lost() && !answer.error) answer.error = connection_error(raw_);
}

Result Session::next_result() {
  PQflush(raw_);
  const auto begin = std::chrono::steady_clock::now();
  auto next_look = begin + first_look_;
  while (PQisBusy(raw_) != 0) {
    wait_for_answer(raw_, std::min(first_look_, look_every));
    if (PQconsumeInput(raw_) == 0) break;
    const auto now = std::chrono::steady_clock::now();
    if (!wait_hook_ || now < next_look) continue;
    next_look = now + look_every;
    wait_hook_(std::chrono::duration_cast<Milliseconds>(now - begin));
  }
  return Result(PQgetResult(raw_));
}

bool Session::speaks_utf8() const {
  const char* encoding = PQparameterStatus(raw_, "client_encoding");
  return encoding == nullptr || std::string_view(encoding) == "UTF8";
}

void Session::roll_back() noexcept {
  if (lost() || PQtransactionStatus(raw_) == PQTRANS_IDLE) return;
  PQclear(PQexec(raw_, "rollback"));
}

bool Session::wait_for_notification(std::string_view channel, Milliseconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (true) {
    PQconsumeInput(raw_);
    while (auto* notification = PQnotifies(raw_)) {
      const bool wanted = channel == notification->relname;
      PQfreemem(notification);
      if (wanted) return true;
    }
    const auto left = std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left <= Milliseconds(0) || lost()) return false;
    if (wait_readable(raw_, left) == Readiness::timed_out) return false;
  }
}

std::string_view advice(std::string_view sqlstate) {
  if (sqlstate == "57014")
    return "Somebody has cancelled it, or statement_timeout has ended it: that must leave room for "
           "lockstep's own statements (alter role … set statement_timeout = '30s'). Run the command again.";
  if (sqlstate == "25P04")
    return "transaction_timeout has ended it before lockstep could turn that off for its session: raise it "
           "(alter role … set transaction_timeout = '30s').";
  if (sqlstate == "57P05")
    return "idle_session_timeout has ended it before lockstep could turn that off for its session: raise it "
           "(alter role … set idle_session_timeout = '30s').";
  if (sqlstate == "42501") return "Least privilege is described in docs/history-table.md.";
  return {};
}

Failure failed(const Session& session, ErrorKind kind, std::string code, std::string message,
               const ServerError& error) {
  if (auto interrupt = interruption()) return *interrupt;
  Error result{
      .kind = kind, .code = std::move(code), .message = fmt::format("{}: {}", message, error.message)};
  if (session.lost()) {
    result.kind = ErrorKind::connection;
    result.code = "connection_lost";
    result.message = fmt::format("{}, since the connection was lost: {}", message, error.message);
    result.hints = {"The server releases the lock and rolls back what was open. Run the command again."};
  }
  if (const auto more = advice(error.sqlstate); !more.empty()) result.hints.emplace_back(more);
  // The server's own hint says what is wrong, not what to do with lockstep.
  if (result.hints.empty()) result.hints.emplace_back("Mend the cause, then run the command again.");
  describe(error, result);
  return Failure(std::move(result));
}

}  // namespace lockstep::db
