#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sql/source.h"

namespace lockstep::sql {

/// Where a character of a statement is in the file. `text` begins at `start`; `character` counts characters
/// from 1 as the server does in its error position, a CR being one. Behind the end is the end.
Place place_of_character(std::string_view text, const Place& start, std::size_t character);

/// The line of the file on which `at` stands, as far as `text` (which begins at `start`) shows it: blanks
/// stand for what is before `start` on that line, and a long line is cut. Empty for a place too far to the
/// right to be shown.
std::string source_line(std::string_view text, const Place& start, const Place& at);

}  // namespace lockstep::sql
