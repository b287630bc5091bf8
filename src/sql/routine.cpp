#include "sql/routine.h"

#include <algorithm>
#include <charconv>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

constexpr std::string_view frame_start = "PL/pgSQL function ";
constexpr std::string_view inline_block = "inline_code_block";

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

bool accept_word(std::string_view& text, std::string_view word) {
  skip_blanks(text);
  const bool follows = text.size() > word.size() && same_word(text.substr(0, word.size()), word) &&
                       !continues_word(text[word.size()]);
  if (follows) text.remove_prefix(word.size());
  return follows;
}

/// One part of a name, folded or without its quotes.
std::string accept_identifier(std::string_view& text) {
  skip_blanks(text);
  std::string name;
  if (!text.starts_with('"')) {
    for (; !text.empty() && continues_word(text.front()); text.remove_prefix(1))
      name += to_lower(text.front());
    return name;
  }
  for (text.remove_prefix(1); !text.empty(); text.remove_prefix(1)) {
    if (text.starts_with("\"\"")) {
      text.remove_prefix(1);
    } else if (text.front() == '"') {
      text.remove_prefix(1);
      break;
    }
    name += text.front();
  }
  return name;
}

/// The last part of a name with its qualifiers.
std::string accept_name(std::string_view& text) {
  auto name = accept_identifier(text);
  for (skip_blanks(text); text.starts_with('.'); skip_blanks(text)) {
    text.remove_prefix(1);
    name = accept_identifier(text);
  }
  return name;
}

/// Behind the first `$tag$`, or the first quote that stands behind AS or DO; the size of the text if there is
/// neither.
std::size_t body_offset(std::string_view text) {
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1)) {
    auto end = at + 1;
    while (end < text.size() && continues_tag(text[end])) ++end;
    const bool is_tag = end < text.size() && text[end] == '$' && !is_digit(text[at + 1]);
    if (is_tag && (at == 0 || !continues_word(text[at - 1]))) return end + 1;
  }
  for (std::size_t at = text.find('\''); at != std::string_view::npos; at = text.find('\'', at + 1)) {
    auto before = text.substr(0, at);
    while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
    if (before.size() < 2) continue;
    const auto word = before.substr(before.size() - 2);
    if (same_word(word, "as") || same_word(word, "do")) return at + 1;
  }
  return text.size();
}

}  // namespace

std::vector<RoutineFrame> routine_frames(std::string_view context) {
  std::vector<RoutineFrame> frames;
  while (!context.empty()) {
    auto line = context.substr(0, context.find('\n'));
    context.remove_prefix(std::min(context.size(), line.size() + 1));
    if (!line.starts_with(frame_start)) continue;
    line.remove_prefix(frame_start.size());
    auto rest = line;
    RoutineFrame frame{accept_name(rest)};
    if (frame.name == inline_block) frame.name.clear();
    const auto at = line.find(" line ", line.size() - rest.size() - 1);
    if (at == std::string_view::npos) continue;
    line.remove_prefix(at + 6);
    std::from_chars(line.data(), line.data() + line.size(), frame.line);
    if (frame.line > 0) frames.push_back(std::move(frame));
  }
  return frames;
}

std::optional<RoutineText> routine_text(std::string_view statement, const Place& start) {
  auto rest = statement;
  RoutineText routine;
  if (!accept_word(rest, "do")) {
    if (!accept_word(rest, "create")) return std::nullopt;
    if (accept_word(rest, "or") && !accept_word(rest, "replace")) return std::nullopt;
    if (!accept_word(rest, "function") && !accept_word(rest, "procedure")) return std::nullopt;
    routine.name = accept_name(rest);
    if (routine.name.empty()) return std::nullopt;
  }
  const auto offset = body_offset(statement);
  if (offset == statement.size()) return std::nullopt;
  routine.body_offset = offset;
  routine.body = start;
  advance(routine.body, statement.substr(0, offset));
  return routine;
}

}  // namespace lockstep::sql
