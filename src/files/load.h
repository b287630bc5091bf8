#pragma once

#include <string>
#include <vector>

#include "core/migration.h"
#include "sql/placeholders.h"

namespace lockstep::files {

/// Finds and reads every migration of every location. All problems are in the result, in the order of their
/// paths; migrations are sorted by kind, version and description, callbacks by event and description. The
/// placeholders must outlive them. Throws nothing that files are to blame for.
LocalMigrations load_migrations(const std::vector<std::string>& locations,
                                const sql::Placeholders& placeholders = {});

}  // namespace lockstep::files
