#pragma once

#include <cstddef>
#include <string>

#include "core/migration.h"
#include "sql/source.h"

namespace lockstep::files {

/// Opens a migration's file once more, for running it, or the `number`th of those that it includes. Throws
/// Failure, now or while reading, when the file has gone or cannot be read.
sql::ReadBytes open_script(const Migration& migration, std::size_t number = 0);

}  // namespace lockstep::files
