#include "db/postgres.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <pqxx/pqxx>
#include <span>
#include <utility>

#include "db/advisory_lock.h"
#include "db/greeting.h"
#include "db/history_table.h"
#include "db/journaled_runner.h"
#include "db/listening.h"
#include "db/observer.h"
#include "db/pooler_probe.h"
#include "db/preview.h"
#include "db/recorder.h"
#include "db/schema_contents.h"
#include "db/script_failure.h"
#include "db/script_runner.h"
#include "db/session_state.h"

namespace lockstep::db {
namespace {

using Clock = std::chrono::steady_clock;

/// The newest major version that lockstep was tested with.
constexpr int newest_known = 18;

constexpr std::string_view no_such_table = "42P01";
constexpr std::string_view no_such_column = "42703";

/// Nothing is wrong with the table or the role when a lock or somebody else ended the statement.
ErrorKind kind_of_unreadable(const ServerError& error) {
  const bool will_pass = error.sqlstate == "57014" || error.sqlstate == "55P03" || error.sqlstate == "40P01";
  return will_pass ? ErrorKind::connection : ErrorKind::config;
}

class Postgres : public Database {
 public:
  Postgres(const SessionOptions& options, const OpenScript& open_script, const Tell& tell)
      : options_(options),
        open_script_(open_script),
        session_(connect(options, tell)),
        greeting_(greet(session_, options)),
        observer_(session_.raw(), greeting_.facts.backend_pid, options_),
        state_(options, greeting_),
        lock_(greeting_.facts.lock_namespace, greeting_.facts.lock_resource),
        history_(greeting_.facts.schema, greeting_.facts.table, lock_,
                 {options.run_id, greeting_.facts.user, options.tool_version}),
        recorder_(session_, state_, history_) {
    if (options.access == Access::write) refuse_unsafe_pooler(tell);
    if (const int major = greeting_.facts.server_version / 10000; major > newest_known) {
      tell(fmt::format("PostgreSQL {} is newer than {}, the newest that this lockstep knows", major,
                       newest_known));
    }
  }

  ~Postgres() override {
    // A notification on its way to a session that leaves would be an error in the server's log: it cannot be
    // sent.
    if (listening_ && !session_.lost()) PQclear(PQexec(session_.raw(), "unlisten *"));
  }
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  const SessionFacts& facts() const override { return greeting_.facts; }

  std::vector<HistoryRow> history() override { return read_history(history_.select_query(greeting_.format)); }

  std::vector<HistoryRow> history_outline() override { return read_history(history_.outline_query()); }

  LockAttempt try_lock() override {
    const bool known = greeting_.history == Presence::present;
    const auto format = greeting_.format;
    auto answer = prepared_pipeline({lock_.try_query(), lock_.holder_query(),
                                     known ? history_.is_current_query() : history_.exists_query(),
                                     known ? history_.select_query(format) : Query{"select 1"}});
    const auto missing = [&](std::string_view what) {
      return answer.error && answer.error->sqlstate == what;
    };
    if (answer.error && !missing(no_such_table) && !missing(no_such_column)) throw cannot_lock(*answer.error);
    const auto first = answer.results.size() - (answer.error ? 3 : 4);
    LockAttempt attempt{.acquired = lock_.acquired(answer.results[first].get()),
                        .holder = lock_.holder(answer.results[first + 1].get())};
    if (history_is_gone(answer)) {
      // What the try took outlasts the error.
      if (attempt.acquired) lock_.unlock(session_);
      return try_lock();
    }
    const auto* place = answer.results[first + 2].get();
    if (!known) {
      greeting_.schema = bool_at(place, 0, 0) ? Presence::present : Presence::missing;
      greeting_.history = bool_at(place, 0, 1) ? Presence::present : Presence::missing;
    }
    learn_format(known && bool_at(place, 0, 0), attempt.acquired);
    if (answer.error) throw cannot_lock(*answer.error);
    const bool read = known && format == greeting_.format;
    attempt.history = read ? HistoryTable::rows(answer.results[first + 3].get()) : history();
    return attempt;
  }

