#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/next_version.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view versioned_template =
    "-- {}\n\n-- This file runs in one transaction, together with its record in the history. Write what "
    "cannot\n"
    "-- run in one (CREATE INDEX CONCURRENTLY, VACUUM) into a file of its own.\n\n";

constexpr std::string_view repeatable_template =
    "-- {}\n\n-- This file runs again whenever it changes: write what can be repeated, such as\n"
    "-- create or replace view.\n\n";

Failure no_description() {
  Error error{.kind = ErrorKind::usage, .code = "missing_argument"};
  error.message = "new needs a description";
  error.hints = {"Say in a few words what the migration does: lockstep new \"add orders\"."};
  return Failure(std::move(error));
}

}  // namespace

void run_new(Run& run, Result& result) {
  const auto& operands = run.arguments().operands;
  const auto description = operands.empty() ? std::string{} : file_description(operands.front());
  if (description.empty()) throw no_description();

  const auto& dirs = run.settings().dirs;
  const bool repeatable = run.arguments().has("--repeatable");
  // Problems of other files are for validate: they do not keep anybody from writing the next one.
  const auto version = repeatable
                           ? std::string{}
                           : next_version(run.context().load(dirs, run.settings().placeholders).migrations,
                                          run.context().now());
  const auto script =
      repeatable ? fmt::format("R__{}.sql", description) : fmt::format("V{}__{}.sql", version, description);
  const auto path = (std::filesystem::path(dirs.front()) / script).string();
  const auto text =
      fmt::format(fmt::runtime(repeatable ? repeatable_template : versioned_template), operands.front());
  run.context().write_new_file(path, text);
  result.fields = {{"path", path}, {"script", script}, {"version", text_or_null(version)}};
  result.text = path + "\n";
}

}  // namespace lockstep::cli
