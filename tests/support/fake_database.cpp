#include "support/fake_database.h"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <variant>

namespace lockstep::test {
namespace {

Error unsafe(std::string code, std::string message) {
  return {.kind = ErrorKind::unsafe, .code = std::move(code), .message = std::move(message)};
}

Error refused_by_server(std::string sqlstate, std::string message) {
  return {.kind = ErrorKind::migration,
          .code = "sql_failed",
          .message = std::move(message),
          .sqlstate = std::move(sqlstate)};
}

HistoryRow* find_row(std::vector<HistoryRow>& rows, std::int64_t rank) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.rank == rank; });
  return found == rows.end() ? nullptr : &*found;
}

/// The unique index on the version among rows that count.
void check_unique(const std::vector<HistoryRow>& rows, const HistoryRow& added) {
  if (!added.version || !added.counts()) return;
  for (const auto& row : rows) {
    if (row.counts() && row.rank != added.rank && row.version == added.version && row.kind == added.kind) {
      throw Failure(refused_by_server("23505", "duplicate key value violates unique constraint"));
    }
  }
}

void put(std::vector<HistoryRow>& rows, HistoryRow row) {
  check_unique(rows, row);
  if (auto* const existing = find_row(rows, row.rank)) {
    *existing = std::move(row);
  } else {
    rows.push_back(std::move(row));
  }
}

void change(std::vector<HistoryRow>& rows, const RowChange& change) {
  auto* const row = find_row(rows, change.rank);
  if (row == nullptr) throw std::logic_error("repair of a row that is not there");
  switch (change.action) {
    case RowChange::Action::align:
      row->checksum = change.checksum;
      row->description = change.description;
      row->script = change.script;
      return;
    case RowChange::Action::mark_deleted:
      row->state = row_state::deleted;
      return;
    case RowChange::Action::mark_undone:
      row->state = row_state::undone;
      return;
    case RowChange::Action::statement_done:
      row->checksum = change.checksum;
      ++row->statements_done;
      row->intent.clear();
      return;
    case RowChange::Action::statement_again:
      row->intent.clear();
      return;
  }
}

}  // namespace

std::int64_t FakeServer::highest_rank() const {
  std::int64_t highest = 0;
  for (const auto& row : rows) highest = std::max(highest, row.rank);
  return highest;
}

void FakeServer::add_applied(const Migration& migration) {
  has_table = true;
  rows.push_back(fake_row(migration, highest_rank() + 1));
}

FakeDatabase::FakeDatabase(FakeServer& server) : server_(server) {
  ++server_.sessions;
}

FakeDatabase::~FakeDatabase() {
  --server_.sessions;
  if (holds_lock()) server_.lock_owner = nullptr;
}

std::vector<HistoryRow> FakeDatabase::history() {
  server_.log.emplace_back("history");
  return server_.has_table ? server_.rows : std::vector<HistoryRow>{};
}

std::vector<HistoryRow> FakeDatabase::history_outline() {
  auto rows = history();
  for (auto& row : rows) {
    row = {.rank = row.rank,
           .version = row.version,
           .description = row.description,
           .kind = row.kind,
           .checksum = row.checksum,
           .state = row.state};
  }
  return rows;
}

LockAttempt FakeDatabase::try_lock() {
  if (holds_lock())
    throw Failure(unsafe("lock_already_held", "this backend already holds the migration lock"));
  LockAttempt attempt;
  if (!server_.held_by_others.empty()) {
    attempt.holder = server_.held_by_others.front().holder;
  } else if (server_.lock_owner == nullptr) {
    attempt.acquired = true;
    server_.lock_owner = this;
  } else {
    attempt.holder.emplace().pid = server_.lock_owner->facts().backend_pid;
  }
  server_.log.emplace_back(attempt.acquired ? "try_lock: acquired" : "try_lock: busy");
  if (server_.has_table) attempt.history = server_.rows;
  return attempt;
}

