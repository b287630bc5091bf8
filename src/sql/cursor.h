#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "sql/input.h"

namespace lockstep::sql {

/// A reading position in an Input. `at` and `end` change with every refill; offsets do not.
struct Cursor {
  static constexpr std::size_t nothing = std::numeric_limits<std::size_t>::max();

  explicit Cursor(Input& its_input) : input(its_input), at(its_input.end()), end(at) {}

  std::size_t offset() const { return input.offset_of(at); }
  std::size_t left() const { return static_cast<std::size_t>(end - at); }
  void seek(std::size_t to) { at = input.at(to); }

  /// Reads on, keeping the bytes from `keep_from` (or from `at`). False at the end of the file and when more
  /// than `limit` bytes would be kept: then `limit_met` is set.
  bool refill();
  /// Gives back the memory of what need not be kept.
  void shrink();
  /// Tries to have `bytes` bytes at hand.
  bool ensure(std::size_t bytes);
  /// The same, but does not read over the next placeholder.
  bool peek(std::size_t bytes);
  /// Tries to have the rest of the line at hand; the offset of its LF or of the end of the file.
  std::size_t line_end();

  Input& input;
  const char* at;
  const char* end;
  std::size_t keep_from = nothing;
  std::size_t limit = nothing;
  bool limit_met = false;
};

/// The long tokens. Each starts with the cursor behind the opening mark and leaves it behind the closing one.
/// False: the file ends first. The comments say so to the input (read_as), else the caller has done it.

/// '…' without backslash escapes, or "…": a doubled quote is part of it.
bool skip_quoted(Cursor& cursor, char quote);
/// '…' in which a backslash takes the next byte with it.
bool skip_escaped(Cursor& cursor);
/// $tag$…$tag$; `tag` includes the dollar signs.
bool skip_dollar_quoted(Cursor& cursor, const std::string& tag);
/// A comment in slashes and stars, with those that it contains.
bool skip_block_comment(Cursor& cursor);
/// From the dashes to the end of the line (not over it): LF or CR. The end of the file ends it too.
void skip_line_comment(Cursor& cursor);
/// From a closing quote to behind a quote that continues the same string: blanks and line comments with at
/// least one line end between. When there is none the cursor stays.
bool skip_to_continuation(Cursor& cursor);

}  // namespace lockstep::sql
