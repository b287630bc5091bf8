#include "core/validate.h"

#include <fmt/format.h>

#include "core/plan_problems.h"

namespace lockstep {
namespace {

Error stopped_part_way(const PlanEntry& entry) {
  Error error{.kind = ErrorKind::files, .code = "stopped_part_way"};
  error.where = SourcePosition{.file = entry.file ? entry.file->path : entry.script()};
  error.message = fmt::format("this migration stopped part-way: {} statement{} done",
                              entry.row->statements_done, entry.row->statements_done == 1 ? "" : "s");
  error.hints = {"Mend its cause and run lockstep migrate: it goes on at the statement that failed."};
  if (!entry.row->intent.empty())
    error.detail = "whether the next one was done is not known; lockstep migrate finds out, or asks";
  return error;
}

/// The lock knows which of the two it is, but validate takes no part in that.
Error still_running(const PlanEntry& entry) {
  auto error = stopped_part_way(entry);
  error.code = "running";
  error.message = fmt::format("this migration is running now, or its run has died: {} statement{} done",
                              entry.row->statements_done, entry.row->statements_done == 1 ? "" : "s");
  error.hints = {
      "Run lockstep migrate: it waits for a run that is under way, or goes on where a dead one stopped."};
  return error;
}

Error newer(const PlanEntry& entry) {
  Error error{.kind = ErrorKind::files, .code = "database_newer"};
  error.message = fmt::format("{} was applied by a later release than these files", entry.script());
  error.hints = {"Use the files of the release that migrated this database."};
  return error;
}

}  // namespace

std::vector<Error> validate(const Plan& plan, Strictness strictness) {
  auto errors = plan.problems;
  for (const auto& entry : plan.entries) {
    if (entry.state == MigrationState::failed) errors.push_back(stopped_part_way(entry));
    if (entry.state == MigrationState::running) errors.push_back(still_running(entry));
    if (strictness == Strictness::normal) continue;
    if (entry.state == MigrationState::newer) errors.push_back(newer(entry));
    const bool gone_repeatable = entry.state == MigrationState::missing && !entry.row->version;
    if (gone_repeatable) errors.push_back(file_missing(*entry.row));
  }
  return errors;
}

}  // namespace lockstep
