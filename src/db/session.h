#pragma once

#include <libpq-fe.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/database.h"
#include "core/session_options.h"
#include "db/interrupt.h"
#include "db/result.h"
#include "db/server_error.h"

namespace pqxx {
class connection;
class nontransaction;
}  // namespace pqxx

namespace lockstep::db {

/// One statement with its parameters (text format), for the extended protocol.
struct Query {
  std::string sql;
  std::vector<std::optional<std::string>> parameters = {};
};

/// Whether the statements of a pipeline stand or fall together.
enum class Grouping {
  each_alone,    ///< every statement is a transaction with a snapshot of its own
  all_together,  ///< an error skips the rest
};

/// One connection to one server, for its whole life. It never reconnects: a new session would not hold our
/// lock.
class Session {
 public:
  /// Takes over an open connection.
  explicit Session(PGconn* connection);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  PGconn* raw() const { return raw_; }

  /// Runs typed queries. Throws Failure where libpqxx throws; `doing` completes the sentence "cannot …".
  void typed(std::string_view doing, const std::function<void(pqxx::nontransaction&)>& work);

  /// Sends several statements in one round trip, results in binary. Answers one result for each statement up
  /// to the error.
  Answer pipeline(const std::vector<Query>& queries, Grouping grouping);

  /// Sends one simple-protocol message and collects its results.
  Answer simple(const std::string& sql);

  /// The next result of what was sent, null at its end. An interrupt cancels the running statement.
  Result next_result();

  /// Ends whatever transaction is open. Never throws.
  void roll_back() noexcept;

  /// Whether the server reads what we send as UTF-8: a script can change client_encoding.
  bool speaks_utf8() const;

  bool lost() const { return PQstatus(raw_) != CONNECTION_OK; }
  /// The server has not told why, so it may have done all that it got.
  bool lost_silently(const ServerError& error) const { return lost() && error.sqlstate.empty(); }

  /// Where the server's notices go; empty: nowhere.
  void set_notice_sink(NoticeSink sink) { notices_ = std::move(sink); }

  /// Sends a notice of our own to where the server's go.
  void tell(const Notice& notice) const {
    if (notices_) notices_(notice);
  }

  static constexpr Milliseconds look_every{1000};
  /// Called while the answer to a statement is awaited, with the time since it began: after `first`, then
  /// about once a second.
  void set_wait_hook(std::function<void(Milliseconds)> hook, Milliseconds first = look_every) {
    wait_hook_ = std::move(hook);
    first_look_ = first;
  }

  /// Waits for a notification on `channel`; false when there was none in time.
  bool wait_for_notification(std::string_view channel, Milliseconds at_most);

 private:
  static void on_notice(void* self, const PGresult* result);
  void collect(Answer& answer);

  Diagnostics diagnostics_;
  std::unique_ptr<pqxx::connection> typed_;
  PGconn* raw_;
  Cancellable cancellable_;
  NoticeSink notices_;
  std::function<void(Milliseconds)> wait_hook_;
  Milliseconds first_look_ = look_every;
};

/// What to do about a SQLSTATE whose cause lies outside of the migration files; empty for others.
std::string_view advice(std::string_view sqlstate);

/// The failure that a named operation reports. After an interrupt it is the interrupt; a lost connection is
/// ErrorKind::connection, whatever `kind` says.
Failure failed(const Session& session, ErrorKind kind, std::string code, std::string message,
               const ServerError& error);

}  // namespace lockstep::db
