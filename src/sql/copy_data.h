#pragma once

#include <optional>
#include <string_view>

#include "sql/cursor.h"
#include "sql/source.h"

namespace lockstep::sql {

/// The data behind a COPY … FROM STDIN, up to its `\.` line. As psql does, it ends nowhere else: not inside
/// quotes of CSV either.
class CopyData {
 public:
  /// The cursor stands behind the statement; `copy` is the statement's place.
  CopyData(Cursor& cursor, const Place& copy) : cursor_(&cursor), copy_(copy) {}

  /// The next piece: whole lines, or a part of a very long one. Empty at the end, and when there is a
  /// problem. Valid until the cursor moves.
  std::string_view next();
  /// Where the data begins, known after the first `next`.
  const Place& start() const { return start_; }
  const std::optional<Problem>& problem() const { return problem_; }
  bool ended() const { return ended_; }

 private:
  void leave_statement_line();
  bool at_marker();
  std::string_view hand_over(const char* to);

  Cursor* cursor_;
  Place copy_;
  Place start_;
  std::optional<Problem> problem_;
  bool started_ = false;
  bool line_start_ = true;
  bool ended_ = false;
};

}  // namespace lockstep::sql
