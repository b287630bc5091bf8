#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/database.h"
#include "db/history_table.h"
#include "db/script_runner.h"
#include "db/session.h"
#include "db/session_state.h"

namespace lockstep::db {

/// What follows a file within its transaction, in the same message: what is deferred to COMMIT, the records
/// as ourselves and behind the fence, COMMIT. `records` become statements with constants.
std::vector<std::string> closing_statements(const SessionState& state, const std::vector<Query>& records);

/// The connection was lost while the history was created or changed.
Failure change_in_doubt();

/// Writes to the history, as ourselves and behind the fence, whatever a script has made of the session.
class Recorder {
 public:
  Recorder(Session& session, const SessionState& state, const HistoryTable& history);

  /// Writes one row in a transaction of its own. Throws what `refusal` says.
  void write(const Migration& migration, const Query& query, std::int64_t expected_rank);

  /// Writes one row and commits the open transaction with it. The error is what the transaction itself has
  /// put off to its end or what COMMIT answered; a row that was refused throws.
  std::optional<ServerError> commit(const Migration& migration, const Query& query,
                                    std::int64_t expected_rank);

  /// Why the closing statements did not get to their end; the transaction is rolled back.
  Failure not_closed(const Migration& migration, std::int64_t expected_rank, const ClosingError& error);

  /// Writes all rows or none.
  void write_all(std::vector<Query> queries, std::int64_t expected_rank);

 private:
  std::optional<ServerError> write_transaction(std::vector<Query> queries);
  /// Within a transaction only.
  std::vector<Query> as_ourselves(std::vector<Query> queries) const;
  /// Why a row could not be written. The violated fence shows as a null rank or as a rank or version that is
  /// taken.
  Failure refusal(const Migration& migration, std::int64_t expected_rank, const ServerError& error);

  Session& session_;
  const SessionState& state_;
  const HistoryTable& history_;
};

}  // namespace lockstep::db
