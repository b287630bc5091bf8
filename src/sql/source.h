#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace lockstep::sql {

/// Supplies the next bytes of a file: writes at most `at_most` of them to `to` and returns how many, 0 at the
/// end. It may return fewer than asked for before the end.
using ReadBytes = std::function<std::size_t(char* to, std::size_t at_most)>;

/// Reads from memory that outlives the returned function, at most `piece` bytes at a time.
ReadBytes read_from(std::string_view text, std::size_t piece = std::string_view::npos);

/// A place in a file. `offset` counts bytes from 0. `line` and `column` count from 1; a line ends behind LF
/// (a CR before it belongs to the line), a column is one character (code point). `file` is 0 in the script
/// itself and n in the nth file that it includes.
struct Place {
  std::size_t offset = 0;
  std::size_t line = 1;
  std::size_t column = 1;
  std::size_t file = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

/// Why a file cannot be read as a script. The caller adds the file's name.
struct Problem {
  std::string code;     ///< stable, such as "unterminated_string"
  std::string message;  ///< lower case, no full stop
  std::string hint;     ///< a sentence that says what to do, or empty
  Place place;
};

/// Moves `place` over `bytes`, the bytes that follow it.
void advance(Place& place, std::string_view bytes);

}  // namespace lockstep::sql
