#include "core/callbacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace lockstep {
namespace {

std::span<const Migration> of_event(const std::vector<Migration>& files, std::string_view event) {
  const auto begin = std::partition_point(files.begin(), files.end(),
                                          [&](const Migration& file) { return file.name.event < event; });
  const auto end =
      std::find_if(begin, files.end(), [&](const Migration& file) { return file.name.event != event; });
  return {begin, end};
}

constexpr std::string_view supported[] = {
    "afterEachMigrate", "afterEachMigrateError", "afterEachUndo",     "afterEachUndoError",
    "afterMigrate",     "afterMigrateApplied",   "afterMigrateError", "afterUndo",
    "afterUndoError",   "beforeEachMigrate",     "beforeEachUndo",    "beforeMigrate",
    "beforeUndo",
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

NameProblem because(std::string_view event, std::string_view reason, std::string_view hint) {
  return {fmt::format("there is no {} here: {}", event, reason), std::string(hint)};
}

std::string warning_of(const Migration& callback, const Failure& failure) {
  const auto& error = failure.error();
  auto text = fmt::format("{} failed, too: {}", callback.script, error.message);
  if (error.where && error.where->line > 0) text += fmt::format(" ({})", to_string(*error.where));
  return text;
}

}  // namespace

Callbacks migrate_callbacks(const std::vector<Migration>& files) {
  return {.before = of_event(files, "beforeMigrate"),
          .before_each = of_event(files, "beforeEachMigrate"),
          .after_each = of_event(files, "afterEachMigrate"),
          .after_each_error = of_event(files, "afterEachMigrateError"),
          .after_applied = of_event(files, "afterMigrateApplied"),
          .after = of_event(files, "afterMigrate"),
          .after_error = of_event(files, "afterMigrateError")};
}

Callbacks undo_callbacks(const std::vector<Migration>& files) {
  return {.before = of_event(files, "beforeUndo"),
          .before_each = of_event(files, "beforeEachUndo"),
          .after_each = of_event(files, "afterEachUndo"),
          .after_each_error = of_event(files, "afterEachUndoError"),
          .after = of_event(files, "afterUndo"),
          .after_error = of_event(files, "afterUndoError")};
}

bool runs_within_migration(const MigrationName& callback) {
  return contains(callback.event, "Each") && !callback.event.ends_with("Error");
}

std::optional<NameProblem> refusal_of_event(std::string_view event) {
  if (std::find(std::begin(supported), std::end(supported), event) != std::end(supported))
    return std::nullopt;
  if (contains(event, "Statement")) {
    return because(event, "the statements of a file travel to the server together",
                   "Use beforeEachMigrate and afterEachMigrate, which run around the file.");
  }
  if (event.ends_with("OperationFinish")) {
    return because(event, "nothing comes behind the after and afterError callbacks",
                   "Name the file after afterMigrate or afterMigrateError.");
  }
  if (event == "beforeRepeatables" || event == "afterVersioned") {
    return because(event, "versioned and repeatable migrations are one sequence",
                   "Write a repeatable migration whose description sorts before the others.");
  }
  if (contains(event, "Validate")) {
    return because(event, "validate only reads, and migrate validates before it has the lock",
                   "Check in beforeMigrate, with RAISE EXCEPTION where something is wrong.");
  }
  if (contains(event, "Connect")) {
    return because(event, "what a session begins with is configured",
                   "Set database.role and database.search_path, or use ALTER ROLE … SET; beforeEachMigrate "
                   "runs in each migration's transaction.");
  }
  if (contains(event, "reateSchema")) {
    return because(event, "only the history's own schema is created",
                   "Write CREATE SCHEMA into a migration, or into beforeMigrate.");
  }
  if (contains(event, "Clean")) {
    return because(event, "clean reads no files, so that it works without them",
                   "Run the file with psql before or after clean.");
  }
  if (contains(event, "Deploy")) {
    return because(event, "there is no such command", "Name the file after a migrate event.");
  }
  return because(event, "the command runs no SQL of yours",
                 "Run what it does as a migration, or in a callback of migrate.");
}

bool anything_to_run(const Plan& plan, const Callbacks& callbacks) {
  return !plan.steps.empty() || (callbacks.run_always() && !plan.newer_than_files());
}

std::vector<RunElement> run_order(const Plan& plan, const Callbacks& callbacks) {
  std::vector<RunElement> order;
  const auto add = [&](std::span<const Migration> files) {
    for (const auto& callback : files) order.push_back({.migration = &callback});
  };
  add(callbacks.before);
  for (const auto& step : plan.steps) order.push_back({&step.migration, &step});
  if (!plan.steps.empty()) add(callbacks.after_applied);
  add(callbacks.after);
  return order;
}

void add_callbacks(Plan& plan, const Callbacks& callbacks) {
  for (auto& step : plan.steps) {
    step.before = callbacks.before_each;
    step.after = callbacks.after_each;
  }
}

void CallbackRunner::run(std::span<const Migration> callbacks) const {
  for (const auto& callback : callbacks) {
    const Step step{.migration = callback};
    reporter_.started(step);
    reporter_.finished(step, run_callback_with_retries(database_, step, policy_, reporter_));
  }
}

void CallbackRunner::run_after_error(std::span<const Migration> callbacks) const {
  for (const auto& callback : callbacks) {
    try {
      run({&callback, 1});
    } catch (const Failure& failure) {
      reporter_.warning(warning_of(callback, failure));
    }
  }
}

}  // namespace lockstep
