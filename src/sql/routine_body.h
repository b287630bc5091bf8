#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace lockstep::sql {

/// Tells whether a semicolon stands inside a BEGIN ATOMIC … END body. psql's own rule, word for word
/// (psqlscan.l, rule "identifier"): in CREATE [OR REPLACE] {FUNCTION | PROCEDURE}, outside of parentheses,
/// BEGIN opens, END closes, and so does a CASE once something is open.
class RoutineBody {
 public:
  bool open() const { return depth_ > 0; }

  /// Every unquoted word of the statement, in order.
  void word(std::string_view text, std::size_t parentheses) {
    if (words_ < head_.size()) note_head(text);
    if (routine_ && parentheses == 0) note_block(text);
  }

  /// Starts anew, as psql does behind a semicolon. What is open stays open.
  void forget_words() {
    words_ = 0;
    head_ = {};
    routine_ = false;
  }

 private:
  void note_head(std::string_view text);
  void note_block(std::string_view text);

  std::array<char, 4> head_{};  ///< first letters of those of the first words that matter
  std::size_t words_ = 0;
  std::size_t depth_ = 0;
  bool routine_ = false;
};

}  // namespace lockstep::sql
