#include "sql/phrase.h"

#include <algorithm>
#include <array>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

bool is_symbol(const Token& token, char symbol) {
  return token.kind == Token::Kind::symbol && token.text.size() == 1 && token.text.front() == symbol;
}

bool is_name(const Token& token) {
  return token.kind == Token::Kind::word || token.kind == Token::Kind::quoted_name;
}

bool is_one_of(std::string_view value, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [value](auto word) { return same_word(value, word); });
}

}  // namespace

bool Phrase::is(std::string_view word) const {
  return is(Token::Kind::word) && same_word(tokens_.front().text, word);
}

bool Phrase::accept_symbol(char symbol) {
  if (at_end() || !is_symbol(tokens_.front(), symbol)) return false;
  skip();
  return true;
}

void Phrase::skip_name() {
  do {
    if (!at_end() && is_name(tokens_.front())) skip();
  } while (accept_symbol('.'));
}

Phrase Phrase::parenthesized() {
  if (at_end() || !is_symbol(tokens_.front(), '(')) return Phrase({});
  const auto depth = tokens_.front().depth;
  skip();
  const auto inside = tokens_;
  while (!at_end() && !(is_symbol(tokens_.front(), ')') && tokens_.front().depth == depth)) skip();
  const auto size = inside.size() - tokens_.size();
  skip();
  return Phrase(inside.first(size));
}

std::optional<Phrase::Option> Phrase::option() {
  if (at_end()) return std::nullopt;
  const auto depth = tokens_.front().depth;
  Option option{unquoted(text()), {}};
  skip();
  accept_symbol('=');
  if (!at_end() && !is_symbol(tokens_.front(), ',')) option.value = unquoted(text());
  while (!at_end() && !(is_symbol(tokens_.front(), ',') && tokens_.front().depth == depth)) skip();
  skip();
  return option;
}

bool Phrase::find(std::string_view word) {
  const auto before = tokens_;
  for (; !at_end(); skip()) {
    if (tokens_.front().depth > 0 || !is(word)) continue;
    skip();
    return true;
  }
  tokens_ = before;
  return false;
}

bool Phrase::ends_with(std::string_view word) const {
  return !at_end() && tokens_.back().kind == Token::Kind::word && same_word(tokens_.back().text, word);
}

std::string_view unquoted(std::string_view token) {
  const auto open = token.find_first_of("'\"");
  if (open == std::string_view::npos || open > 2 || token.size() < open + 2) return token;
  return token.substr(open + 1, token.size() - open - 2);
}

std::optional<bool> to_boolean(std::string_view value) {
  static constexpr std::array<std::string_view, 6> yes = {"", "true", "on", "yes", "1", "t"};
  static constexpr std::array<std::string_view, 6> no = {"false", "off", "no", "0", "f", "of"};
  if (is_one_of(value, yes)) return true;
  if (is_one_of(value, no)) return false;
  return std::nullopt;
}

}  // namespace lockstep::sql
