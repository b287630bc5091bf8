#pragma once

#include <string>
#include <vector>

#include "core/error.h"

namespace lockstep::files {

/// Gives the errors that are about a line of the file `path`, which they call `shown`, and have no excerpt
/// yet, that line of it, where it is short enough to be shown.
void add_excerpts(const std::string& path, const std::string& shown, std::vector<Error>& errors);

}  // namespace lockstep::files
