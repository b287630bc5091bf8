#pragma once

#include <optional>
#include <vector>

#include "core/migrate.h"

namespace lockstep {

struct UndoOptions {
  std::optional<Version> target = std::nullopt;  ///< absent: the newest applied version alone
  LockPolicy lock = {};                          ///< OnBusy::skip counts as fail
  RetryPolicy retry = {};
};

/// What undo would do: a step for each applied version above the target, the newest version first, whatever
/// the order in which they were applied. Only the U files are looked at: that a migration's own file was
/// edited or removed is often why it is taken back. Pure. `entries` stays empty.
Plan make_undo_plan(const std::vector<Migration>& files, std::vector<HistoryRow> history,
                    const std::optional<Version>& target);

/// Runs the U files of that plan under the lock, each in one transaction with its record. Without a target it
/// takes back the version that was the newest one before it waited for the lock, or nothing. Throws Failure.
void undo(Database& database, const LocalMigrations& files, const UndoOptions& options, Reporter& reporter,
          MigrateResult& result);

}  // namespace lockstep