Milliseconds FakeDatabase::wait_for_release(Milliseconds at_most) {
  if (server_.log.empty() || server_.log.back() != "wait") server_.log.emplace_back("wait");
  if (server_.held_by_others.empty()) {
    server_.waited += at_most;
    server_.passed += at_most;
    return at_most;
  }
  auto& holding = server_.held_by_others.front();
  const auto passed = std::min(at_most, holding.remaining);
  server_.waited += passed;
  server_.passed += passed;
  holding.remaining -= passed;
  if (holding.remaining == Milliseconds{0}) {
    if (!holding.leaves.empty()) server_.has_table = true;
    for (auto& row : holding.leaves) put(server_.rows, std::move(row));
    server_.held_by_others.pop_front();
  }
  return passed;
}

void FakeDatabase::unlock() {
  if (server_.before_unlock) server_.before_unlock();
  server_.log.emplace_back("unlock");
  check_lock();
  server_.lock_owner = nullptr;
}

void FakeDatabase::pause(Milliseconds duration) {
  server_.log.emplace_back("pause");
  server_.waited += duration;
  if (server_.while_pausing) server_.while_pausing();
}

std::optional<int> FakeDatabase::prepare_history() {
  server_.log.emplace_back("prepare_history");
  check_lock();
  server_.has_table = true;
  return std::exchange(server_.older_format, std::nullopt);
}

/// Callbacks within the transaction of a step.
void FakeDatabase::run_within(const Step& step, std::span<const Migration> callbacks) {
  for (const auto& callback : callbacks) {
    server_.log.emplace_back("  with " + callback.script);
    const auto found = server_.failures.find(callback.script);
    if (found == server_.failures.end()) continue;
    if (callback.name.event.starts_with("before")) throw Failure(found->second);
    fail(step, found->second);
  }
}

AppliedStep FakeDatabase::run_callback(const Migration& callback, const StepEvents& events) {
  server_.log.emplace_back("callback " + callback.script);
  if (const auto found = server_.notices.find(callback.script);
      found != server_.notices.end() && events.noticed) {
    for (const auto& notice : found->second) events.noticed(notice);
  }
  if (const auto found = server_.failures.find(callback.script); found != server_.failures.end())
    throw Failure(found->second);
  if (server_.lock_droppers.contains(callback.script)) server_.lock_owner = nullptr;
  check_lock();
  server_.callbacks_run.push_back(callback.script);
  server_.passed += server_.step_duration;
  return {.statements = static_cast<std::int64_t>(callback.statements), .duration = server_.step_duration};
}

AppliedStep FakeDatabase::apply(const Step& step, std::int64_t expected_rank, const StepEvents& events) {
  const auto& script = step.migration.script;
  server_.log.emplace_back("apply " + script);
  run_within(step, step.before);
  if (!server_.has_table) throw Failure(refused_by_server("42P01", "the history table does not exist"));
  if (step.migration.transaction == TransactionMode::off) check_fence(expected_rank);
  if (const auto found = server_.notices.find(script); found != server_.notices.end() && events.noticed) {
    for (const auto& notice : found->second) events.noticed(notice);
  }
  if (const auto found = server_.failures.find(script); found != server_.failures.end()) {
    fail(step, found->second);
  }
  if (server_.lock_droppers.contains(script)) server_.lock_owner = nullptr;
  if (server_.while_applying) server_.while_applying(step);
  run_within(step, step.after);
  check_fence(expected_rank);

  auto row = fake_row(step.migration, step.resumes ? step.resumes->rank : server_.highest_rank() + 1);
  row.duration_ms = server_.step_duration.count();
  if (step.undoes) {
    change(server_.rows, {.action = RowChange::Action::mark_undone, .rank = step.undoes->rank});
    row.state = row_state::undone;
  }
  const AppliedStep result{
      .rank = row.rank, .statements = row.statements_done, .duration = server_.step_duration};
  put(server_.rows, std::move(row));
  server_.passed += server_.step_duration;
  return result;
}

void FakeDatabase::preview(const Step& step, std::int64_t expected_rank, const TextSink& out) {
  server_.log.push_back("preview " + step.migration.script);
  out("begin; -- " + step.migration.script + " after rank " + std::to_string(expected_rank) + "\ncommit;\n");
}

