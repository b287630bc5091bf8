#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/migration.h"
#include "core/session_options.h"
#include "db/greeting.h"
#include "db/session.h"

namespace lockstep::db {

/// Whether a script may have changed what new sessions begin with (ALTER DATABASE or ROLE … SET).
enum class Defaults { unchanged, read_again };

/// What a session must look like when a migration begins, and how to get back to it after another migration:
/// nothing leaks from one file to the next, and the lock is never touched (so no DISCARD ALL).
class SessionState {
 public:
  SessionState(const SessionOptions& options, const Greeting& greeting);

  /// Settings for the whole session: the server notices within seconds when this client is gone (promise 11),
  /// never ends this session by a timeout, and role and search_path are the configured ones.
  Query prepare_query() const;

  /// The same, for the current transaction only, as a reader needs it.
  Query borrow_query() const;

  /// Statements that undo whatever a script did to the session, ending in the settings of prepare_query.
  std::vector<std::string> reset_statements(Defaults defaults) const;

  /// Back to our own identity until the transaction ends, with names looked up in pg_catalog only: a script
  /// may have changed role and search_path before its row is written.
  std::vector<std::string> own_identity_statements() const;

  /// Back to our own encoding until the transaction ends. The server reads what comes behind it that way.
  static Query own_encoding_query();

  /// The BEGIN of the file, else one with the isolation level that the role would have had.
  std::string begin_statement(const Migration& migration) const;
  std::string begin_statement() const;

  /// How long a file may wait for a lock: what its directives ask for, else the configured time if it is
  /// transactional. Nothing: as the session has it. The wait of CREATE INDEX CONCURRENTLY for old snapshots
  /// counts as a lock wait too, and a time-out there leaves an INVALID index.
  std::optional<Milliseconds> lock_timeout(const Migration& migration) const;
  /// The timeouts of a file, within its transaction.
  std::vector<std::string> timeout_statements(const Migration& migration) const;

 private:
  struct Setting {
    std::string name;
    std::string value;
  };

  std::vector<Setting> identity_;
  std::vector<Setting> settings_;
  std::string own_role_;
  std::string login_;
  std::string isolation_;
  Milliseconds lock_timeout_;
  int server_version_;
};

}  // namespace lockstep::db
