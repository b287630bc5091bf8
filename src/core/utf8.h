#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep {

/// One character of a text, or one byte that belongs to none.
struct Utf8Character {
  char32_t code_point = 0;
  std::size_t size = 1;  ///< in bytes
  bool valid = false;
};

/// Reads the first character of `text`, which must not be empty. Overlong forms, surrogates and code points
/// above U+10FFFF are not valid.
Utf8Character first_character(std::string_view text);

bool is_utf8(std::string_view text);

/// Columns of a terminal that a character takes: two for East Asian wide ones and emoji, none for combining
/// marks and invisible joiners, else one. Unicode 14.
std::size_t character_width(char32_t code_point);

}  // namespace lockstep
