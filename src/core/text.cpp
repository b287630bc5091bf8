#include "core/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>

#include "core/utf8.h"

namespace lockstep {
namespace {

/// Calls `use` with every character of `text` in turn.
template <typename Use>
void for_each_character(std::string_view text, Use use) {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    use(character, text.substr(0, character.size));
    text.remove_prefix(character.size);
  }
}

std::size_t width_of(const Utf8Character& character) {
  return character.valid ? character_width(character.code_point) : 1;
}

/// A terminal acts on these instead of showing them: C0, DEL, C1, and the marks that turn the direction of
/// writing.
bool is_control(char32_t c) {
  if (c == U'\t' || c == U'\n') return false;
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return true;
  return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/// ASCII from the blank to the tilde and nothing else; eight bytes at a time, without carries between them.
bool is_plain(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101U;
  constexpr std::uint64_t high_bits = 0x80 * ones;
  std::uint64_t odd = 0;
  std::uint64_t word = 0;
  for (; text.size() >= sizeof word; text.remove_prefix(sizeof word)) {
    std::memcpy(&word, text.data(), sizeof word);
    const auto low = word & ~high_bits;
    odd |= word | (low + ones) | ~(low + (0x80 - ' ') * ones);
  }
  const auto plain = [](char c) { return c >= ' ' && c <= '~'; };
  return (odd & high_bits) == 0 && std::all_of(text.begin(), text.end(), plain);
}

void append_escaped(std::string& text, std::string_view bytes) {
  for (const char byte : bytes) {
    fmt::format_to(std::back_inserter(text), "\\x{:02x}", static_cast<unsigned char>(byte));
  }
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`; case costs nothing.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      const bool swapped =
          i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string caret_indent(std::string_view excerpt, std::size_t column) {
  std::string indent;
  std::size_t current = 1;
  for_each_character(excerpt, [&](const Utf8Character& character, std::string_view bytes) {
    if (current++ >= column) return;
    if (bytes == "\t") {
      indent += '\t';
    } else {
      indent.append(width_of(character), ' ');
    }
  });
  return indent;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for_each_character(text,
                     [&](const Utf8Character& character, std::string_view) { width += width_of(character); });
  return width;
}

std::string indent_continuation(std::string_view text, std::size_t width) {
  std::string indented;
  bool line_begins = false;
  for (const char c : text) {
    if (line_begins && c != '\n') indented.append(width, ' ');
    line_begins = c == '\n';
    indented += c;
  }
  return indented;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const auto candidate : candidates) {
    const auto distance = edit_distance(word, candidate);
    if (distance >= best_distance) continue;
    best = candidate;
    best_distance = distance;
  }
  return best_distance <= word.size() / 3 ? best : std::string_view{};
}

std::string printable(std::string_view text) {
  if (is_printable(text)) return std::string(text);
  std::string shown;
  shown.reserve(text.size());
  for_each_character(text, [&](const Utf8Character& character, std::string_view bytes) {
    if (!character.valid || is_control(character.code_point)) {
      append_escaped(shown, bytes);
    } else {
      shown += bytes;
    }
  });
  return shown;
}

std::string printable_line(std::string_view text) {
  std::string line;
  for (const char c : printable(text)) {
    if (c == '\n' || c == '\t') {
      append_escaped(line, {&c, 1});
    } else {
      line += c;
    }
  }
  return line;
}

bool is_printable(std::string_view text) {
  // Every path of every file passes here, and nearly all of them are plain ASCII.
  if (is_plain(text)) return true;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const bool ascii = byte < 0x80;
    const auto character = ascii ? Utf8Character{byte, 1, true} : first_character(text);
    if (!character.valid || is_control(character.code_point)) return false;
    text.remove_prefix(character.size);
  }
  return true;
}

}  // namespace lockstep
