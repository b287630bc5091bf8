#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/database.h"
#include "core/reporter.h"
#include "core/retry.h"

namespace lockstep {

/// The callbacks of one command, those of an event in the order in which they run (docs/callbacks.md).
struct Callbacks {
  std::span<const Migration> before = {};
  std::span<const Migration> before_each = {};
  std::span<const Migration> after_each = {};
  std::span<const Migration> after_each_error = {};
  std::span<const Migration> after_applied = {};  ///< only if something was applied
  std::span<const Migration> after = {};
  std::span<const Migration> after_error = {};

  /// migrate runs them also when no migration is pending.
  bool run_always() const { return !before.empty() || !after.empty(); }
};

/// beforeMigrate, beforeEachMigrate, …: of files that are sorted by their events.
Callbacks migrate_callbacks(const std::vector<Migration>& files);
/// beforeUndo, beforeEachUndo, …
Callbacks undo_callbacks(const std::vector<Migration>& files);

/// beforeEach… and afterEach…: part of the migration's transaction.
bool runs_within_migration(const MigrationName& callback);

/// Why no command here runs callbacks of this event; nothing if one does.
std::optional<NameProblem> refusal_of_event(std::string_view event);

/// Whether migrate has anything to do. A release that is older than the database leaves it alone.
bool anything_to_run(const Plan& plan, const Callbacks& callbacks);

/// One element of what migrate or undo does: a step, or a callback with a transaction of its own.
struct RunElement {
  const Migration* migration = nullptr;  ///< the callback's own file, or the step's
  const Step* step = nullptr;            ///< nullptr: a callback
};

/// All that runs if nothing fails, in order; points into both.
std::vector<RunElement> run_order(const Plan& plan, const Callbacks& callbacks);

/// Gives every step the callbacks that run within it; their files must outlive the plan.
void add_callbacks(Plan& plan, const Callbacks& callbacks);

/// Runs callbacks one after the other, each in a transaction of its own, which is tried again as a
/// migration's is.
class CallbackRunner {
 public:
  CallbackRunner(Database& database, const RetryPolicy& policy, Reporter& reporter)
      : database_(database), policy_(policy), reporter_(reporter) {}

  void run(std::span<const Migration> callbacks) const;

  /// After a failure, which stays the one to report: what fails here becomes a warning.
  void run_after_error(std::span<const Migration> callbacks) const;

 private:
  Database& database_;
  const RetryPolicy& policy_;
  Reporter& reporter_;
};

}  // namespace lockstep
