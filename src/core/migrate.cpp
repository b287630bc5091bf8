#include "core/migrate.h"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include "core/history_format.h"

namespace lockstep {
namespace {

void refuse_problems(const Plan& plan) {
  if (!plan.problems.empty()) throw Failure(plan.problems);
}

/// Runs `work`; when it fails, these callbacks, before the failure goes on.
template <typename Work>
void with_error_callbacks(const CallbackRunner& runner, std::span<const Migration> callbacks,
                          const Work& work) {
  try {
    work();
  } catch (const Failure&) {
    runner.run_after_error(callbacks);
    throw;
  }
}

}  // namespace

void apply_steps(Database& database, const Callbacks& callbacks, const RetryPolicy& policy,
                 Reporter& reporter, MigrateResult& result) {
  const CallbackRunner runner(database, policy, reporter);
  auto rank = result.plan.highest_rank;
  const Migration* running = nullptr;
  const auto apply = [&](const Step& step) {
    running = &step.migration;
    reporter.started(step);
    const auto applied = apply_with_retries(database, step, rank, policy, reporter);
    rank = std::max(rank, applied.rank);
    result.applied.push_back({step.migration, applied});
    reporter.finished(step, applied);
  };
  add_callbacks(result.plan, callbacks);
  try {
    with_error_callbacks(runner, callbacks.after_error, [&] {
      runner.run(callbacks.before);
      for (const auto& step : result.plan.steps)
        with_error_callbacks(runner, callbacks.after_each_error, [&] { apply(step); });
      running = nullptr;
      if (!result.applied.empty()) runner.run(callbacks.after_applied);
      runner.run(callbacks.after);
    });
  } catch (const std::bad_alloc&) {
    // No callback for errors has run: the session stands in the middle of a message.
    throw Failure(running == nullptr ? out_of_memory() : out_of_memory(SourcePosition{running->path}));
  }
}

void migrate(Database& database, const LocalMigrations& files, const MigrateOptions& options,
             Reporter& reporter, MigrateResult& result) {
  const auto callbacks = migrate_callbacks(files.callbacks);
  const auto plan = [&](std::vector<HistoryRow> history) {
    result.plan = make_plan(files.migrations, std::move(history), options.plan);
  };
  const auto pending = [&](std::vector<HistoryRow> history) {
    plan(std::move(history));
    refuse_problems(result.plan);
    return anything_to_run(result.plan, callbacks);
  };
  // Most runs end here: nothing is pending, and nobody touches the lock.
  plan(database.history_outline());
  if (!result.plan.problems.empty()) plan(database.history());  // what there is to tell stands in the rest
  refuse_problems(result.plan);
  if (!anything_to_run(result.plan, callbacks)) return reporter.planned(result.plan);

  auto waited = acquire(database, options.lock, reporter, pending);
  result.waited = waited.duration;
  result.skipped_busy = waited.busy;
  reporter.planned(result.plan);
  if (!waited.lock) return;

  if (!result.plan.steps.empty()) prepare_history(database, reporter);
  apply_steps(database, callbacks, options.retry, reporter, result);
  waited.lock->release();
}

}  // namespace lockstep
