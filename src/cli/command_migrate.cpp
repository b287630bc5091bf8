#include <fmt/format.h>

#include "cli/applying.h"
#include "cli/commands.h"
#include "core/migrate.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

constexpr DryRunWords dry_run_words{.would = "apply {} to", .nothing_to = "do in"};

std::string at_version(const MigrateResult& done) {
  auto newest = done.plan.newest_applied;
  for (const auto& one : done.applied) {
    const auto& version = one.migration.name.version;
    if (version && (!newest || *newest < *version)) newest = version;
  }
  return newest ? "at version " + newest->text() : std::string("without a version");
}

std::string describe_success(const MigrateResult& done, const std::string& database, Milliseconds duration) {
  const auto place = fmt::format("database {} is {}", database, at_version(done));
  if (done.skipped_busy) {
    return fmt::format("skipped: another run is migrating database {}, {} pending\n", database,
                       counted(done.plan.steps.size(), "migration"));
  }
  if (done.plan.newer_than_files()) return fmt::format("nothing to do: {}, newer than these files\n", place);
  if (done.applied.empty() && done.waited.count() > 0) {
    return fmt::format("nothing left to do after waiting {} for another run: {}\n", human(done.waited),
                       place);
  }
  if (done.applied.empty()) return fmt::format("nothing to do: {}\n", place);
  return fmt::format("applied {} in {}: {}\n", counted(done.applied.size(), "migration"), human(duration),
                     place);
}

/// Fills in what happened, also when the run did not get to its end.
void record(const MigrateResult& done, Result& result) {
  for (const auto& one : done.applied)
    result.fields["applied"].push_back(done_json(one, MigrationState::applied));
  const auto left = done.plan.steps.size() - done.applied.size();
  result.fields["skipped"] = done.skipped_busy ? left : 0;
  result.fields["pending"] = left;
  result.fields["lock"]["waited_ms"] = done.waited.count();
}

}  // namespace

void run_migrate(Run& run, Result& result) {
  const auto start = run.context().now();
  const auto duration = [&] { return std::chrono::duration_cast<Milliseconds>(run.context().now() - start); };
  result.fields["lock"] = lock_json(run.settings(), nullptr, Milliseconds{0});
  const MigrateOptions options{.plan = {.target = version_option(run.arguments(), "--target"),
                                        .out_of_order = run.settings().out_of_order},
                               .lock = run.lock_policy(),
                               .retry = {.attempts = run.settings().lock_attempts}};
  const auto local = run.load_migrations();
  const bool dry_run = run.arguments().has("--dry-run");
  const auto database = run.connect(dry_run ? Access::read : Access::write);
  const auto& facts = database->facts();
  result.fields["database"] = facts.database;
  result.fields["lock"] = lock_json(run.settings(), &facts, Milliseconds{0});
  if (dry_run) {
    const auto plan = make_plan(local.migrations, database->history(), options.plan);
    const auto callbacks = migrate_callbacks(local.callbacks);
    show_dry_run(run, plan, anything_to_run(plan, callbacks) ? callbacks : Callbacks{}, dry_run_words,
                 result);
    result.fields["duration_ms"] = duration().count();
    return;
  }

  MigrateResult done;
  try {
    migrate(*database, local, options, run.log(), done);
  } catch (const Failure& failure) {
    if (failure.error().kind == ErrorKind::lock_busy && options.lock.on_busy == OnBusy::wait) {
      done.waited = options.lock.at_most;  // that is what "not in time" means
    }
    record(done, result);
    result.fields["duration_ms"] = duration().count();
    if (!done.applied.empty()) {
      result.text = fmt::format("applied {} of {} before the error\n", done.applied.size(),
                                counted(done.plan.steps.size(), "migration"));
    }
    throw;
  }
  record(done, result);
  result.fields["duration_ms"] = duration().count();
  result.text = describe_success(done, printable_line(facts.database), duration());
}

}  // namespace lockstep::cli
