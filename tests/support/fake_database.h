#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/database.h"
#include "core/error.h"

namespace lockstep::test {

/// Another program that holds the migration lock for a while, in the fake's own time.
struct Holding {
  std::optional<LockHolder> holder = std::nullopt;
  Milliseconds remaining{0};            ///< until it releases the lock
  std::vector<HistoryRow> leaves = {};  ///< what it has added to the history by then
};

/// The server behind every FakeDatabase: what it stores, how it is scripted, and a log of what was asked.
/// Time passes only while waiting and applying.
struct FakeServer {
  SessionFacts facts = {.server_version = 150018,
                        .database = "shop",
                        .user = "deploy",
                        .schema = "public",
                        .table = "lockstep_history",
                        .backend_pid = 4711,
                        .lock_namespace = 1280262987,
                        .lock_resource = 77};
  bool has_table = false;
  std::optional<int> older_format = std::nullopt;  ///< of its table, until that is upgraded
  std::vector<HistoryRow> rows = {};
  std::vector<SchemaObject> objects = {};  ///< besides the history table, in whatever schema
  std::vector<Dependent> dependents = {};  ///< of these, elsewhere
  std::vector<std::string> missing_schemas = {};

  std::deque<Holding> held_by_others = {};     ///< one after the other; the last one's end frees the lock
  std::map<std::string, Error> failures = {};  ///< by script: the error that the server answers with
  std::map<std::string, std::vector<Notice>> notices = {};  ///< by script
  std::set<std::string> lock_droppers = {};              ///< scripts that release every lock of their session
  std::function<void(const Step&)> while_applying = {};  ///< runs before the fence is checked
  std::function<void()> before_unlock = {};
  std::function<void()> while_pausing = {};
  Milliseconds step_duration{12};

  std::vector<std::string> callbacks_run = {};  ///< scripts whose transaction was committed
  std::vector<std::string> log = {};            ///< "history", "try_lock: busy", "apply V2__b.sql", …
  Milliseconds waited{0};                       ///< in wait_for_release
  Milliseconds passed{0};                       ///< besides, a step_duration for each migration applied
  int sessions = 0;                             ///< opened and not closed
  const Database* lock_owner = nullptr;

  std::int64_t highest_rank() const;
  /// Adds a row as a run that ended well would have left it, and the table if need be.
  void add_applied(const Migration& migration);
};

/// A session with a FakeServer. Closing it frees the lock, as the real one's end does.
class FakeDatabase : public Database {
 public:
  explicit FakeDatabase(FakeServer& server);
  ~FakeDatabase() override;
  FakeDatabase(const FakeDatabase&) = delete;
  FakeDatabase& operator=(const FakeDatabase&) = delete;

  const SessionFacts& facts() const override { return server_.facts; }
  std::vector<HistoryRow> history() override;
  std::vector<HistoryRow> history_outline() override;
  LockAttempt try_lock() override;
  Milliseconds wait_for_release(Milliseconds at_most) override;
  void unlock() override;
  void pause(Milliseconds duration) override;
  std::optional<int> prepare_history() override;
  AppliedStep apply(const Step& step, std::int64_t expected_rank, const StepEvents& events) override;
  AppliedStep run_callback(const Migration& callback, const StepEvents& events) override;
  void preview_callback(const Migration& callback, const TextSink& out) override;
  void preview(const Step& step, std::int64_t expected_rank, const TextSink& out) override;
  void record_baseline(const Version& version, std::string_view description,
                       std::int64_t expected_rank) override;
  void repair(const std::vector<RowChange>& changes, std::int64_t expected_rank) override;
  Inventory inventory(const std::vector<std::string>& schemas) override;
  Inventory drop_contents(const std::vector<std::string>& schemas, const CheckInventory& check) override;

 private:
  Inventory found() const;
  bool holds_lock() const { return server_.lock_owner == this; }
  void run_within(const Step& step, std::span<const Migration> callbacks);
  void check_lock() const;
  void check_fence(std::int64_t expected_rank) const;
  [[noreturn]] void fail(const Step& step, Error error);

  FakeServer& server_;
};

/// A migration as files would load it: "V2__orders.sql" with one statement and a made-up checksum.
Migration fake_migration(std::string_view script);

/// The history row of such a migration after it was applied.
HistoryRow fake_row(const Migration& migration, std::int64_t rank);

}  // namespace lockstep::test
