#include "sql/position.h"

#include <algorithm>

namespace lockstep::sql {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Bytes that the first `characters` characters take.
std::size_t bytes_of(std::string_view text, std::size_t characters) {
  std::size_t at = 0;
  for (; characters > 0 && at < text.size(); --characters) {
    ++at;
    while (at < text.size() && continues_character(text[at])) ++at;
  }
  return at;
}

}  // namespace

Place place_of_character(std::string_view text, const Place& start, std::size_t character) {
  Place place = start;
  advance(place, text.substr(0, bytes_of(text, std::max<std::size_t>(character, 1) - 1)));
  return place;
}

}  // namespace lockstep::sql
