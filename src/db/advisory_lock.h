#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/database.h"
#include "db/session.h"

namespace lockstep::db {

/// The session advisory lock of one history table: its two-integer key, and the SQL about it (docs/locks.md).
class AdvisoryLock {
 public:
  AdvisoryLock(std::int32_t lock_namespace, std::int32_t resource);

  /// Queries for a pipeline: the try, and who holds it.
  Query try_query() const;
  Query holder_query() const;

  /// True when acquired. Throws Failure if this backend holds the lock already: then it leaked from another
  /// client.
  bool acquired(const PGresult* tried) const;
  std::optional<LockHolder> holder(const PGresult* found) const;

  /// Releases and tells the waiters. Throws Failure if the lock was not held any more.
  void unlock(Session& session) const;

  /// An SQL condition: this backend holds the lock, by pg_locks. Takes about 0.3 ms.
  std::string held_condition() const;

  /// The same in microseconds, for the fence: gives up the shared form of the lock, which the session holds
  /// beside the exclusive one, and takes it again. The first fails if a script has released the session's
  /// locks; the second if somebody else has come since. In between the exclusive lock keeps others out.
  std::string fence_condition() const;

  /// A query that fails with this SQLSTATE unless the fence holds.
  Query required_query() const;
  static constexpr std::string_view lost_sqlstate = "22P02";

  /// The channel on which a release is told.
  std::string channel() const;

 private:
  std::string key_condition() const;

  std::int32_t namespace_;
  std::int32_t resource_;
};

}  // namespace lockstep::db
