#include "db/script_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/checksum.h"
#include "db/script_failure.h"
#include "sql/include.h"

namespace lockstep::db {
namespace {

/// A message is sent when it is this long: more saves no round trips that matter, and the memory stays small.
constexpr std::size_t message_size = 64 * 1024;

bool is_statement(const sql::Item& item) {
  return item.kind == sql::Item::Kind::statement;
}

bool is_echo(const sql::Item& item) {
  return item.kind == sql::Item::Kind::meta_command && sql::is_echo(item.name);
}

bool is(const sql::Item& item, sql::StatementKind kind) {
  return item.statement.kind == kind;
}

bool ends_message(const sql::Item& item) {
  // The server reads a whole message with the settings of its beginning.
  return is(item, sql::StatementKind::copy_from_stdin) ||
         item.statement.reading.setting != sql::ReadingSetting::none;
}

bool begins(std::string_view text, std::string_view words) {
  return text.size() > words.size() &&
         std::equal(words.begin(), words.end(), text.begin(), [](char word, char c) {
           return word == (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c);
         });
}

/// ALTER DATABASE, ROLE or USER, or code that could contain one.
bool may_alter_defaults(const sql::Item& item) {
  if (is(item, sql::StatementKind::do_block) || is(item, sql::StatementKind::call)) return true;
  return begins(item.text, "alter ") && !begins(item.text, "alter table") && !begins(item.text, "alter type");
}

std::string digest_of(const Done& before, std::string_view next) {
  Checksum checksum;
  checksum.update(before.digest);
  checksum.update("\n");
  checksum.update(next);
  return checksum.finish();
}

sql::ReaderOptions reader_options(PGconn* connection) {
  const char* standard = PQparameterStatus(connection, "standard_conforming_strings");
  const bool is_off = standard != nullptr && std::string_view(standard) == "off";
  return {.strings = is_off ? sql::Strings::backslash_escapes : sql::Strings::standard};
}

}  // namespace

ScriptRunner::ScriptRunner(Session& session, const OpenScript& open, const Migration& migration)
    : session_(session), open_(open), migration_(migration) {}

std::optional<ClosingError> ScriptRunner::run_in_transaction(const Frame& frame) {
  HashedScript script(open_, migration_, reader_options(session_.raw()));
  auto& reader = script.reader();
  ScriptMessage message;
  if (!frame.before.empty()) {
    // A transaction of their own: BEGIN would make them part of the file's, and the isolation level could not
    // be chosen any more.
    message.add_own("begin");
    for (const auto& own : frame.before) message.add_own(own);
    message.add_own("commit");
  }
  auto item = next_statement(message, reader);
  // The file's own BEGIN takes the place of ours, so that its isolation level counts.
  const bool wrapped = item && is(*item, sql::StatementKind::begin);
  message.add_own(wrapped ? item->text : std::string_view(frame.begin));
  for (const auto& own : frame.after_begin) message.add_own(own);
  if (wrapped) item = next_statement(message, reader);

  for (; item; item = next_statement(message, reader)) {
    if (is(*item, sql::StatementKind::commit)) continue;
    message.add(*item);
    count(*item);
    if (ends_message(*item) || message.size() >= message_size) send(message, reader);
  }
  refuse_unread(reader);
  if (script.checksum() != migration_.checksum) throw file_changed(migration_);
  return close(message, reader, frame.closing);
}

std::optional<ClosingError> ScriptRunner::close(ScriptMessage& message, sql::ScriptReader& reader,
                                                const std::vector<std::string>& closing) {
  // The server reads a whole message in the encoding of its beginning; ours is UTF-8.
  if (!session_.speaks_utf8()) {
    message.add_own("set local client_encoding = 'UTF8'");
    send(message, reader);
  }
  const auto of_the_file = message.statements();
  for (const auto& own : closing) message.add_own(own);
  throw_if_interrupted();
  const auto error = try_send(message, reader);
  if (!error) return std::nullopt;
  // The server has got the whole message, and what it did with it after the last answer is not known.
  const bool in_doubt = session_.lost() && error->sqlstate.empty();
  if (completed_ < of_the_file && !in_doubt) fail(message, *error, reader);
  if (in_doubt || completed_ + 1 >= message.statements())
    return ClosingError{ClosingError::Part::commit, *error};
  const bool deferred = completed_ == of_the_file;
  return ClosingError{deferred ? ClosingError::Part::deferred : ClosingError::Part::record, *error};
}

void ScriptRunner::run_one_by_one(const Done& before, const std::function<void(const Done&)>& progress) {
  // Nothing can be taken back here, so the file is compared before its first statement runs.
  if (checksum_of(open_, migration_) != migration_.checksum) throw file_changed(migration_);
  HashedScript script(open_, migration_, reader_options(session_.raw()));
  auto& reader = script.reader();
  Done done;
  while (const auto item = reader.next()) {
    if (is_echo(*item) && done.statements >= before.statements) echo(*item);
    if (!is_statement(*item)) continue;
    count(*item);
    done = {statements_, digest_of(done, item->text)};
    if (done.statements == before.statements && done.digest != before.digest) break;
    if (done.statements <= before.statements) continue;
    throw_if_interrupted();
    ScriptMessage message;
    message.add(*item);
    send(message, reader);
    // Within a transaction of the file's own nothing is done yet: a failure takes it all back.
    if (PQtransactionStatus(session_.raw()) == PQTRANS_IDLE) progress(done);
  }
  refuse_unread(reader);
  const bool moved_on = done.statements > before.statements || before.statements == 0;
  if (!moved_on && done.digest != before.digest) throw done_part_changed(migration_, before.statements);
  if (PQtransactionStatus(session_.raw()) != PQTRANS_IDLE) throw transaction_left_open(migration_);
}

/// What is to be printed before the statement is printed when the statements before that have run: it may
/// announce one that takes long.
std::optional<sql::Item> ScriptRunner::next_statement(ScriptMessage& message, sql::ScriptReader& reader) {
  auto item = reader.next();
  for (; item && !is_statement(*item); item = reader.next()) {
    if (!is_echo(*item)) continue;
    if (!message.only_ours()) send(message, reader);
    echo(*item);
  }
  return item;
}

void ScriptRunner::echo(const sql::Item& item) {
  session_.tell(
      {.severity = item.name == "warn" ? "WARNING" : "ECHO", .message = sql::echoed_text(item.argument)});
}

void ScriptRunner::count(const sql::Item& item) {
  ++statements_;
  may_change_defaults_ = may_change_defaults_ || may_alter_defaults(item);
}

void ScriptRunner::send(ScriptMessage& message, sql::ScriptReader& reader) {
  throw_if_interrupted();
  if (const auto error = try_send(message, reader)) fail(message, *error, reader);
  message = {};
}

std::optional<ServerError> ScriptRunner::try_send(const ScriptMessage& message, sql::ScriptReader& reader) {
  const bool sent = PQsendQuery(session_.raw(), message.text().c_str()) == 1;
  // A million rows that nobody reads must not fill the memory.
  PQsetSingleRowMode(session_.raw());
  completed_ = 0;
  std::optional<ServerError> error;
  if (!sent) error = connection_error(session_.raw());
  while (const auto result = session_.next_result()) {
    switch (PQresultStatus(result.get())) {
      case PGRES_COMMAND_OK:
      case PGRES_TUPLES_OK:
        ++completed_;
        break;
      case PGRES_COPY_IN:
        copy_in(reader, error);
        break;
      case PGRES_COPY_OUT:
        drain_copy_out();
        break;
      case PGRES_FATAL_ERROR:
        // What follows the first error is only libpq's remark that the connection is gone.
        if (!error) error = server_error(result.get());
        break;
      default:
        break;
    }
  }
  if (session_.lost() && !error) error = connection_error(session_.raw());
  return error;
}

void ScriptRunner::copy_in(sql::ScriptReader& reader, std::optional<ServerError>& error) {
  const char* stop = nullptr;
  while (stop == nullptr) {
    const auto data = reader.next_copy_data();
    if (data.empty()) break;
    if (PQputCopyData(session_.raw(), data.data(), static_cast<int>(data.size())) != 1)
      stop = "the data could not be sent";
    if (interruption()) stop = "interrupted";
  }
  if (reader.problem()) stop = "the data has no end";
  if (PQputCopyEnd(session_.raw(), stop) != 1) error = connection_error(session_.raw());
}

void ScriptRunner::drain_copy_out() {
  char* row = nullptr;
  while (PQgetCopyData(session_.raw(), &row, 0) > 0) PQfreemem(row);
}

void ScriptRunner::refuse_unread(const sql::ScriptReader& reader) const {
  if (reader.problem()) throw unreadable(migration_, *reader.problem());
}

void ScriptRunner::fail(const ScriptMessage& message, const ServerError& error,
                        const sql::ScriptReader& reader) const {
  if (const auto interrupt = interruption()) throw *interrupt;
  throw statement_failed(session_, migration_, error, message.locate(error, completed_), reader.copy_start(),
                         open_);
}

}  // namespace lockstep::db
