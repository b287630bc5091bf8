#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/text_table.h"
#include "core/migrate.h"

namespace lockstep::cli {
namespace {

Json lock_json(const Settings& settings, const SessionFacts* facts, Milliseconds waited) {
  const auto resource = facts != nullptr ? std::optional(facts->lock_resource) : settings.lock_resource;
  return {{"namespace", facts != nullptr ? facts->lock_namespace : settings.lock_namespace},
          {"resource", resource ? Json(*resource) : Json()},
          {"waited_ms", waited.count()}};
}

Json applied_json(const AppliedMigration& applied) {
  auto json = to_json(applied.migration, to_string(MigrationState::applied));
  json["duration_ms"] = applied.result.duration.count();
  json["statements"] = applied.result.statements;
  return json;
}

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
  for (const auto& one : done.applied) result.fields["applied"].push_back(applied_json(one));
  const auto left = done.plan.steps.size() - done.applied.size();
  result.fields["skipped"] = done.skipped_busy ? left : 0;
  result.fields["pending"] = left;
  result.fields["lock"]["waited_ms"] = done.waited.count();
}

void show_dry_run(Run& run, const Plan& plan, const std::string& database, Result& result) {
  if (!plan.problems.empty()) throw Failure(plan.problems);
  TextTable table({"version", "description", "kind", "script"});
  auto& planned = result.fields["planned"] = Json::array();
  for (const auto& step : plan.steps) {
    const auto& migration = step.migration;
    planned.push_back(to_json(migration, to_string(MigrationState::pending)));
    table.add({{version_text(migration)},
               {migration.name.description},
               {std::string(to_string(migration.name.kind))},
               {migration.script}});
  }
  result.fields["pending"] = plan.steps.size();
  result.text = plan.steps.empty() ? fmt::format("nothing to do in database {}\n", database)
                                   : fmt::format("would apply {} to database {}:\n\n{}",
                                                 counted(plan.steps.size(), "migration"), database,
                                                 table.render(run.coloring()));
}

}  // namespace

void shape_migrate(Result& result) {
  result.fields = {
      {"applied", Json::array()}, {"skipped", 0},
      {"pending", nullptr},       {"lock", {{"namespace", nullptr}, {"resource", nullptr}, {"waited_ms", 0}}},
      {"database", nullptr},      {"duration_ms", 0}};
}

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
    show_dry_run(run, plan, facts.database, result);
    result.fields["duration_ms"] = duration().count();
    return;
  }

  MigrateResult done;
  try {
    migrate(*database, local.migrations, options, run.log(), done);
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
  result.text = describe_success(done, facts.database, duration());
}

}  // namespace lockstep::cli
