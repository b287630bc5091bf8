#pragma once

#include <cstddef>
#include <string_view>

namespace lockstep::sql {

/// One of the leading tokens of a statement.
struct Token {
  enum class Kind {
    word,         ///< keyword or identifier without quotes
    quoted_name,  ///< "…" or U&"…", with the quotes
    string,       ///< any kind of string constant, with prefix and quotes
    number,
    symbol,  ///< one byte of an operator or of punctuation
  };

  Kind kind;
  std::size_t depth;  ///< how many parentheses are open; the parentheses themselves are inside
  std::string_view text;
};

}  // namespace lockstep::sql
