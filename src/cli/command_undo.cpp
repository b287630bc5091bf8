#include <fmt/format.h>

#include <algorithm>

#include "cli/applying.h"
#include "cli/commands.h"
#include "core/text.h"
#include "core/undo.h"

namespace lockstep::cli {
namespace {

constexpr DryRunWords dry_run_words{.would = "undo {} of", .nothing_to = "undo in"};

Failure not_enabled() {
  Error error{.kind = ErrorKind::config, .code = "undo_disabled"};
  error.message = "undo is not allowed here: it runs U files, which take tables and their rows away";
  error.hints = {
      "Allow it where that is meant with undo.enabled = true in lockstep.toml, or "
      "LOCKSTEP_UNDO_ENABLED=true.",
      "lockstep undo --dry-run shows what it would do."};
  return Failure(std::move(error));
}

bool was_undone(const MigrateResult& done, const HistoryRow& row) {
  const auto& steps = done.plan.steps;
  const auto end = steps.begin() + static_cast<std::ptrdiff_t>(done.applied.size());
  return std::any_of(steps.begin(), end, [&](const Step& step) { return step.undoes->rank == row.rank; });
}

/// Where the database is afterwards.
std::string at_version(const MigrateResult& done) {
  std::optional<Version> newest;
  for (const auto& row : done.plan.history) {
    if (row.counts() && row.version && !was_undone(done, row)) newest = std::max(newest, row.version);
  }
  return newest ? "at version " + newest->text() : std::string("without a version");
}

std::string describe_success(const MigrateResult& done, const std::string& database, Milliseconds duration) {
  const auto place = fmt::format("database {} is {}", database, at_version(done));
  if (done.applied.empty() && done.waited.count() > 0) {
    return fmt::format("nothing left to undo after waiting {} for another run: {}\n", human(done.waited),
                       place);
  }
  if (done.applied.empty()) return fmt::format("nothing to undo: {}\n", place);
  return fmt::format("undid {} in {}: {}\n", counted(done.applied.size(), "migration"), human(duration),
                     place);
}

/// Fills in what happened, also when the run did not get to its end.
void record(const MigrateResult& done, Milliseconds duration, Result& result) {
  for (const auto& one : done.applied)
    result.fields["undone"].push_back(done_json(one, MigrationState::undone));
  result.fields["pending"] = done.plan.steps.size() - done.applied.size();
  result.fields["lock"]["waited_ms"] = done.waited.count();
  result.fields["duration_ms"] = duration.count();
}

UndoOptions options_of(const Run& run) {
  return {.target = version_option(run.arguments(), "--target"),
          .lock = run.lock_policy(),
          .retry = {.attempts = run.settings().lock_attempts}};
}

}  // namespace

void run_undo(Run& run, Result& result) {
  const auto start = run.context().now();
  const auto duration = [&] { return std::chrono::duration_cast<Milliseconds>(run.context().now() - start); };
  result.fields["lock"] = lock_json(run.settings(), nullptr, Milliseconds{0});
  const bool dry_run = run.arguments().has("--dry-run");
  if (!dry_run && !run.settings().undo_enabled) throw not_enabled();
  const auto options = options_of(run);
  const auto local = run.load_migrations();
  const auto database = run.connect(dry_run ? Access::read : Access::write);
  const auto& facts = database->facts();
  result.fields["database"] = facts.database;
  result.fields["lock"] = lock_json(run.settings(), &facts, Milliseconds{0});
  if (dry_run) {
    const auto plan = make_undo_plan(local.migrations, database->history(), options.target);
    show_dry_run(run, plan, plan.steps.empty() ? Callbacks{} : undo_callbacks(local.callbacks), dry_run_words,
                 result);
    result.fields["duration_ms"] = duration().count();
    return;
  }

  MigrateResult done;
  try {
    undo(*database, local, options, run.log(), done);
  } catch (const Failure& failure) {
    if (failure.error().kind == ErrorKind::lock_busy && options.lock.on_busy == OnBusy::wait)
      done.waited = options.lock.at_most;  // that is what "not in time" means
    record(done, duration(), result);
    if (!done.applied.empty()) {
      result.text = fmt::format("undid {} of {} before the error\n", done.applied.size(),
                                counted(done.plan.steps.size(), "migration"));
    }
    throw;
  }
  record(done, duration(), result);
  result.text = describe_success(done, printable_line(facts.database), duration());
}

}  // namespace lockstep::cli
