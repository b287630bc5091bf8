#include "db/script_sender.h"

#include <algorithm>
#include <string_view>

#include "db/script_failure.h"
#include "sql/include.h"

namespace lockstep::db {

namespace {

/// The server takes a message of COPY data as a whole before it reads a row of it: with small ones it works
/// while the next are on their way.
constexpr std::size_t copy_message_size = 16 * 1024;

bool put_copy_data(PGconn* connection, std::string_view data) {
  for (; !data.empty(); data.remove_prefix(std::min(data.size(), copy_message_size))) {
    const auto piece = data.substr(0, copy_message_size);
    if (PQputCopyData(connection, piece.data(), static_cast<int>(piece.size())) != 1) return false;
  }
  return true;
}

}  // namespace

bool is_echo(const sql::Item& item) {
  return item.kind == sql::Item::Kind::meta_command && sql::is_echo(item.name);
}

sql::ReaderOptions reader_options(PGconn* connection) {
  const char* standard = PQparameterStatus(connection, "standard_conforming_strings");
  const bool is_off = standard != nullptr && std::string_view(standard) == "off";
  return {.strings = is_off ? sql::Strings::backslash_escapes : sql::Strings::standard};
}

ScriptSender::ScriptSender(Session& session, const OpenScript& open, const Migration& migration)
    : session_(session), open_(open), migration_(migration) {}

std::optional<ServerError> ScriptSender::try_send(const ScriptMessage& message, sql::ScriptReader& reader) {
  const bool sent = PQsendQuery(session_.raw(), message.text().c_str()) == 1;
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

void ScriptSender::send(const ScriptMessage& message, sql::ScriptReader& reader) {
  throw_if_interrupted();
  if (const auto error = try_send(message, reader)) throw failure(message, *error, reader);
}

void ScriptSender::echo(const sql::Item& item) const {
  session_.tell(
      {.severity = item.name == "warn" ? "WARNING" : "ECHO", .message = sql::echoed_text(item.argument)});
}

Failure ScriptSender::failure(const ScriptMessage& message, const ServerError& error,
                              const sql::ScriptReader& reader) const {
  if (auto interrupt = interruption()) return *interrupt;
  const auto at = message.locate(error, completed_);
  const auto place = at ? std::optional(at->place) : std::nullopt;
  const auto* callback = at ? at->callback : nullptr;
  if (callback == nullptr)
    return statement_failed(session_, migration_, error, place, reader.copy_start(), open_);
  return within_migration(statement_failed(session_, *callback, error, place, reader.copy_start(), open_),
                          *callback, migration_);
}

void ScriptSender::copy_in(sql::ScriptReader& reader, std::optional<ServerError>& error) {
  const char* stop = nullptr;
  while (stop == nullptr) {
    const auto data = reader.next_copy_data();
    if (data.empty()) break;
    if (!put_copy_data(session_.raw(), data)) stop = "the data could not be sent";
    if (interruption()) stop = "interrupted";
  }
  if (reader.problem()) stop = "the data has no end";
  if (PQputCopyEnd(session_.raw(), stop) != 1) error = connection_error(session_.raw());
}

void ScriptSender::drain_copy_out() {
  char* row = nullptr;
  while (PQgetCopyData(session_.raw(), &row, 0) > 0) PQfreemem(row);
}

}  // namespace lockstep::db
