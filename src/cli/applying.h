#pragma once

#include <string_view>

#include "cli/json.h"
#include "cli/result.h"
#include "cli/run.h"
#include "core/callbacks.h"
#include "core/migrate.h"

namespace lockstep::cli {

// What migrate and undo have in common.

/// The member `lock`. `facts` is null as long as there is no session.
Json lock_json(const Settings& settings, const SessionFacts* facts, Milliseconds waited);

/// An element of `applied` or `undone`.
Json done_json(const AppliedMigration& done, MigrationState state);

/// How a dry run says what there would be to do: "apply {} to" and "do in".
struct DryRunWords {
  std::string_view would;
  std::string_view nothing_to;
};

/// Shows the steps of a plan and the callbacks around them as text and as the member `planned`. Throws
/// Failure with the plan's problems.
void show_dry_run(Run& run, const Plan& plan, const Callbacks& callbacks, const DryRunWords& words,
                  Result& result);

}  // namespace lockstep::cli
