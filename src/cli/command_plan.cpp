#include <algorithm>
#include <functional>

#include "cli/commands.h"
#include "core/callbacks.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

/// The fence of a step looks for the rank that the step before it has written.
std::int64_t rank_after(const Step& step, std::int64_t rank) {
  return step.resumes ? std::max(rank, step.resumes->rank) : rank + 1;
}

using Show = std::function<void(const Migration&, const std::function<void(const TextSink&)>& preview)>;

/// All that migrate would do if nothing failed, in order.
void show_all(Database& database, const Plan& plan, const Callbacks& callbacks, const Show& show) {
  if (!anything_to_run(plan, callbacks)) return;
  auto rank = plan.highest_rank;
  for (const auto& [migration, step] : run_order(plan, callbacks)) {
    show(*migration, [&](const TextSink& out) {
      if (step == nullptr) return database.preview_callback(*migration, out);
      database.preview(*step, rank, out);
    });
    if (step != nullptr) rank = rank_after(*step, rank);
  }
}

}  // namespace

void run_plan(Run& run, Result& result) {
  const PlanOptions options{.target = version_option(run.arguments(), "--target"),
                            .out_of_order = run.settings().out_of_order};
  const auto local = run.load_migrations();
  const auto database = run.connect(Access::read);
  auto plan = make_plan(local.migrations, database->history(), options);
  result.fields = {{"database", database->facts().database}, {"steps", Json::array()}};
  if (!plan.problems.empty()) throw Failure(plan.problems);
  const auto callbacks = migrate_callbacks(local.callbacks);
  add_callbacks(plan, callbacks);
  if (run.settings().output == OutputFormat::json) {
    show_all(*database, plan, callbacks, [&](const Migration& migration, const auto& preview) {
      auto json = to_json(migration, to_string(MigrationState::pending));
      std::string text;
      preview([&](std::string_view sql) { text += sql; });
      json["sql"] = std::move(text);
      result.fields["steps"].push_back(std::move(json));
    });
    return;
  }
  if (!anything_to_run(plan, callbacks)) result.text = "-- nothing is pending\n";
  show_all(*database, plan, callbacks, [&](const Migration&, const auto& preview) {
    preview([&](std::string_view sql) {
      // A program gets the SQL as it is, a terminal what it can show.
      run.out().write_sql(run.context().out_terminal.is_terminal ? printable(sql) : std::string(sql));
    });
  });
}

}  // namespace lockstep::cli
