#pragma once

#include <optional>
#include <vector>

#include "core/callbacks.h"
#include "core/database.h"
#include "core/lock.h"
#include "core/plan.h"
#include "core/reporter.h"
#include "core/retry.h"

namespace lockstep {

struct MigrateOptions {
  PlanOptions plan = {};
  LockPolicy lock = {};
  RetryPolicy retry = {};
};

struct AppliedMigration {
  Migration migration;
  AppliedStep result;
};

/// What a run of migrate or undo came to. When it throws, `applied` holds what was committed before.
struct MigrateResult {
  Plan plan;  ///< the last one made
  std::vector<AppliedMigration> applied;
  Milliseconds waited{0};
  bool skipped_busy = false;  ///< OnBusy::skip, and another run held the lock
};

/// Applies every pending migration, exactly once, whoever else tries at the same time. `result` is filled as
/// it goes, so that a failed run can say what was applied. Callbacks run when something is pending, and some
/// always (`anything_to_run`).
void migrate(Database& database, const LocalMigrations& files, const MigrateOptions& options,
             Reporter& reporter, MigrateResult& result);

/// Runs the steps of `result.plan` and the callbacks around them under the lock, one after the other.
void apply_steps(Database& database, const Callbacks& callbacks, const RetryPolicy& policy,
                 Reporter& reporter, MigrateResult& result);

}  // namespace lockstep
