#include "core/migrate.h"

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

void refuse_problems(const Plan& plan) {
  if (!plan.problems.empty()) throw Failure(plan.problems);
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
  const auto plan = [&](std::vector<HistoryRow> history) {
    result.plan = make_plan(files, std::move(history), options.plan);
  };
  const auto pending = [&](std::vector<HistoryRow> history) {
    plan(std::move(history));
    refuse_problems(result.plan);
    return !result.plan.steps.empty();
  };
  // Most runs end here: nothing is pending, and nobody touches the lock.
  plan(database.history_outline());
  if (!result.plan.problems.empty()) plan(database.history());  // what there is to tell stands in the rest
  refuse_problems(result.plan);
  if (result.plan.steps.empty()) return reporter.planned(result.plan);

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
