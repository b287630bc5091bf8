#include "db/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "db/advisory_lock.h"
#include "db/script_failure.h"
#include "db/with_constants.h"

namespace lockstep::db {
namespace {

/// A file without a transaction may have changed what a transaction begins with.
constexpr auto begin_to_write = "begin isolation level read committed read write";

/// Baseline and repair have none.
bool is_file(const Migration& migration) {
  return !migration.path.empty();
}

/// A session that ends behind COMMIT's answer takes nothing back.
bool is_complete(const Answer& answer, const std::vector<Query>& queries) {
  return answer.results.size() == queries.size();
}

}  // namespace

Failure change_in_doubt() {
  return Failure(Error{.kind = ErrorKind::connection,
                       .code = "commit_in_doubt",
                       .message = "the connection was lost before the server told what became of the change, "
                                  "so it is not known whether the history was changed",
                       .hints = {"Run the command again: it reads the history, which knows."}});
}

std::vector<std::string> closing_statements(const SessionState& state, const std::vector<Query>& records) {
  // What is deferred to COMMIT runs as the file has left the session, before that becomes our own.
  std::vector<std::string> statements{"set constraints all immediate"};
  for (auto& own : state.own_identity_statements()) statements.push_back(std::move(own));
  // Fails if the file has ended its transaction: a record alone must not be committed.
  statements.emplace_back("savepoint lockstep");
  for (const auto& record : records) statements.push_back(with_constants(record));
  statements.emplace_back("commit");
  return statements;
}

Recorder::Recorder(Session& session, const SessionState& state, const HistoryTable& history)
    : session_(session), state_(state), history_(history) {}

void Recorder::write(const Migration& migration, const Query& query, std::int64_t expected_rank) {
  const auto error = write_transaction({query});
  if (!error) return;
  throw session_.lost_silently(*error) ? progress_in_doubt(migration)
                                       : refusal(migration, expected_rank, *error);
}

std::optional<ServerError> Recorder::commit(const Migration& migration, const Query& query,
                                            std::int64_t expected_rank) {
  // What is deferred to COMMIT runs as the file has left the session, before that becomes our own.
  auto queries = as_ourselves({query, {"commit"}});
  queries.insert(queries.begin(), {"set constraints all immediate"});
  const auto answer = session_.pipeline(queries, Grouping::all_together);
  const auto answered = answer.results.size();
  const bool of_the_file = answered == 0 || answered == queries.size() - 1;
  if (is_complete(answer, queries)) return std::nullopt;
  if (session_.lost_silently(*answer.error)) throw progress_in_doubt(migration);
  if (of_the_file || session_.lost()) return answer.error;
  session_.roll_back();
  throw refusal(migration, expected_rank, *answer.error);
}

Failure Recorder::not_closed(const Migration& migration, std::int64_t expected_rank,
                             const ClosingError& error) {
  const bool of_the_file =
      error.part == ClosingError::Part::deferred || error.part == ClosingError::Part::commit;
  if (of_the_file || session_.lost()) return commit_failed(session_, migration, error.error);
  session_.roll_back();
  if (error.error.sqlstate == "25P01") return transaction_ended(migration);
  return refusal(migration, expected_rank, error.error);
}

void Recorder::write_all(std::vector<Query> queries, std::int64_t expected_rank) {
  const auto error = write_transaction(std::move(queries));
  if (!error) return;
  throw session_.lost_silently(*error) ? change_in_doubt()
                                       : refusal(Migration{.script = "the change"}, expected_rank, *error);
}

std::optional<ServerError> Recorder::write_transaction(std::vector<Query> queries) {
  queries = as_ourselves(std::move(queries));
  queries.insert(queries.begin(), {begin_to_write});
  queries.push_back({"commit"});
  const auto answer = session_.pipeline(queries, Grouping::all_together);
  if (is_complete(answer, queries)) return std::nullopt;
  session_.roll_back();
  return answer.error;
}

std::vector<Query> Recorder::as_ourselves(std::vector<Query> queries) const {
  const auto identity = state_.own_identity_statements();
  std::vector<Query> own(identity.size());
  std::transform(identity.begin(), identity.end(), own.begin(),
                 [](const std::string& sql) { return Query{sql}; });
  queries.insert(queries.begin(), own.begin(), own.end());
  if (!session_.speaks_utf8()) queries.insert(queries.begin(), SessionState::own_encoding_query());
  return queries;
}

Failure Recorder::refusal(const Migration& migration, std::int64_t expected_rank, const ServerError& error) {
  if (const auto interrupt = interruption()) return *interrupt;
  const bool fence = (error.sqlstate == "23502" && error.column == "rank") || error.sqlstate == "23505" ||
                     error.sqlstate == AdvisoryLock::lost_sqlstate;
  if (session_.lost() || (!fence && !is_file(migration))) {
    return failed(session_, ErrorKind::migration, "not_recorded",
                  fmt::format("cannot record {} in the history", migration.script), error);
  }
  if (!fence) return not_recorded(migration, error);
  const auto answer = session_.pipeline({history_.fence_query()}, Grouping::each_alone);
  if (!answer.error && bool_at(answer.results[0].get(), 0, 0)) {
    return history_moved(migration, expected_rank, int8_at(answer.results[0].get(), 0, 1));
  }
  return lock_lost(migration);
}

}  // namespace lockstep::db
