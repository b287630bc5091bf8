#include "core/retry.h"

#include <fmt/format.h>

#include "core/activity.h"
#include "core/back_off.h"

namespace lockstep {
namespace {

constexpr Milliseconds shortest_pause{200};
constexpr Milliseconds longest_pause{5000};

bool lost_against_others(const Error& error) {
  return error.sqlstate == "55P03" || error.sqlstate == "40P01" || error.sqlstate == "40001";
}

Error with_blockers(Error error, const std::vector<LockHolder>& blockers) {
  for (const auto& blocker : blockers) {
    error.detail +=
        fmt::format("{}blocked by {}", error.detail.empty() ? "" : "\n", describe_blocker(blocker));
  }
  return error;
}

Failure given_up(Error error, int attempts) {
  error.hints.push_back(
      fmt::format("It was tried {} times. End or wait for what blocks it; migrate.lock_timeout and "
                  "migrate.lock_attempts say how long and how often to try.",
                  attempts));
  return Failure(std::move(error));
}

template <typename Attempt>
AppliedStep with_retries(Database& database, const Step& step, const RetryPolicy& policy, Reporter& reporter,
                         const Attempt& attempt_once) {
  BackOff back_off(database.facts().backend_pid, shortest_pause, longest_pause);
  for (int attempt = 1;; ++attempt) {
    Watch watch(step, reporter);
    const StepEvents events{.noticed = [&](const Notice& notice) { reporter.noticed(step, notice); },
                            .running = [&](const Activity& activity) { watch.see(activity); }};
    try {
      return attempt_once(events);
    } catch (const Failure& failure) {
      const bool rolled_back = step.migration.transaction == TransactionMode::on;
      if (!rolled_back || !lost_against_others(failure.error())) throw;
      const auto error = with_blockers(failure.error(), watch.blockers());
      if (attempt >= policy.attempts) throw given_up(error, attempt);
      const auto pause = back_off.next();
      reporter.retrying(step, error, pause);
      database.pause(pause);
    }
  }
}

}  // namespace

AppliedStep apply_with_retries(Database& database, const Step& step, std::int64_t expected_rank,
                               const RetryPolicy& policy, Reporter& reporter) {
  return with_retries(database, step, policy, reporter,
                      [&](const StepEvents& events) { return database.apply(step, expected_rank, events); });
}

AppliedStep run_callback_with_retries(Database& database, const Step& callback, const RetryPolicy& policy,
                                      Reporter& reporter) {
  return with_retries(database, callback, policy, reporter, [&](const StepEvents& events) {
    return database.run_callback(callback.migration, events);
  });
}

}  // namespace lockstep
