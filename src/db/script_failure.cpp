#include "db/script_failure.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <vector>

#include "db/interrupt.h"
#include "db/routine_place.h"

namespace lockstep::db {
namespace {

constexpr std::size_t longest_excerpt = 400;
constexpr auto lost_code = "connection_lost";

/// What the server's own hint does not say.
std::string_view recipe(std::string_view sqlstate) {
  if (sqlstate == "25001") {
    return "This statement cannot run in a transaction: put it into a file of its own that begins with: -- "
           "lockstep: transaction=off";
  }
  if (sqlstate == "2D000") {
    return "A procedure or DO block that commits needs a file that begins with: -- lockstep: transaction=off";
  }
  if (sqlstate == "55P04") {
    return "A new enum value can be used after its ALTER TYPE … ADD VALUE is committed: use it in the next "
           "migration file.";
  }
  if (sqlstate == "57014")
    return "Somebody has cancelled it, or statement_timeout has ended it: that of the role or database also "
           "counts for migrations; a file can set its own with: -- lockstep: statement_timeout=10m";
  if (sqlstate == "55P03")
    return "Something else holds a lock on this object: see who with pg_blocking_pids, and try again.";
  return {};
}

/// The server counts the lines of COPY data in its context: "COPY person, line 3, column age: …".
std::size_t copy_line(std::string_view context) {
  if (!context.starts_with("COPY ")) return 0;
  const auto at = context.find(", line ");
  return at == std::string_view::npos ? 0 : std::strtoul(context.data() + at + 7, nullptr, 10);
}

/// Reads the file again, up to a line: only an error needs it. Nothing for lines that no terminal could show.
std::string source_line(const sql::ReadBytes& read, std::size_t number) {
  std::string line;
  std::array<char, 16 * 1024> buffer;
  std::size_t current = 1;
  while (const auto count = read(buffer.data(), buffer.size())) {
    for (const char c : std::string_view(buffer.data(), count)) {
      if (current > number || line.size() > longest_excerpt)
        return line.size() > longest_excerpt ? std::string{} : line;
      if (c == '\n') ++current;
      if (current == number && c != '\n' && c != '\r') line += c;
    }
  }
  return line;
}

/// The error is the one to report, also when its line cannot be shown because the file has gone.
std::string excerpt(const Migration& migration, std::size_t file, std::size_t line, const OpenScript& open) {
  try {
    return source_line(open(migration, file), line);
  } catch (const Failure&) {
    return {};
  }
}

/// The line of a routine's body, where the server names it and the file has it.
std::optional<sql::Place> inner_place(const ServerError& error, const Migration& migration,
                                      const std::optional<sql::Place>& place, const OpenScript& open) {
  if (error.position > 0 || !place) return std::nullopt;
  try {
    return place_in_routine(error.context, migration, open, *place);
  } catch (const Failure&) {
    return std::nullopt;
  }
}

void set_place(Error& error, const Migration& migration, const sql::Place& place) {
  set_place(error, place, migration.path, migration.includes);
}

bool is_callback(const Migration& migration) {
  return migration.name.kind == MigrationKind::callback;
}

/// The command that ran the file.
std::string_view command(const Migration& migration) {
  const bool of_undo = migration.name.event.find("Undo") != std::string::npos;
  return of_undo || migration.name.kind == MigrationKind::undo ? "undo" : "migrate";
}

/// Why a file did not get to its end. Only one that is wrong has to be mended; a lost connection leaves
/// nothing to mend.
enum class Cause { file, surroundings, lost_connection };

/// The server has run out of something (disk, memory, locks), or the statement was cancelled.
bool is_of_surroundings(std::string_view sqlstate) {
  return sqlstate.starts_with("53") || sqlstate == "57014";
}

Cause cause_of(const Error& error) {
  if (error.code == lost_code) return Cause::lost_connection;
  return is_of_surroundings(error.sqlstate) ? Cause::surroundings : Cause::file;
}

std::string then_run(Cause cause, std::string_view what = "it") {
  if (cause == Cause::lost_connection) return "Run";
  return fmt::format("Mend {}, then run", cause == Cause::file ? what : "the cause");
}

std::string callback_outcome(const Migration& callback, Cause cause) {
  if (callback.name.event == "afterMigrateApplied") {
    return "What this callback did was rolled back; the migrations stay applied. It runs again only when "
           "another one is applied: run by hand what cannot wait.";
  }
  if (callback.name.event == "afterUndo") {
    return "What this callback did was rolled back; what is undone stays undone. Run it by hand: lockstep "
           "undo would take back the next version.";
  }
  return fmt::format(
      "What this callback did was rolled back; what is applied stays applied. {} lockstep {} again.",
      then_run(cause), command(callback));
}

std::string outcome(const Migration& migration, Cause cause = Cause::file) {
  if (is_callback(migration)) return callback_outcome(migration, cause);
  if (migration.transaction == TransactionMode::on) {
    return fmt::format("This file was rolled back as a whole. {} lockstep {} again.", then_run(cause),
                       command(migration));
  }
  return fmt::format(
      "What this file did before stays done. {} lockstep migrate again: it goes on from there.",
      then_run(cause, "the statement"));
}

std::string counted_statements(std::size_t number) {
  return fmt::format("{} statement{}", number, number == 1 ? "" : "s");
}

/// With exit_on_error every error ends its session (PostgreSQL docs, 19.14). The classes are those of data,
/// constraints, syntax and PL/pgSQL (Appendix A): no other end of a session has one of them.
bool is_of_statement(const ServerError& error) {
  const auto in_class = std::string_view(error.sqlstate).substr(0, 2);
  return in_class == "22" || in_class == "23" || in_class == "42" || in_class == "P0";
}

ErrorKind kind_of(const Migration& migration) {
  return migration.transaction == TransactionMode::on ? ErrorKind::migration : ErrorKind::part_way;
}

/// As repair takes it: "V7", or the file's name for a repeatable.
std::string short_name(const Migration& migration) {
  return migration.name.version ? "V" + version_text(migration) : migration.script;
}

Error about(const Migration& migration, std::string code, std::string message) {
  return {.kind = kind_of(migration),
          .code = std::move(code),
          .message = std::move(message),
          .where = SourcePosition{.file = migration.path}};
}

}  // namespace

Failure statement_failed(const Session& session, const Migration& migration, const ServerError& error,
                         const std::optional<sql::Place>& place, const sql::Place& copy_start,
                         const OpenScript& open) {
  auto result = about(migration, "statement_failed", error.message);
  if (session.lost() && !is_of_statement(error)) {
    result.code = lost_code;
    result.message = "the connection was lost while this statement ran: " + error.message;
    if (migration.transaction == TransactionMode::on) result.kind = ErrorKind::connection;
  }
  if (place) set_place(result, migration, *place);
  std::size_t file = place ? place->file : 0;
  if (const auto line = copy_line(error.context); line > 0) {
    set_place(result, migration, {.line = copy_start.line + line - 1, .column = 0, .file = copy_start.file});
    file = copy_start.file;
  }
  if (const auto inner = inner_place(error, migration, place, open)) {
    set_place(result, migration, *inner);
    file = inner->file;
  }
  result.excerpt = excerpt(migration, file, result.where->line, open);
  describe(error, result);
  if (const auto more = recipe(error.sqlstate); !more.empty()) result.hints.emplace_back(more);
  result.hints.push_back(outcome(migration, cause_of(result)));
  return Failure(std::move(result));
}

Failure within_migration(const Failure& failure, const Migration& callback, const Migration& migration) {
  auto error = failure.error();
  const auto ran = fmt::format("{} ran for {}", callback.name.event, migration.script);
  const auto cause = cause_of(error);
  const auto mend = fmt::format("{} lockstep {} again", then_run(cause, "the callback"), command(callback));
  std::erase(error.hints, outcome(callback, cause));  // of one that has a transaction of its own
  if (migration.transaction == TransactionMode::on) {
    error.hints.push_back(fmt::format("{}: both were rolled back. {}.", ran, mend));
  } else if (callback.name.event.starts_with("before")) {
    error.hints.push_back(fmt::format("{}: it was rolled back, and that has not begun. {}.", ran, mend));
  } else {
    if (error.kind == ErrorKind::migration) error.kind = ErrorKind::part_way;
    error.hints.push_back(
        fmt::format("{}, whose statements stay done. {}: it goes on with the callback.", ran, mend));
  }
  return Failure(std::move(error));
}

Failure commit_failed(const Session& session, const Migration& migration, const ServerError& error) {
  if (session.lost()) {
    auto lost = about(migration, "commit_in_doubt",
                      "the connection was lost before the server told what became of this file, so it is not "
                      "known whether it was applied");
    lost.kind = ErrorKind::connection;
    describe(error, lost);
    // Another undo without a target would take back the version below.
    if (is_callback(migration)) {
      lost.hints.emplace_back("Look whether what the callback does was done. What ran before it stays.");
      return Failure(std::move(lost));
    }
    lost.hints.emplace_back(
        migration.name.kind == MigrationKind::undo
            ? "The history knows: look at lockstep info before you run lockstep undo again."
            : "Run lockstep migrate again: it reads the history, which knows, and goes on from there.");
    return Failure(std::move(lost));
  }
  if (auto interrupt = interruption()) return *interrupt;
  auto result = about(migration, "commit_failed", "COMMIT failed: " + error.message);
  describe(error, result);
  result.hints.push_back(outcome(migration, cause_of(result)));
  return Failure(std::move(result));
}

Failure not_recorded(const Migration& migration, const ServerError& error) {
  auto result = about(migration, "not_recorded",
                      fmt::format("cannot record {} in the history: {}", migration.script, error.message));
  describe(error, result);
  if (const auto more = advice(error.sqlstate); !more.empty()) result.hints.emplace_back(more);
  result.hints.push_back(outcome(migration, Cause::surroundings));
  return Failure(std::move(result));
}

Failure progress_in_doubt(const Migration& migration) {
  auto error = about(migration, "commit_in_doubt",
                     "the connection was lost before the server told that the progress of this file is "
                     "recorded, so it is not known how far it is");
  error.kind = ErrorKind::connection;
  error.hints = {"Run lockstep migrate again: it reads the history, which knows, and goes on from there."};
  return Failure(std::move(error));
}

Failure cannot_begin(const Migration& migration) {
  auto error = about(migration, lost_code, "this file was not begun, since the connection is lost");
  error.kind = ErrorKind::connection;
  error.hints = {fmt::format("Run lockstep {} again.", command(migration))};
  return Failure(std::move(error));
}

Failure file_changed(const Migration& migration) {
  auto error = about(migration, "file_changed", "this file changed after it was checked");
  error.kind = migration.transaction == TransactionMode::on ? ErrorKind::migration : ErrorKind::files;
  error.hints = {
      is_callback(migration)
          ? outcome(migration)
          : fmt::format("Nothing of it was kept. Run lockstep {} again when nobody writes to the file.",
                        command(migration))};
  return Failure(std::move(error));
}

Failure changed_while_running(const Migration& migration) {
  auto error = about(migration, "file_changed", "this file changed while it ran");
  error.hints = {
      "What it did before stays done, and nothing of the change was run. Restore the file as it was, then "
      "run "
      "lockstep migrate again: it goes on from there."};
  return Failure(std::move(error));
}

Failure transaction_ended(const Migration& migration) {
  auto error = about(migration, "transaction_ended", "this file ended its transaction by itself");
  error.hints = {"What it did before that is not rolled back, and it is not recorded as applied.",
                 "A file that must control its transactions begins with: -- lockstep: transaction=off"};
  return Failure(std::move(error));
}

Failure transaction_left_open(const Migration& migration) {
  auto error =
      about(migration, "transaction_left_open", "this file begins a transaction and does not end it");
  error.hints = {
      "What it did since its last BEGIN is rolled back. Add the COMMIT, then run lockstep migrate again."};
  return Failure(std::move(error));
}

Failure done_part_changed(const Migration& migration, std::size_t done) {
  auto error =
      about(migration, "done_part_changed",
            fmt::format("this file stopped part-way with {} done, and it does not begin with {} any more",
                        counted_statements(done), done == 1 ? "it" : "them"));
  error.kind = ErrorKind::files;
  error.hints = {
      "Put back what is done as it ran. Only what stands behind it can be changed; the next run goes on "
      "there."};
  if (migration.placeholders != nullptr)
    error.hints.emplace_back("The values of its placeholders count, too: give them those of that run.");
  return Failure(std::move(error));
}

Failure done_outside_transaction(const Migration& migration, std::size_t done) {
  auto error =
      about(migration, "done_outside_transaction",
            fmt::format("this file stopped part-way outside a transaction with {} done, and it asks for a "
                        "transaction now",
                        counted_statements(done)));
  error.kind = ErrorKind::files;
  error.hints = {
      "Put back -- lockstep: transaction=off and what is done as it ran: the next run goes on behind it."};
  return Failure(std::move(error));
}

Failure statement_in_doubt(const Migration& migration, const sql::Place& place, std::size_t number,
                           Doubt doubt, const OpenScript& open) {
  auto error = about(migration, "statement_in_doubt",
                     fmt::format("statement {} was running when an earlier run ended, and it is "
                                 "not known whether it was done",
                                 number));
  error.kind = ErrorKind::files;
  if (doubt != Doubt::taken_out) {
    set_place(error, migration, place);
    error.excerpt = excerpt(migration, place.file, place.line, open);
  }
  if (doubt == Doubt::changed) error.detail = "the file has another statement there now";
  if (doubt == Doubt::taken_out) error.detail = "the file has no statement there any more";
  const auto which = fmt::format("{}:{}", short_name(migration), number);
  error.hints = {
      fmt::format("Look whether what it does is there. If so: lockstep repair --statement-done {}", which),
      fmt::format("If not, have it run again with: lockstep repair --statement-again {}", which)};
  return Failure(std::move(error));
}

Failure unreadable(const Migration& migration, const sql::Problem& problem) {
  auto error = about(migration, problem.code, problem.message);
  set_place(error, migration, problem.place);
  if (!problem.hint.empty()) error.hints = {problem.hint};
  return Failure(std::move(error));
}

Failure lock_lost(const Migration& migration) {
  auto error = about(migration, "lock_lost", "this session lost the migration lock while the file ran");
  error.hints = {
      "The file releases it: look for pg_advisory_unlock_all, pg_advisory_unlock or DISCARD ALL, also in "
      "functions that it calls.",
      outcome(migration)};
  return Failure(std::move(error));
}

Failure history_moved(const Migration& migration, std::int64_t expected_rank, std::int64_t actual_rank) {
  auto error =
      about(migration, "history_changed", "somebody wrote to the history without holding the migration lock");
  error.detail =
      fmt::format("the plan was made when the highest rank was {}; now it is {}", expected_rank, actual_rank);
  error.hints = {
      "Find what else writes to the history table, this file included; every lockstep run takes the lock "
      "first.",
      outcome(migration)};
  return Failure(std::move(error));
}

}  // namespace lockstep::db
