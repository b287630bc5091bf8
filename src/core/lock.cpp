#include "core/lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/activity.h"
#include "core/back_off.h"

namespace lockstep {
namespace {

constexpr Milliseconds shortest_pause{25};
constexpr Milliseconds longest_pause{1000};

Failure busy(const LockPolicy& policy, Milliseconds waited, const std::optional<LockHolder>& holder) {
  Error error{.kind = ErrorKind::lock_busy, .code = "lock_busy"};
  error.message = policy.on_busy == OnBusy::wait
                      ? fmt::format("the migration lock was not free within {}", to_string(policy.at_most))
                      : std::string("another run holds the migration lock");
  if (holder) error.detail = "held by " + describe_holder(*holder);
  error.hints = {"Nothing was changed. Try again, or wait longer with --lock-wait."};
  if (holder) {
    error.hints.push_back(
        fmt::format("If that session is stuck, end it with: select pg_terminate_backend({})", holder->pid));
  }
  error.retry_after_ms = std::clamp<long>(waited.count() / 10, 1000, 30000);
  return Failure(std::move(error));
}

}  // namespace

Lock::~Lock() {
  if (database_ == nullptr) return;
  try {
    database_->unlock();
  } catch (const std::exception&) {
    // The error that is already on its way says what happened; a lost session has released the lock by
    // itself.
  }
}

void Lock::release() {
  std::exchange(database_, nullptr)->unlock();
}

Waited acquire(Database& database, const LockPolicy& policy, Reporter& reporter,
               const StillNeeded& still_needed) {
  Waited waited;
  BackOff back_off(database.facts().backend_pid, shortest_pause, longest_pause);
  std::optional<LockHolder> last_seen;
  while (true) {
    auto attempt = database.try_lock();
    if (attempt.acquired) waited.lock.emplace(database);
    if (!still_needed(std::move(attempt.history))) {
      if (waited.lock) waited.lock->release();
      waited.lock.reset();
      return waited;
    }
    if (waited.lock) return waited;
    if (policy.on_busy == OnBusy::skip) {
      waited.busy = true;
      return waited;
    }
    if (policy.on_busy == OnBusy::fail || waited.duration >= policy.at_most)
      throw busy(policy, waited.duration, attempt.holder);
    if (attempt.holder && attempt.holder != last_seen) {
      reporter.waiting(*attempt.holder, waited.duration);
      last_seen = attempt.holder;
    }
    waited.duration += database.wait_for_release(std::min(back_off.next(), policy.at_most - waited.duration));
  }
}

Lock acquire(Database& database, const LockPolicy& policy, Reporter& reporter,
             std::vector<HistoryRow>& history) {
  auto must_have = policy;
  if (must_have.on_busy == OnBusy::skip) must_have.on_busy = OnBusy::fail;
  auto waited = acquire(database, must_have, reporter, [&](std::vector<HistoryRow> rows) {
    history = std::move(rows);
    return true;
  });
  return std::move(*waited.lock);
}

}  // namespace lockstep
