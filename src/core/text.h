#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// What stands under `excerpt` before a caret at `column` (counted in characters from 1): tabs stay tabs,
/// wide characters (East Asian wide and emoji) take two blanks, combining marks none, everything else one.
std::string caret_indent(std::string_view excerpt, std::size_t column);

/// Columns that `text` takes in a terminal, with the same rules as caret_indent.
std::size_t display_width(std::string_view text);

/// `text` with every line after the first indented by `width` blanks.
std::string indent_continuation(std::string_view text, std::size_t width);

/// The candidate nearest to `word` if it is near enough to be a typing error (at most a third of its length),
/// else empty.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates);

/// `text` with control characters, also those that a terminal would obey, written as \xNN; tab and newline
/// stay.
std::string printable(std::string_view text);

/// The same for what belongs on one line, such as a name: tab and newline are written as \xNN, too.
std::string printable_line(std::string_view text);

/// Whether printable would change nothing.
bool is_printable(std::string_view text);

}  // namespace lockstep
