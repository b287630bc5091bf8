#pragma once

#include <memory>

#include "core/database.h"
#include "core/session_options.h"
#include "db/connect.h"
#include "db/script_runner.h"

namespace lockstep::db {

/// Connects, and for writing proves that the session is safe to hold the migration lock (docs/poolers.md).
/// `tell` hears what a person should know. Throws Failure.
std::unique_ptr<Database> open_session(const SessionOptions& options, const OpenScript& open_script,
                                       const Tell& tell);

}  // namespace lockstep::db