  Milliseconds wait_for_release(Milliseconds at_most) override {
    const auto begin = Clock::now();
    if (!listening_) listen();
    session_.wait_for_notification(lock_.channel(), at_most);
    return std::chrono::duration_cast<Milliseconds>(Clock::now() - begin);
  }

  void pause(Milliseconds duration) override { db::pause(duration); }

  void unlock() override { lock_.unlock(session_); }

  std::optional<int> prepare_history() override {
    if (greeting_.history == Presence::missing || greeting_.format != history_format)
      used_ = true;  // an event trigger may change the session
    if (greeting_.history == Presence::missing) {
      create_history();
      return std::nullopt;
    }
    const auto format = greeting_.format;
    if (format == history_format) return std::nullopt;
    upgrade_history(session_, facts(), format, options_.lock_timeout);
    greeting_.format = history_format;
    return format;
  }

  AppliedStep apply(const Step& step, std::int64_t expected_rank, const StepEvents& events) override {
    return watched(step.migration, events, [&] {
      return step.migration.transaction == TransactionMode::on ? apply_whole(step, expected_rank)
                                                               : apply_one_by_one(step, expected_rank);
    });
  }

  AppliedStep run_callback(const Migration& callback, const StepEvents& events) override {
    return watched(callback, events, [&] {
      return AppliedStep{.statements =
                             run_whole(callback, {&callback}, reset_if_used(), {lock_.required_query()}, 0)};
    });
  }

  void preview(const Step& step, std::int64_t expected_rank, const TextSink& out) override {
    write_preview(step, state_, history_, expected_rank, open_script_, out);
  }

  void preview_callback(const Migration& callback, const TextSink& out) override {
    write_callback_preview(callback, state_, history_, lock_, open_script_, out);
  }

  void record_baseline(const Version& version, std::string_view description,
                       std::int64_t expected_rank) override {
    recorder_.write_all({history_.insert_baseline_query(version, description, expected_rank)}, expected_rank);
  }

  void repair(const std::vector<RowChange>& changes, std::int64_t expected_rank) override {
    std::vector<Query> queries;
    for (const auto& change : changes) queries.push_back(history_.change_query(change, expected_rank));
    recorder_.write_all(std::move(queries), expected_rank);
  }

  Inventory inventory(const std::vector<std::string>& schemas) override {
    return SchemaContents(session_, facts(), schemas).read();
  }

  Inventory drop_contents(const std::vector<std::string>& schemas, const CheckInventory& check) override {
    auto dropped = SchemaContents(session_, facts(), schemas).drop(options_.lock_timeout, check);
    greeting_.history = Presence::missing;
    return dropped;
  }

 private:
  std::vector<HistoryRow> read_history(const Query& select) {
    if (greeting_.history == Presence::missing) return {};
    const auto answer = session_.pipeline({state_.borrow_query(), select}, Grouping::all_together);
    if (history_is_gone(answer)) return {};
    if (answer.error)
      throw failed(session_, kind_of_unreadable(*answer.error), "history_unreadable",
                   "cannot read the history table", *answer.error);
    return HistoryTable::rows(answer.results.back().get());
  }

  void create_history() {
    const auto answer = session_.pipeline(history_.create_queries(greeting_.schema), Grouping::all_together);
    if (answer.error) {
      if (session_.lost_silently(*answer.error)) throw change_in_doubt();
      throw failed(session_, ErrorKind::migration, "history_not_created",
                   fmt::format("cannot create the history table {}.{}", facts().schema, facts().table),
                   *answer.error);
    }
    greeting_.history = Presence::present;
    greeting_.format = history_format;
  }

  /// Another run may have made or upgraded the history since this session last looked.
  void learn_format(bool is_current, bool locked) {
    if (greeting_.history == Presence::missing) return;
    greeting_.format = is_current ? history_format : read_format(session_, facts());
    if (greeting_.format <= history_format) return;
    if (locked) lock_.unlock(session_);
    throw newer_history(session_, facts(), greeting_.format, options_.tool_version);
  }

