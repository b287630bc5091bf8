#pragma once

#include <string>

#include "core/migration.h"
#include "sql/source.h"

namespace lockstep::files {

/// Opens a migration's file once more, for running it. Throws Failure, now or while reading, when the file
/// has gone or cannot be read.
sql::ReadBytes open_script(const Migration& migration);

}  // namespace lockstep::files
