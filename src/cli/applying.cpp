#include "cli/applying.h"

#include <fmt/format.h>

#include "cli/text_table.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

/// "apply 3 migrations to"
std::string what_it_would_do(const Plan& plan, std::size_t callbacks, const DryRunWords& words) {
  if (plan.steps.empty()) return fmt::format("run {} in", counted(callbacks, "callback"));
  return fmt::format(fmt::runtime(words.would), counted(plan.steps.size(), "migration"));
}

}  // namespace

Json lock_json(const Settings& settings, const SessionFacts* facts, Milliseconds waited) {
  const auto resource = facts != nullptr ? std::optional(facts->lock_resource) : settings.lock_resource;
  return {{"namespace", facts != nullptr ? facts->lock_namespace : settings.lock_namespace},
          {"resource", resource ? Json(*resource) : Json()},
          {"waited_ms", waited.count()}};
}

Json done_json(const AppliedMigration& done, MigrationState state) {
  auto json = to_json(done.migration, to_string(state));
  json["duration_ms"] = done.result.duration.count();
  json["statements"] = done.result.statements;
  return json;
}

void show_dry_run(Run& run, const Plan& plan, const Callbacks& callbacks, const DryRunWords& words,
                  Result& result) {
  if (!plan.problems.empty()) throw Failure(plan.problems);
  const auto order = run_order(plan, callbacks);
  TextTable table({"version", "description", "kind", "script"});
  auto& planned = result.fields["planned"] = Json::array();
  for (const auto& element : order) {
    const auto& migration = *element.migration;
    planned.push_back(to_json(migration, to_string(MigrationState::pending)));
    table.add({{version_text(migration)},
               {migration.name.description},
               {std::string(to_string(migration.name.kind))},
               {migration.script}});
  }
  result.fields["pending"] = plan.steps.size();
  const auto database = printable_line(result.fields["database"].get<std::string>());
  result.text = order.empty() ? fmt::format("nothing to {} database {}\n", words.nothing_to, database)
                              : fmt::format("would {} database {}:\n\n{}",
                                            what_it_would_do(plan, order.size() - plan.steps.size(), words),
                                            database, table.render(run.coloring()));
}

}  // namespace lockstep::cli
