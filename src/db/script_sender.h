#pragma once

#include <cstddef>
#include <optional>

#include "core/migration.h"
#include "db/hashed_script.h"
#include "db/script_message.h"
#include "db/session.h"
#include "sql/script_reader.h"

namespace lockstep::db {

/// \echo, \warn and \qecho.
bool is_echo(const sql::Item& item);

/// How text is to be read in this session, as it is now.
sql::ReaderOptions reader_options(PGconn* connection);

/// Sends the messages of one migration file and reads what comes of them, COPY data included. Results are
/// thrown away as they arrive: a million rows that nobody reads must not fill the memory.
class ScriptSender {
 public:
  ScriptSender(Session& session, const OpenScript& open, const Migration& migration);

  /// The error that ended the message, if one did. `reader` stands behind the message's last statement.
  std::optional<ServerError> try_send(const ScriptMessage& message, sql::ScriptReader& reader);

  /// The same, but throws the failure of the statement, or before it sends anything an interrupt.
  void send(const ScriptMessage& message, sql::ScriptReader& reader);

  /// How many statements of the last message ran.
  std::size_t completed() const { return completed_; }

  /// Prints what such an item says, among the server's notices.
  void echo(const sql::Item& item) const;

  /// What an error of the message that was sent last is for the user.
  Failure failure(const ScriptMessage& message, const ServerError& error,
                  const sql::ScriptReader& reader) const;

 private:
  void copy_in(sql::ScriptReader& reader, std::optional<ServerError>& error);
  void drain_copy_out();

  Session& session_;
  const OpenScript& open_;
  const Migration& migration_;
  std::size_t completed_ = 0;
};

}  // namespace lockstep::db
