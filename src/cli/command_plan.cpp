#include <algorithm>

#include "cli/commands.h"

namespace lockstep::cli {
namespace {

/// The fence of a step looks for the rank that the step before it has written.
std::int64_t rank_after(const Step& step, std::int64_t rank) {
  return step.resumes ? std::max(rank, step.resumes->rank) : rank + 1;
}

void print_steps(Run& run, Database& database, const Plan& plan) {
  auto rank = plan.highest_rank;
  for (const auto& step : plan.steps) {
    database.preview(step, rank, [&](std::string_view sql) { run.out().write_sql(sql); });
    rank = rank_after(step, rank);
  }
}

Json steps_json(Database& database, const Plan& plan) {
  auto rank = plan.highest_rank;
  auto steps = Json::array();
  for (const auto& step : plan.steps) {
    std::string text;
    database.preview(step, rank, [&](std::string_view sql) { text += sql; });
    auto json = to_json(step.migration, to_string(MigrationState::pending));
    json["sql"] = std::move(text);
    steps.push_back(std::move(json));
    rank = rank_after(step, rank);
  }
  return steps;
}

}  // namespace

void run_plan(Run& run, Result& result) {
  const PlanOptions options{.target = version_option(run.arguments(), "--target"),
                            .out_of_order = run.settings().out_of_order};
  const auto local = run.load_migrations();
  const auto database = run.connect(Access::read);
  const auto plan = make_plan(local.migrations, database->history(), options);
  result.fields = {{"database", database->facts().database}, {"steps", Json::array()}};
  if (!plan.problems.empty()) throw Failure(plan.problems);
  if (run.settings().output == OutputFormat::json) {
    result.fields["steps"] = steps_json(*database, plan);
  } else if (plan.steps.empty()) {
    result.text = "-- nothing is pending\n";
  } else {
    print_steps(run, *database, plan);
  }
}

}  // namespace lockstep::cli
