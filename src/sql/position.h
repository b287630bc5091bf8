#pragma once

#include <cstddef>
#include <string_view>

#include "sql/source.h"

namespace lockstep::sql {

/// Where a character of a statement is in the file. `text` begins at `start`; `character` counts characters
/// from 1 as the server does in its error position, a CR being one. Behind the end is the end.
Place place_of_character(std::string_view text, const Place& start, std::size_t character);

}  // namespace lockstep::sql
