#pragma once

#include <libpq-fe.h>

#include <optional>
#include <string>

#include "core/database.h"
#include "core/error.h"

namespace lockstep::db {

/// Everything that the server says about an error (PostgreSQL docs, "Error and Notice Message Fields").
struct ServerError {
  std::string severity;  ///< never translated
  std::string sqlstate;
  std::string message;
  std::string detail;
  std::string hint;
  std::string context;
  std::string schema, table, column, constraint, type;
  std::string query;         ///< what a function was running
  std::size_t position = 0;  ///< characters from 1 in the message that was sent; 0: unknown
};

ServerError server_error(const PGresult* result);

/// An error without a result: libpq's own words about a broken connection.
ServerError connection_error(PGconn* connection);

Notice server_notice(const PGresult* result);

/// Copies detail, hint, context, SQLSTATE and the names of the objects concerned into `error`.
void describe(const ServerError& from, Error& error);

/// Remembers the last error result of a connection, since libpqxx's exceptions drop most of its fields.
class Diagnostics {
 public:
  /// Registers an event procedure. `this` must outlive the connection.
  void attach(PGconn* connection);

  std::optional<ServerError> last_error;
};

}  // namespace lockstep::db