void FakeDatabase::preview_callback(const Migration& callback, const TextSink& out) {
  server_.log.push_back("preview " + callback.script);
  out("begin; -- " + callback.script + "\ncommit;\n");
}

void FakeDatabase::record_baseline(const Version& version, std::string_view description,
                                   std::int64_t expected_rank) {
  server_.log.emplace_back("record_baseline " + version.text());
  if (!server_.has_table) throw Failure(refused_by_server("42P01", "the history table does not exist"));
  check_fence(expected_rank);
  put(server_.rows, {.rank = server_.highest_rank() + 1,
                     .version = version,
                     .description = std::string(description),
                     .kind = std::string(to_string(MigrationKind::baseline)),
                     .state = std::string(row_state::applied),
                     .installed_by = server_.facts.user});
}

void FakeDatabase::repair(const std::vector<RowChange>& changes, std::int64_t expected_rank) {
  server_.log.emplace_back("repair");
  check_fence(expected_rank);
  auto changed = server_.rows;
  for (const auto& one : changes) change(changed, one);
  server_.rows = std::move(changed);
}

Inventory FakeDatabase::found() const {
  Inventory inventory{.objects = server_.objects,
                      .dependents = server_.dependents,
                      .missing_schemas = server_.missing_schemas};
  if (server_.has_table)
    inventory.objects.push_back({.kind = "table", .name = server_.facts.schema + "." + server_.facts.table});
  std::sort(inventory.objects.begin(), inventory.objects.end(),
            [](const auto& a, const auto& b) { return std::tie(a.kind, a.name) < std::tie(b.kind, b.name); });
  return inventory;
}

Inventory FakeDatabase::inventory(const std::vector<std::string>&) {
  server_.log.emplace_back("inventory");
  return found();
}

Inventory FakeDatabase::drop_contents(const std::vector<std::string>&, const CheckInventory& check) {
  server_.log.emplace_back("drop_contents");
  check_lock();
  auto inventory = found();
  check(inventory);
  server_.objects.clear();
  server_.rows.clear();
  server_.has_table = false;
  return inventory;
}

void FakeDatabase::check_lock() const {
  if (!holds_lock()) throw Failure(unsafe("lock_lost", "this session no longer holds the migration lock"));
}

void FakeDatabase::check_fence(std::int64_t expected_rank) const {
  check_lock();
  if (server_.highest_rank() != expected_rank) {
    throw Failure(unsafe("history_changed", "another program has written to the history meanwhile"));
  }
}

/// A transactional file leaves nothing behind; any other leaves its row, from which the next run goes on.
void FakeDatabase::fail(const Step& step, Error error) {
  if (step.migration.transaction == TransactionMode::off) {
    auto row = fake_row(step.migration, step.resumes ? step.resumes->rank : server_.highest_rank() + 1);
    row.state = row_state::failed;
    row.statements_done = step.resumes ? step.resumes->statements_done : 0;
    put(server_.rows, std::move(row));
    error.kind = ErrorKind::part_way;
  }
  throw Failure(std::move(error));
}

Migration fake_migration(std::string_view script) {
  const auto parsed = parse_migration_name(script);
  const auto* const name = std::get_if<MigrationName>(&parsed);
  if (name == nullptr) throw std::logic_error("not a migration's name: " + std::string(script));
  return {.name = *name,
          .script = std::string(script),
          .path = "migrations/" + std::string(script),
          .checksum = "sha256:" + std::string(script),
          .statements = 1};
}

HistoryRow fake_row(const Migration& migration, std::int64_t rank) {
  return {.rank = rank,
          .version = migration.name.version,
          .description = migration.name.description,
          .kind = std::string(to_string(migration.name.kind)),
          .script = migration.script,
          .checksum = migration.checksum,
          .state = std::string(row_state::applied),
          .installed_by = "deploy",
          .started_at = "2026-01-02T03:04:05Z",
          .finished_at = "2026-01-02T03:04:06Z",
          .duration_ms = 12,
          .statements_done = static_cast<std::int64_t>(migration.statements),
          .tool_version = "0.1.0"};
}

}  // namespace lockstep::test
