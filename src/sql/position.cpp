#include "sql/position.h"

#include <algorithm>

namespace lockstep::sql {
namespace {

constexpr std::size_t shown_columns = 400;
constexpr std::size_t shown_behind = 100;

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

std::string source_line(std::string_view text, const Place& start, const Place& at) {
  if (at.column > shown_columns) return {};
  const auto offset = std::min(at.offset - start.offset, text.size());
  const auto before = text.substr(0, offset).rfind('\n');
  const bool first_line = before == std::string_view::npos;
  auto line = text.substr(first_line ? 0 : before + 1);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string unknown(first_line ? start.column - 1 : 0, ' ');
  const auto shown = at.column - unknown.size() + shown_behind;
  return unknown + std::string(line.substr(0, bytes_of(line, shown)));
}

}  // namespace lockstep::sql
