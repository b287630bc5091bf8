#pragma once

#include "cli/result.h"
#include "cli/run.h"

namespace lockstep::cli {

/// One function a command, each in the file of its name.
void run_migrate(Run& run, Result& result);
void run_undo(Run& run, Result& result);
void run_clean(Run& run, Result& result);
void run_info(Run& run, Result& result);
void run_validate(Run& run, Result& result);
void run_plan(Run& run, Result& result);
void run_baseline(Run& run, Result& result);
void run_repair(Run& run, Result& result);
void run_new(Run& run, Result& result);
void run_config(Run& run, Result& result);
void run_ephemeral(Run& run, Result& result);
void run_completion(Run& run, Result& result);
void run_version(Run& run, Result& result);
void run_help(Run& run, Result& result);

}  // namespace lockstep::cli
