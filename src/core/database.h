#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/duration.h"
#include "core/history.h"
#include "core/inventory.h"
#include "core/plan.h"

namespace lockstep {

/// What the first query after connecting learned.
struct SessionFacts {
  int server_version = 0;  ///< as server_version_num: 150018
  std::string database;
  std::string user;
  std::string schema;  ///< of the history table
  std::string table;
  int backend_pid = 0;
  std::int32_t lock_namespace = 0;
  std::int32_t lock_resource = 0;
};

/// Who holds the migration lock. Fields that the server does not show to this role are empty.
struct LockHolder {
  int pid = 0;
  std::string application = {};
  std::string user = {};
  std::string client = {};  ///< address, "local socket", or empty where it is not known
  std::string since = {};   ///< when its session, or of a blocker its transaction, began; ISO 8601
  std::string state = {};
  std::string query = {};

  friend bool operator==(const LockHolder&, const LockHolder&) = default;
};

/// One try. The history is read after the try, in the same round trip.
struct LockAttempt {
  bool acquired = false;
  std::vector<HistoryRow> history = {};
  std::optional<LockHolder> holder = std::nullopt;  ///< when not acquired and known
};

/// A message that the server sent while a migration ran.
struct Notice {
  std::string severity = {};  ///< NOTICE, WARNING, INFO, …
  std::string message = {};
  std::string sqlstate = {};
  std::string detail = {};
  std::string hint = {};
};

using NoticeSink = std::function<void(const Notice&)>;

/// What a statement that takes long is doing, seen from a second connection.
struct Activity {
  Milliseconds running{0};
  std::string waits_for = {};  ///< as pg_stat_activity calls it: "Lock: relation"; empty: it works
  std::string progress = {};   ///< of an index build: "building index: scanning table, 40 %"
  std::vector<LockHolder> blockers = {};
};

/// Where the events of one migration go. Empty functions are not called.
struct StepEvents {
  NoticeSink noticed = {};
  /// About once a second, from the second second on. Sooner when the statement is blocked and its
  /// lock_timeout is shorter.
  std::function<void(const Activity&)> running = {};
};

/// What applying one migration came to.
struct AppliedStep {
  std::int64_t rank = 0;
  std::int64_t statements = 0;
  Milliseconds duration{0};
};

/// Takes a text in pieces.
using TextSink = std::function<void(std::string_view)>;

/// A change of one history row that repair or undo makes.
struct RowChange {
  enum class Action {
    align,
    mark_deleted,
    mark_undone,
    statement_done,   ///< the statement in doubt was done: go on behind it
    statement_again,  ///< it was not done: go on with it
  };
  Action action;
  std::int64_t rank;
  std::string checksum = {};     ///< align: the file's; statement_done: the row's intent
  std::string description = {};  ///< align: the file's
  std::string script = {};       ///< align: the file's

  friend bool operator==(const RowChange&, const RowChange&) = default;
};

/// The first seam: one session with one server. Every function throws Failure when the server or the session
/// fails.
class Database {
 public:
  virtual ~Database() = default;

  virtual const SessionFacts& facts() const = 0;

  /// The history as it is now, in rank order; empty where there is no table yet. Never writes.
  virtual std::vector<HistoryRow> history() = 0;

  /// The same with only what decides whether anything is pending: rank, version, description, kind, checksum
  /// and state. Half the time where the history is long.
  virtual std::vector<HistoryRow> history_outline() = 0;

  /// Tries to take the session advisory lock; never blocks in the server.
  virtual LockAttempt try_lock() = 0;

  /// Waits until the holder announces its release, or for `at_most`. Returns how long it waited.
  virtual Milliseconds wait_for_release(Milliseconds at_most) = 0;

  /// Releases the lock and tells the waiters.
  virtual void unlock() = 0;

  /// Does nothing for a while.
  virtual void pause(Milliseconds duration) = 0;

  /// Creates schema and table of the history where they are missing. A table of an older format is brought to
  /// today's, and the answer is the older one. Only under the lock.
  virtual std::optional<int> prepare_history() = 0;

  /// Runs one migration, or the U file that takes one back, and records it behind the fence: this backend
  /// holds the lock, and the highest rank is `expected_rank`.
  virtual AppliedStep apply(const Step& step, std::int64_t expected_rank, const StepEvents& events) = 0;

  /// Runs a callback in a transaction of its own, which no history tells of. Only under the lock.
  virtual AppliedStep run_callback(const Migration& callback, const StepEvents& events) = 0;

  /// Writes the SQL that apply would send for this step.
  virtual void preview(const Step& step, std::int64_t expected_rank, const TextSink& out) = 0;

  /// The same of run_callback.
  virtual void preview_callback(const Migration& callback, const TextSink& out) = 0;

  /// Records a baseline behind the same fence.
  virtual void record_baseline(const Version& version, std::string_view description,
                               std::int64_t expected_rank) = 0;

  /// Makes all changes or none, behind the same fence.
  virtual void repair(const std::vector<RowChange>& changes, std::int64_t expected_rank) = 0;

  /// What these schemas hold, and the history table, wherever that is. Never writes.
  virtual Inventory inventory(const std::vector<std::string>& schemas) = 0;

  /// Drops all that, or nothing, after `check` has looked at it in the same transaction. Only under the lock.
  virtual Inventory drop_contents(const std::vector<std::string>& schemas, const CheckInventory& check) = 0;
};

}  // namespace lockstep
