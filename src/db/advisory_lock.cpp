#include "db/advisory_lock.h"

#include <fmt/format.h>

#include <pqxx/pqxx>

#include "db/interrupt.h"
#include "db/observer.h"

namespace lockstep::db {

AdvisoryLock::AdvisoryLock(std::int32_t lock_namespace, std::int32_t resource)
    : namespace_(lock_namespace), resource_(resource) {}

std::string AdvisoryLock::key_condition() const {
  // The two-integer form has objsubid 2 (PostgreSQL docs, 54.12 pg_locks).
  return fmt::format(
      "l.locktype operator(pg_catalog.=) 'advisory' and l.granted"
      " and l.classid operator(pg_catalog.=) {}::pg_catalog.oid and l.objid operator(pg_catalog.=) "
      "{}::pg_catalog.oid"
      " and l.objsubid operator(pg_catalog.=) 2"
      " and l.database operator(pg_catalog.=) (select d.oid from pg_catalog.pg_database as d"
      " where d.datname operator(pg_catalog.=) pg_catalog.current_database())",
      static_cast<std::uint32_t>(namespace_), static_cast<std::uint32_t>(resource_));
}

std::string AdvisoryLock::held_condition() const {
  return fmt::format(
      "exists (select from pg_catalog.pg_locks as l where {} and l.pid operator(pg_catalog.=) "
      "pg_catalog.pg_backend_pid())",
      key_condition());
}

std::string AdvisoryLock::fence_condition() const {
  // CASE fixes the order in which the two run.
  return fmt::format(
      "case when pg_catalog.pg_advisory_unlock_shared({0}, {1})"
      " then pg_catalog.pg_try_advisory_lock_shared({0}, {1}) else false end",
      namespace_, resource_);
}

Query AdvisoryLock::required_query() const {
  // Read as a number, the words are an error.
  return {fmt::format("select (case when {} then '1' else 'the lock is lost' end)::pg_catalog.int4",
                      fence_condition())};
}

Query AdvisoryLock::try_query() const {
  return {fmt::format(
      "select case when {0} then 'already' when pg_catalog.pg_try_advisory_lock({1}, {2}) then"
      " case when pg_catalog.pg_try_advisory_lock_shared({1}, {2}) then 'acquired' end else 'busy' end",
      held_condition(), namespace_, resource_)};
}

Query AdvisoryLock::holder_query() const {
  return {
      fmt::format("select l.pid, {} from pg_catalog.pg_locks as l"
                  " left join pg_catalog.pg_stat_activity as a on a.pid operator(pg_catalog.=) l.pid"
                  " where {} and l.pid operator(pg_catalog.<>) pg_catalog.pg_backend_pid() limit 1",
                  session_columns("a.backend_start"), key_condition())};
}

bool AdvisoryLock::acquired(const PGresult* tried) const {
  const auto outcome = text_at(tried, 0, 0);
  if (outcome == "already") {
    throw Failure(
        Error{.kind = ErrorKind::unsafe,
              .code = "lock_leaked",
              .message = "this backend already holds the migration lock, which this run has not taken",
              .detail = fmt::format("key ({}, {}); a pooled backend carries the lock of another client",
                                    namespace_, resource_),
              .hints = {"Connect directly to PostgreSQL, not through a connection pooler.",
                        "The lock goes away with that backend: see it with select * from pg_locks where "
                        "locktype = 'advisory'."}});
  }
  return outcome == "acquired";
}

std::optional<LockHolder> AdvisoryLock::holder(const PGresult* found) const {
  if (PQntuples(found) == 0) return std::nullopt;
  return session_at(found, 0, 0);
}

void AdvisoryLock::unlock(Session& session) const {
  const auto release = [&](pqxx::nontransaction& transaction) {
    const auto [released] = transaction.query1<bool>(
        fmt::format("select case when pg_catalog.pg_advisory_unlock_shared({0}, {1}) then "
                    "pg_catalog.pg_advisory_unlock({0}, {1})"
                    " else false end from (select pg_catalog.pg_notify('{2}', '')) as told",
                    namespace_, resource_, channel()));
    if (released) return;
    throw Failure(Error{.kind = ErrorKind::unsafe,
                        .code = "lock_lost",
                        .message = "the migration lock was not held any more when it was to be released",
                        .detail = fmt::format("key ({}, {})", namespace_, resource_),
                        .hints = {"A migration has released it (DISCARD ALL, pg_advisory_unlock), or a "
                                  "pooler has moved this session."}});
  };
  try {
    session.typed("release the migration lock", release);
  } catch (const Failure& failure) {
    // The server releases it with the session, and what was to be done under it is done.
    const bool ends_with_session = session.lost() || interruption();
    if (!ends_with_session || failure.error().kind == ErrorKind::unsafe) throw;
  }
}

std::string AdvisoryLock::channel() const {
  return fmt::format("lockstep_{}_{}", static_cast<std::uint32_t>(namespace_),
                     static_cast<std::uint32_t>(resource_));
}

}  // namespace lockstep::db
