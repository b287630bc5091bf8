#pragma once

#include <string>
#include <vector>

#include "cli/context.h"

namespace lockstep::cli {

/// Runs one command line (without the program's name) and returns the exit status. The one place where
/// failures end: nothing is thrown.
int run(const Context& context, const std::vector<std::string>& arguments);

}  // namespace lockstep::cli