  Failure cannot_lock(const ServerError& error) const {
    return failed(session_, ErrorKind::connection, "lock_failed", "cannot take the migration lock", error);
  }

  /// What `work` did, with the time it took. Nothing stays of what it did not commit.
  template <typename Work>
  AppliedStep watched(const Migration& migration, const StepEvents& events, const Work& work) {
    if (session_.lost()) throw cannot_begin(migration);
    const Listening listening(session_, observer_, events, state_.lock_timeout(migration));
    try {
      const auto begin = Clock::now();
      AppliedStep applied = work();
      applied.duration = std::chrono::duration_cast<Milliseconds>(Clock::now() - begin);
      return applied;
    } catch (...) {
      session_.roll_back();
      throw;
    }
  }

  /// Another run may have dropped the history since this session learned of it.
  bool history_is_gone(const Answer& answer) {
    if (!answer.error || answer.error->sqlstate != no_such_table) return false;
    greeting_.history = Presence::missing;
    prepared_ = false;  // the settings went with the error
    return true;
  }

  void refuse_unsafe_pooler(const Tell& tell) {
    if (greeting_.path == Path::direct) return;
    if (options_.pooler == PoolerPolicy::assume_session) {
      return tell(
          "no proof of a direct connection: --pooler=assume-session states that a connection pooler in the "
          "path is in session mode");
    }
    const auto verdict = options_.pooler == PoolerPolicy::refuse
                             ? Verdict{PoolMode::undecidable, {}}
                             : probe_pooler(session_, options_, greeting_.backend);
    if (verdict.mode != PoolMode::session)
      throw pooler_refusal(session_.raw(), options_.pooler, verdict, greeting_.backend);
    tell(fmt::format(
        "no proof of a direct connection; a connection pooler in the path would be in session mode: {}",
        verdict.evidence));
  }

  /// One round trip; the first one also gives the session its settings.
  Answer prepared_pipeline(std::vector<Query> queries) {
    // Together they leave in one packet. Each still sees what was committed before it, unless the role's
    // isolation level is another one and not changed yet: the history must be read with a snapshot that is
    // taken behind the lock.
    const bool own_snapshots = prepared_ || greeting_.isolation == "read committed";
    if (!prepared_) queries.insert(queries.begin(), state_.prepare_query());
    prepared_ = true;
    return session_.pipeline(queries, own_snapshots ? Grouping::all_together : Grouping::each_alone);
  }

  void listen() {
    session_.typed("listen for the release of the migration lock", [&](pqxx::nontransaction& transaction) {
      transaction.exec("listen " + lock_.channel()).no_rows();
    });
    listening_ = true;
  }

  /// The session as a script must find it, at no cost before the first one.
  std::vector<std::string> reset_if_used() {
    if (!std::exchange(used_, true)) return {};
    // The server reads a whole message in the encoding of its beginning.
    if (!session_.speaks_utf8()) session_.simple("set client_encoding = 'UTF8'");
    return state_.reset_statements(defaults_);
  }

  AppliedStep apply_whole(const Step& step, std::int64_t expected_rank) {
    const auto before = progress_before(step);
    if (before.statements > 0 || !before.intent.empty())
      throw done_outside_transaction(step.migration, before.statements);
    const auto records =
        step.resumes
            ? std::vector{history_.progress_query(step.resumes->rank, step.migration, row_state::applied,
                                                  {.statements = step.migration.statements})}
            : history_.record_queries(step, expected_rank);
    const auto statements =
        run_whole(step.migration, scripts_of(step), reset_if_used(), records, expected_rank);
    return {.rank = step.resumes ? step.resumes->rank : expected_rank + 1, .statements = statements};
  }

