#include "sql/position.h"

#include <algorithm>

#include "sql/substitution.h"

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

Place place_of_byte(std::string_view text, const Place& start, std::span<const Replaced> replaced,
                    std::size_t byte) {
  const auto* const value = last_before(replaced, byte);
  if (value != nullptr && byte < value->end()) return value->from;
  const std::size_t from = value == nullptr ? 0 : value->end();
  Place place = value == nullptr ? start : value->to;
  advance(place, text.substr(from, byte - from));
  return place;
}

std::vector<Replaced> values_in(std::span<const Replaced> replaced, std::size_t begin, std::size_t size) {
  std::vector<Replaced> values;
  for (auto value : replaced) {
    const auto end = value.end();
    if (end < begin || value.begin > begin + size) continue;
    value.begin = std::max(value.begin, begin) - begin;
    value.size = end - begin - value.begin;
    values.push_back(value);
  }
  return values;
}

}  // namespace lockstep::sql
