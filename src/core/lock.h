#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "core/database.h"
#include "core/reporter.h"

namespace lockstep {

/// What to do when another run holds the lock.
enum class OnBusy { wait, fail, skip };

struct LockPolicy {
  OnBusy on_busy = OnBusy::wait;
  Milliseconds at_most{std::chrono::minutes(5)};
};

/// The held migration lock. Its destructor releases it on the way out of an error, and never throws.
class Lock {
 public:
  explicit Lock(Database& database) : database_(&database) {}
  Lock(Lock&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock();

  /// Releases it where an error can still be reported.
  void release();

 private:
  Database* database_;
};

/// Looks at the history of one attempt; false means that the lock is not needed any more.
using StillNeeded = std::function<bool(std::vector<HistoryRow>)>;

struct Waited {
  std::optional<Lock> lock = std::nullopt;  ///< absent: not needed any more, or busy
  Milliseconds duration{0};
  bool busy = false;  ///< OnBusy::skip, and another run holds it
};

/// Tries until the lock is acquired or not needed any more. Throws Failure (lock_busy) at the policy's
/// deadline.
Waited acquire(Database& database, const LockPolicy& policy, Reporter& reporter,
               const StillNeeded& still_needed);

/// For commands that need the lock whatever the history says. Throws Failure (lock_busy) if it is not free in
/// time.
Lock acquire(Database& database, const LockPolicy& policy, Reporter& reporter,
             std::vector<HistoryRow>& history);

}  // namespace lockstep
