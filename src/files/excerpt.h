#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace lockstep::files {

/// Gives the errors that have a line in the file `path`, and no excerpt yet, that line of it, where it is
/// short enough to be shown.
void add_excerpts(const std::string& path, std::vector<Error>& errors);

}  // namespace lockstep::files
