#include "core/migrate.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

Plan checked_plan(const std::vector<Migration>& files, std::vector<HistoryRow> history,
                  const PlanOptions& options) {
  auto plan = make_plan(files, std::move(history), options);
  if (!plan.problems.empty()) throw Failure(plan.problems);
  return plan;
}

}  // namespace

void apply_steps(Database& database, const RetryPolicy& policy, Reporter& reporter, MigrateResult& result) {
  auto rank = result.plan.highest_rank;
  for (const auto& step : result.plan.steps) {
    reporter.started(step);
    const auto applied = apply_with_retries(database, step, rank, policy, reporter);
    rank = std::max(rank, applied.rank);
    result.applied.push_back({step.migration, applied});
    reporter.finished(step, applied);
  }
}

void migrate(Database& database, const std::vector<Migration>& files, const MigrateOptions& options,
             Reporter& reporter, MigrateResult& result) {
  const auto pending = [&](std::vector<HistoryRow> history) {
    result.plan = checked_plan(files, std::move(history), options.plan);
    return !result.plan.steps.empty();
  };
  // Most runs end here: nothing is pending, and nobody touches the lock.
  if (!pending(database.history())) return reporter.planned(result.plan);

  auto waited = acquire(database, options.lock, reporter, pending);
  result.waited = waited.duration;
  result.skipped_busy = waited.busy;
  reporter.planned(result.plan);
  if (!waited.lock) return;

  database.create_history();
  apply_steps(database, options.retry, reporter, result);
  waited.lock->release();
}

}  // namespace lockstep