  /// Runs these files and writes the records in one transaction. Returns how many statements of the migration
  /// it sent.
  std::int64_t run_whole(const Migration& migration, const Scripts& scripts, std::vector<std::string> reset,
                         const std::vector<Query>& records, std::int64_t expected_rank) {
    // Callbacks around a file without a transaction have one of their own.
    const auto& leader = migration.transaction == TransactionMode::on ? migration : *scripts.front();
    ScriptRunner runner(session_, open_script_, migration);
    const auto error = runner.run({.before = std::move(reset),
                                   .begin = state_.begin_statement(leader),
                                   .after_begin = state_.timeout_statements(leader),
                                   .closing = closing_statements(state_, records)},
                                  scripts);
    if (error && migration.transaction == TransactionMode::off && session_.lost_silently(error->error))
      throw progress_in_doubt(migration);
    if (error) throw recorder_.not_closed(leader, expected_rank, *error);
    if (runner.may_change_defaults()) defaults_ = Defaults::read_again;
    return static_cast<std::int64_t>(runner.statements());
  }

  AppliedStep apply_one_by_one(const Step& step, std::int64_t expected_rank) {
    const auto& migration = step.migration;
    for (const auto& statement : reset_if_used()) session_.simple(statement);
    for (const auto& statement : state_.timeout_statements(migration)) session_.simple(statement);
    const auto before = progress_before(step);
    const auto begun =
        step.resumes ? history_.progress_query(step.resumes->rank, migration, row_state::running, before)
                     : history_.insert_query(migration, row_state::running, expected_rank);
    const auto rank = step.resumes ? step.resumes->rank : expected_rank + 1;
    write_with(step.before, migration, begun, expected_rank);

    const auto query = [&](std::string_view state, const Progress& now) {
      return history_.progress_query(rank, migration, state, now);
    };
    const auto note = [&](std::string_view state, const Progress& now) {
      const Unhurried unhurried;
      recorder_.write(migration, query(state, now), expected_rank);
    };
    const auto note_running = [&](const Progress& now) { note(row_state::running, now); };
    const auto commit = [&](const Progress& now) {
      const Unhurried unhurried;
      return recorder_.commit(migration, query(row_state::running, now), expected_rank);
    };
    JournaledRunner runner(session_, open_script_, migration, {note_running, commit});
    try {
      runner.run(before, state_.begin_statement());
      if (!step.after.empty())
        write_with(step.after, migration, query(row_state::applied, runner.progress()), expected_rank);
    } catch (const Failure&) {
      note_failure([&] { note(row_state::failed, runner.progress()); });
      throw;
    }
    if (runner.may_change_defaults()) defaults_ = Defaults::read_again;
    if (step.after.empty()) note(row_state::applied, runner.progress());
    return {.rank = rank,
            .statements = static_cast<std::int64_t>(runner.progress().statements - before.statements)};
  }

  /// Writes the row of a file without a transaction, in one transaction with its callbacks.
  void write_with(std::span<const Migration> callbacks, const Migration& migration, const Query& row,
                  std::int64_t expected_rank) {
    if (callbacks.empty()) {
      recorder_.write(migration, row, expected_rank);
    } else {
      run_whole(migration, scripts_of(callbacks), {}, {row}, expected_rank);
    }
  }

  /// The first error is the one to report, whatever comes of writing it down.
  template <typename Note>
  void note_failure(const Note& note) noexcept {
    try {
      if (session_.lost()) return;
      session_.roll_back();
      note();
    } catch (const Failure&) {
      return;
    }
  }

  const SessionOptions options_;
  const OpenScript open_script_;
  Session session_;
  Greeting greeting_;
  Observer observer_;
  SessionState state_;
  AdvisoryLock lock_;
  HistoryTable history_;
  Recorder recorder_;
  bool prepared_ = false;
  bool listening_ = false;
  bool used_ = false;
  Defaults defaults_ = Defaults::unchanged;
};

}  // namespace

std::unique_ptr<Database> open_session(const SessionOptions& options, const OpenScript& open_script,
                                       const Tell& tell) {
  return std::make_unique<Postgres>(options, open_script, tell);
}

}  // namespace lockstep::db
