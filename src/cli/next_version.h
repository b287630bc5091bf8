#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "core/migration.h"

namespace lockstep::cli {

/// The version that goes on as the existing ones do: the highest number plus one, with as many digits; the
/// time in UTC (yyyymmddhhmmss) where the highest looks like one; its last part plus one where it has
/// several.
std::string next_version(const std::vector<Migration>& existing, std::chrono::system_clock::time_point now);

/// The part of a file name behind the double underscore: blanks become underscores, and so does whatever does
/// not belong into a file name. Empty when nothing is left.
std::string file_description(std::string_view description);

}  // namespace lockstep::cli
