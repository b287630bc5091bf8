#include <fmt/format.h>

#include "cli/commands.h"
#include "core/text.h"
#include "core/validate.h"

namespace lockstep::cli {

void run_validate(Run& run, Result& result) {
  const auto local = run.load_migrations();
  const auto number = counted(local.migrations.size(), "migration");
  result.fields = {{"checked", local.migrations.size()}, {"database", nullptr}};
  if (run.arguments().has("--offline")) {
    result.text = fmt::format("{}: every file is valid\n", number);
    return;
  }
  const auto database = run.connect(Access::read);
  result.fields["database"] = database->facts().database;
  const auto plan = make_plan(local.migrations, database->history(),
                              {.target = std::nullopt, .out_of_order = run.settings().out_of_order});
  result.problems = validate(plan, run.arguments().has("--strict") ? Strictness::strict : Strictness::normal);
  if (result.problems.empty()) {
    result.text = fmt::format("{}: files and the history of database {} agree\n", number,
                              printable_line(database->facts().database));
  }
}

}  // namespace lockstep::cli
