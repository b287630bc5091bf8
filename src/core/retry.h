#pragma once

#include "core/database.h"
#include "core/reporter.h"

namespace lockstep {

/// How often a migration is tried again that lost against other sessions.
struct RetryPolicy {
  int attempts = 10;  ///< in all; every one of them has the lock_timeout
};

/// Applies one step. A transactional migration that did not get a lock in time (55P03), was chosen by the
/// deadlock detector (40P01) or lost a serialization race (40001) was rolled back as a whole, so it is tried
/// again, after a pause.
AppliedStep apply_with_retries(Database& database, const Step& step, std::int64_t expected_rank,
                               const RetryPolicy& policy, Reporter& reporter);

/// The same for a callback with a transaction of its own.
AppliedStep run_callback_with_retries(Database& database, const Step& callback, const RetryPolicy& policy,
                                      Reporter& reporter);

}  // namespace lockstep
