#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "sql/token.h"

namespace lockstep::sql {

/// A reader of tokens that steps forward over what it accepts. Words are given in lower case.
class Phrase {
 public:
  explicit Phrase(std::span<const Token> tokens) : tokens_(tokens) {}

  bool at_end() const { return tokens_.empty(); }
  /// The next token is this word, without quotes.
  bool is(std::string_view word) const;
  bool is(Token::Kind kind) const { return !at_end() && tokens_.front().kind == kind; }
  /// Steps over the words if all of them follow.
  template <class... Words>
  bool accept(std::string_view word, Words... more) {
    const auto before = tokens_;
    if (is(word)) {
      skip();
      if constexpr (sizeof...(more) == 0) {
        return true;
      } else if (accept(more...)) {
        return true;
      }
    }
    tokens_ = before;
    return false;
  }
  bool accept_symbol(char symbol);
  void skip() { tokens_ = tokens_.subspan(at_end() ? 0 : 1); }
  /// Steps over a name with its qualifiers: a."B".c
  void skip_name();
  /// Steps over a group in parentheses, if one follows, and returns what is inside.
  Phrase parenthesized();
  /// Steps over one `name [=] value` of a list and the comma behind it.
  struct Option {
    std::string_view name;
    std::string_view value;  ///< without quotes; empty when there is none
  };
  std::optional<Option> option();
  /// The word stands anywhere ahead outside of parentheses; the phrase then stands behind it.
  bool find(std::string_view word);
  std::string_view text() const { return at_end() ? std::string_view() : tokens_.front().text; }
  /// The last token is this word.
  bool ends_with(std::string_view word) const;

 private:
  std::span<const Token> tokens_;
};

/// A constant or a quoted name without its quotes; anything else as it is. Escapes stay.
std::string_view unquoted(std::string_view token);

/// What PostgreSQL's options take for a Boolean (defGetBoolean): empty is true. Absent: not a Boolean.
std::optional<bool> to_boolean(std::string_view value);

}  // namespace lockstep::sql
