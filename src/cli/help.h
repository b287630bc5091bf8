#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"

namespace lockstep::cli {

/// `lockstep --help`: what it is for, the commands, the global options.
std::string general_help();

/// `lockstep COMMAND --help`.
std::string command_help(const CommandSpec& command);

/// `lockstep --version`.
std::string version_text(std::string_view libpq_version);

}  // namespace lockstep::cli
