#include "core/repair.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

RowChange align(const PlanEntry& entry) {
  return {.action = RowChange::Action::align,
          .rank = entry.row->rank,
          .checksum = entry.file->checksum,
          .description = entry.file->name.description,
          .script = entry.file->script};
}

Error changed_meanwhile() {
  return {.kind = ErrorKind::files,
          .code = "history_changed",
          .message = "the history changed while the repair was being agreed on",
          .hints = {"Nothing was changed. Run lockstep repair again and look at its new plan."}};
}

}  // namespace

std::vector<RowChange> repair_changes(const Plan& plan) {
  const auto wrong_place = std::find_if(plan.problems.begin(), plan.problems.end(),
                                        [](const Error& error) { return error.code == "no_migrations"; });
  if (wrong_place != plan.problems.end()) throw Failure(*wrong_place);

  std::vector<RowChange> changes;
  for (const auto& entry : plan.entries) {
    if (entry.state == MigrationState::changed) changes.push_back(align(entry));
    if (entry.state != MigrationState::missing) continue;
    changes.push_back({.action = RowChange::Action::mark_deleted, .rank = entry.row->rank});
  }
  return changes;
}

void repair(Database& database, const std::vector<Migration>& files, const std::vector<RowChange>& agreed,
            const LockPolicy& policy, Reporter& reporter) {
  std::vector<HistoryRow> history;
  auto lock = acquire(database, policy, reporter, history);
  const auto plan = make_plan(files, std::move(history), {});
  if (repair_changes(plan) != agreed) throw Failure(changed_meanwhile());
  database.repair(agreed, plan.highest_rank);
  lock.release();
}

}  // namespace lockstep
