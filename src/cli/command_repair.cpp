#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "cli/commands.h"
#include "cli/text_table.h"
#include "core/repair.h"

namespace lockstep::cli {
namespace {

std::string_view action_name(const RowChange& change) {
  switch (change.action) {
    case RowChange::Action::align:
      return "align";
    case RowChange::Action::mark_deleted:
      return "mark_deleted";
    case RowChange::Action::mark_undone:
      return "mark_undone";
    case RowChange::Action::statement_done:
      return "statement_done";
    case RowChange::Action::statement_again:
      return "statement_again";
  }
  return "";
}

const HistoryRow& row_of(const Plan& plan, const RowChange& change) {
  return *std::find_if(plan.history.begin(), plan.history.end(),
                       [&](const auto& row) { return row.rank == change.rank; });
}

std::string explained(const HistoryRow& row, const RowChange& change) {
  if (change.action == RowChange::Action::mark_deleted) return "mark as deleted: its file is gone";
  if (change.action == RowChange::Action::statement_done)
    return fmt::format("go on behind statement {}", row.statements_done + 1);
  if (change.action == RowChange::Action::statement_again)
    return fmt::format("go on with statement {}", row.statements_done + 1);
  if (row.script != change.script) return fmt::format("take name and checksum of {}", change.script);
  return row.checksum == change.checksum ? "take the description of its file"
                                         : "take the checksum of its file";
}

Json json_of(const HistoryRow& row, const RowChange& change) {
  return {{"rank", change.rank},
          {"version", row.version ? Json(row.version->text()) : Json()},
          {"description", row.description},
          {"script", row.script},
          {"action", action_name(change)},
          {"checksum", text_or_null(change.checksum)}};
}

std::string shown(const Plan& plan, const std::vector<RowChange>& changes, Coloring coloring) {
  TextTable table({"rank", "version", "script", "change"});
  for (const auto& change : changes) {
    const auto& row = row_of(plan, change);
    table.add({{std::to_string(row.rank)},
               {row.version ? row.version->text() : std::string{}},
               {row.script},
               {explained(row, change)}});
  }
  return table.render(coloring);
}

Failure needs_yes() {
  Error error{.kind = ErrorKind::usage, .code = "confirmation_needed"};
  error.message = "repair asks before it changes the history, and nobody can answer here";
  error.hints = {"Look at the plan above, then run it again with --yes."};
  return Failure(std::move(error));
}

Failure declined() {
  return Failure(Error{.kind = ErrorKind::negative, .code = "declined", .message = "nothing was changed"});
}

void ask(Run& run, std::size_t number) {
  const auto& context = run.context();
  if (!context.in_is_terminal) throw needs_yes();
  run.log().settle();
  context.err << fmt::format("Change {} of the history? [y/N] ", counted(number, "row")) << std::flush;
  const auto answer = context.read_answer().value_or("");
  if (answer != "y" && answer != "Y" && answer != "yes") throw declined();
}

std::vector<StatementAnswer> answers_of(const Arguments& arguments) {
  std::vector<StatementAnswer> answers;
  if (const auto text = arguments.value("--statement-done"))
    answers.push_back(parse_answer(StatementAnswer::Fate::done, *text));
  if (const auto text = arguments.value("--statement-again"))
    answers.push_back(parse_answer(StatementAnswer::Fate::again, *text));
  return answers;
}

}  // namespace

void run_repair(Run& run, Result& result) {
  const auto answers = answers_of(run.arguments());
  const auto local = run.load_migrations();
  const auto database = run.connect(Access::write);
  const auto plan = make_plan(local.migrations, database->history(), {});
  const auto changes = repair_changes(plan, answers);
  result.fields = {{"database", database->facts().database}, {"repaired", false}, {"changes", Json::array()}};
  for (const auto& change : changes) {
    result.fields["changes"].push_back(json_of(row_of(plan, change), change));
  }
  if (changes.empty()) {
    result.text = "nothing to repair\n";
    return;
  }
  if (run.settings().output == OutputFormat::text)
    run.out().write(shown(plan, changes, run.coloring()) + "\n");
  if (!run.arguments().has("--yes")) ask(run, changes.size());
  repair(*database, local.migrations, answers, changes, run.lock_policy(), run.log());
  result.fields["repaired"] = true;
  result.text = fmt::format("changed {} of the history\n", counted(changes.size(), "row"));
}

}  // namespace lockstep::cli
