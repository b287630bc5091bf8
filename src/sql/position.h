#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "sql/placeholders.h"
#include "sql/source.h"

namespace lockstep::sql {

/// Where a character of a statement is in the file. `text` begins at `start`; `character` counts characters
/// from 1 as the server does in its error position, a CR being one. Behind the end is the end.
Place place_of_character(std::string_view text, const Place& start, std::size_t character);

/// Where a byte of a statement is in the file as it is written. `replaced` are the values in the statement,
/// counted from its first byte, at which `start` is. Within a value it is where the placeholder begins.
Place place_of_byte(std::string_view text, const Place& start, std::span<const Replaced> replaced,
                    std::size_t byte);

/// The values that a text of `size` bytes has a part of, counted from its first byte. In `replaced` that one
/// is `begin`.
std::vector<Replaced> values_in(std::span<const Replaced> replaced, std::size_t begin, std::size_t size);

}  // namespace lockstep::sql
