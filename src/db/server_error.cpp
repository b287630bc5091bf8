#include "db/server_error.h"

#include <fmt/format.h>
#include <libpq-events.h>

#include <cstdlib>

namespace lockstep::db {
namespace {

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string{} : std::string(text);
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

int on_event(PGEventId id, void* info, void* pass_through) {
  if (id != PGEVT_RESULTCREATE) return 1;
  const auto* result = static_cast<PGEventResultCreate*>(info)->result;
  if (PQresultStatus(result) != PGRES_FATAL_ERROR) return 1;
  static_cast<Diagnostics*>(pass_through)->last_error = server_error(result);
  return 1;
}

/// Names of objects that the message itself may not show.
std::string objects(const ServerError& error) {
  std::string text;
  const auto add = [&](std::string_view label, const std::string& name) {
    if (name.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", label, name);
  };
  add("schema", error.schema);
  add("table", error.table);
  add("column", error.column);
  add("constraint", error.constraint);
  add("type", error.type);
  return text;
}

}  // namespace

ServerError server_error(const PGresult* result) {
  ServerError error;
  error.severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED);
  error.sqlstate = field(result, PG_DIAG_SQLSTATE);
  error.message = field(result, PG_DIAG_MESSAGE_PRIMARY);
  error.detail = field(result, PG_DIAG_MESSAGE_DETAIL);
  error.hint = field(result, PG_DIAG_MESSAGE_HINT);
  error.context = field(result, PG_DIAG_CONTEXT);
  error.schema = field(result, PG_DIAG_SCHEMA_NAME);
  error.table = field(result, PG_DIAG_TABLE_NAME);
  error.column = field(result, PG_DIAG_COLUMN_NAME);
  error.constraint = field(result, PG_DIAG_CONSTRAINT_NAME);
  error.type = field(result, PG_DIAG_DATATYPE_NAME);
  error.query = field(result, PG_DIAG_INTERNAL_QUERY);
  error.position = std::strtoul(field(result, PG_DIAG_STATEMENT_POSITION).c_str(), nullptr, 10);
  if (error.message.empty()) error.message = trimmed(PQresultErrorMessage(result));
  return error;
}

ServerError connection_error(PGconn* connection) {
  ServerError error;
  error.severity = "FATAL";
  error.message = trimmed(PQerrorMessage(connection));
  return error;
}

Notice server_notice(const PGresult* result) {
  return {.severity = field(result, PG_DIAG_SEVERITY_NONLOCALIZED),
          .message = field(result, PG_DIAG_MESSAGE_PRIMARY),
          .sqlstate = field(result, PG_DIAG_SQLSTATE),
          .detail = field(result, PG_DIAG_MESSAGE_DETAIL),
          .hint = field(result, PG_DIAG_MESSAGE_HINT)};
}

void describe(const ServerError& from, Error& error) {
  error.sqlstate = from.sqlstate;
  error.detail = from.detail;
  if (const auto named = objects(from); !named.empty()) {
    error.detail += (error.detail.empty() ? "" : "\n") + named;
  }
  error.context = from.context;
  if (!from.hint.empty()) error.hints.insert(error.hints.begin(), from.hint);
}

void Diagnostics::attach(PGconn* connection) {
  PQregisterEventProc(connection, on_event, "lockstep diagnostics", this);
}

}  // namespace lockstep::db
