#include "core/plan_problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace lockstep {
namespace {

Error problem(std::string code, const std::string& file, std::string message) {
  Error error{.kind = ErrorKind::files, .code = std::move(code), .message = std::move(message)};
  if (!file.empty()) error.where = SourcePosition{.file = file};
  return error;
}

/// Each file that a migration includes, once.
std::vector<std::string> included_files(const Migration& file) {
  std::vector<std::string> names;
  for (const auto& include : file.includes) {
    if (std::find(names.begin(), names.end(), include.file) == names.end()) names.push_back(include.file);
  }
  return names;
}

}  // namespace

Error checksum_changed(const Migration& file, const HistoryRow& row) {
  auto error = problem("checksum_changed", file.path, "this file was changed after it had been applied");
  error.detail = fmt::format("applied {} at {}\nfile    {}", row.checksum, row.finished_at, file.checksum);
  error.hints = {"Restore the file as it was applied, and put the change into a new migration.",
                 "If the change makes no difference to the schema, accept it with: lockstep repair"};
  if (const auto included = included_files(file); !included.empty()) {
    error.message = "this file, or one that it includes, was changed after it had been applied";
    error.hints.insert(error.hints.begin(),
                       fmt::format("The change is in this file or in: {}.", fmt::join(included, ", ")));
  }
  return error;
}

Error description_changed(const Migration& file, const HistoryRow& row) {
  auto error = problem("description_changed", file.path,
                       fmt::format("version {} was applied as \"{}\", but its file is now called \"{}\"",
                                   version_text(file), row.description, file.name.description));
  error.detail = fmt::format("applied {}\nfile    {}", row.script, file.script);
  error.hints = {fmt::format("Rename the file back to {}.", row.script),
                 "If it is the same migration, accept the new name with: lockstep repair"};
  return error;
}

Error file_missing(const HistoryRow& row) {
  const auto version = row.version ? row.version->text() : std::string{};
  auto error =
      problem("file_missing", {},
              fmt::format("version {} was applied, but its file {} is missing", version, row.script));
  error.detail = fmt::format("applied at {} by {}", row.finished_at, row.installed_by);
  error.hints = {fmt::format("Restore {}, or add the directory that holds it with --dir.", row.script),
                 "If the file is gone for good, mark it as deleted with: lockstep repair"};
  return error;
}

Error out_of_order(const Migration& file, const Version& newest_applied) {
  auto error = problem("out_of_order", file.path,
                       fmt::format("version {} was never applied, but version {} already is",
                                   version_text(file), newest_applied.text()));
  error.hints = {fmt::format("Give the file a version above {}.", newest_applied.text()),
                 "If the order makes no difference, apply it with: lockstep migrate --out-of-order"};
  return error;
}

Error no_files_for_history(std::size_t applied) {
  auto error =
      problem("no_migrations", {},
              fmt::format("no migration files were found, but the database has {} applied migration{}",
                          applied, applied == 1 ? "" : "s"));
  error.hints = {"Check the directory given with --dir or migrations.dirs: it is probably the wrong one."};
  return error;
}

}  // namespace lockstep
