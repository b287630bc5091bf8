#include "sql/source.h"

#include <algorithm>
#include <cstring>

namespace lockstep::sql {
namespace {

std::size_t count_characters(std::string_view bytes) {
  std::size_t characters = 0;
  for (const char byte : bytes) characters += (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  return characters;
}

}  // namespace

ReadBytes read_from(std::string_view text, std::size_t piece) {
  return [text, piece](char* to, std::size_t at_most) mutable {
    const auto size = std::min({text.size(), piece, at_most});
    if (size > 0) std::memcpy(to, text.data(), size);
    text.remove_prefix(size);
    return size;
  };
}

void advance(Place& place, std::string_view bytes) {
  place.offset += bytes.size();
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (at < end) {
    const auto* newline = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    if (newline == nullptr) break;
    ++place.line;
    place.column = 1;
    at = newline + 1;
  }
  place.column += count_characters({at, static_cast<std::size_t>(end - at)});
}

}  // namespace lockstep::sql
