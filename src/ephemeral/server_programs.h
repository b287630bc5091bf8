#pragma once

#include <string>

namespace lockstep::ephemeral {

/// The directory with initdb and postgres: `given` (which must be right, when not empty), else what pg_config
/// says, else the newest below /usr/lib/postgresql, else one of `path` (as in PATH). Throws Failure when
/// there is none.
std::string find_server_programs(const std::string& given, const std::string& path);

}  // namespace lockstep::ephemeral
