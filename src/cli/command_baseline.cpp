#include <fmt/format.h>

#include "cli/commands.h"
#include "core/baseline.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

Failure no_version() {
  Error error{.kind = ErrorKind::usage, .code = "missing_option", .message = "baseline needs --version"};
  error.hints = {"Give the version that the database has already, for example --version 7."};
  return Failure(std::move(error));
}

}  // namespace

void run_baseline(Run& run, Result& result) {
  const auto version = version_option(run.arguments(), "--version");
  if (!version) throw no_version();
  const auto description = run.arguments().value("--description").value_or("baseline");
  const auto database = run.connect(Access::write);
  const auto& name = database->facts().database;
  result.fields = {{"database", name}, {"version", version->text()}, {"recorded", false}};
  const auto outcome = baseline(*database, *version, description, run.lock_policy(), run.log());
  const bool recorded = outcome == BaselineOutcome::recorded;
  result.fields["recorded"] = recorded;
  result.text = fmt::format("the history of database {} {} at version {}\n", printable_line(name),
                            recorded ? "now begins" : "already begins", version->text());
}

}  // namespace lockstep::cli
