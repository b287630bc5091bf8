#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/text_table.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

Color color_of(MigrationState state) {
  switch (state) {
    case MigrationState::pending:
    case MigrationState::outdated:
    case MigrationState::running:
      return Color::yellow;
    case MigrationState::changed:
    case MigrationState::missing:
    case MigrationState::failed:
    case MigrationState::out_of_order:
      return Color::red;
    case MigrationState::applied:
    case MigrationState::baseline:
      return Color::green;
    default:
      return Color::dim;
  }
}

/// "2026-01-02T03:04:05.678Z" without what people do not need.
std::string to_the_second(std::string_view time) {
  std::string text(time.substr(0, 19));
  if (text.size() > 10 && text[10] == 'T') text[10] = ' ';
  return text;
}

std::vector<Cell> row_of(const PlanEntry& entry) {
  const auto state = std::string(to_string(entry.state));
  std::vector<Cell> row{
      {entry.version()}, {entry.description()}, {entry.kind()}, {state, color_of(entry.state)}, {}, {}, {}};
  if (entry.row != nullptr) {
    const auto& row_ended = entry.row->finished_at;
    row[4].text = to_the_second(row_ended.empty() ? entry.row->started_at : row_ended);
    row[5].text = entry.row->installed_by;
    row[6].text = human(Milliseconds(entry.row->duration_ms));
  }
  return row;
}

Json json_of(const PlanEntry& entry) {
  auto json = to_json(entry);
  if (entry.has_other_values()) json["outdated_by"] = "placeholder";
  if (entry.row == nullptr) return json;
  json["rank"] = entry.row->rank;
  json["installed_by"] = entry.row->installed_by;
  json["started_at"] = text_or_null(entry.row->started_at);
  json["finished_at"] = text_or_null(entry.row->finished_at);
  json["duration_ms"] = entry.row->duration_ms;
  json["tool_version"] = entry.row->tool_version;
  return json;
}

/// A repeatable's file shows that it runs again because it was edited, but not this reason.
std::string other_values(const Plan& plan) {
  std::string text;
  for (const auto& entry : plan.entries) {
    if (!entry.has_other_values()) continue;
    text += fmt::format("{}{} runs again: a placeholder that it uses has another value\n",
                        text.empty() ? "\n" : "", printable_line(entry.script()));
  }
  return text;
}

std::string summary(const Plan& plan) {
  if (plan.newer_than_files()) return "the database is newer than these files";
  if (!plan.problems.empty()) return counted(plan.problems.size(), "problem") + "; see lockstep validate";
  return plan.steps.empty() ? "nothing is pending"
                            : fmt::format("{} pending", counted(plan.steps.size(), "migration"));
}

Error pending_error(std::size_t number) {
  Error error{.kind = ErrorKind::negative, .code = "pending"};
  error.message = fmt::format("{} {} pending", counted(number, "migration"), number == 1 ? "is" : "are");
  error.hints = {"Run lockstep migrate."};
  return error;
}

}  // namespace

void run_info(Run& run, Result& result) {
  const auto local = run.load_migrations();
  const auto database = run.connect(Access::read);
  const auto& facts = database->facts();
  const auto plan = make_plan(local.migrations, database->history(),
                              {.target = std::nullopt, .out_of_order = run.settings().out_of_order});

  TextTable table({"version", "description", "kind", "state", "applied at (UTC)", "by", "took"});
  auto migrations = Json::array();
  for (const auto& entry : plan.entries) {
    table.add(row_of(entry));
    migrations.push_back(json_of(entry));
  }
  result.fields = {{"database", facts.database},
                   {"history", {{"schema", facts.schema}, {"table", facts.table}}},
                   {"version", plan.newest_applied ? Json(plan.newest_applied->text()) : Json()},
                   {"pending", plan.steps.size()},
                   {"migrations", std::move(migrations)}};
  result.text = fmt::format("database {}, history {}.{}\n", printable_line(facts.database),
                            printable_line(facts.schema), printable_line(facts.table));
  if (!table.empty()) result.text += "\n" + table.render(run.coloring());
  result.text += other_values(plan);
  result.text += fmt::format("\n{}\n", summary(plan));
  if (!run.arguments().has("--check")) return;
  result.problems = plan.problems;
  if (result.problems.empty() && !plan.steps.empty()) {
    result.problems.push_back(pending_error(plan.steps.size()));
  }
}

}  // namespace lockstep::cli
