#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

using Milliseconds = std::chrono::milliseconds;

/// Reads "250ms", "5s", "10m", "2h", "1m30s" and "0". A number without a unit is not a duration, except 0.
std::optional<Milliseconds> parse_duration(std::string_view text);

/// The shortest spelling that parse_duration reads back: "5s", "1m30s", "250ms".
std::string to_string(Milliseconds duration);

/// For people: "12 ms", "1.4 s", "3 m 05 s".
std::string human(Milliseconds duration);

}  // namespace lockstep
