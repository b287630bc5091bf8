#include "sql/copy_data.h"

#include <algorithm>
#include <cstring>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

const char* find(const char* from, const char* end, char byte) {
  const auto* found = static_cast<const char*>(std::memchr(from, byte, static_cast<std::size_t>(end - from)));
  return found == nullptr ? end : found;
}

/// Behind the last line end in [from, end), or `from`.
const char* behind_last_line(const char* from, const char* end) {
  const auto* newline = static_cast<const char*>(memrchr(from, '\n', static_cast<std::size_t>(end - from)));
  return newline == nullptr ? from : newline + 1;
}

/// Only blanks, semicolons and comments that end on the line (and do not nest: what looks as if is refused).
bool is_gap(std::string_view line) {
  while (!line.empty()) {
    if (line.starts_with("--")) {
      line.remove_prefix(std::min(line.size(), line.find('\r')));
    } else if (line.starts_with("/*")) {
      const auto close = line.find("*/", 2);
      if (close == std::string_view::npos || line.find("/*", 2) < close) return false;
      line.remove_prefix(close + 2);
    } else if (is_blank(line.front()) || line.front() == ';') {
      line.remove_prefix(1);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string_view CopyData::next() {
  if (!started_) leave_statement_line();
  while (!ended_) {
    if (cursor_->left() == 0 && !cursor_->refill()) {
      ended_ = true;
      problem_ = Problem{"copy_without_end", "the data of this COPY has no end",
                         "End it with a line of its own that holds only a backslash and a period.", copy_};
      break;
    }
    if (line_start_ && *cursor_->at == '\\' && at_marker()) break;
    const char* to = cursor_->at;
    for (;;) {  // every line that may be the marker starts a piece of its own
      to = find(to + 1, cursor_->end, '\\');
      if (to == cursor_->end || (to[-1] == '\n' && (to + 1 == cursor_->end || to[1] == '.'))) break;
    }
    const bool marker_follows = to != cursor_->end;
    const char* const whole = marker_follows ? to : behind_last_line(cursor_->at, to);
    if (whole != cursor_->at) return hand_over(whole);
    if (cursor_->left() >= Input::first_capacity / 2 || !cursor_->refill()) return hand_over(cursor_->end);
  }
  return {};
}

/// psql reads the data from the next line on, and runs what stands behind the COPY on its line after the
/// data.
void CopyData::leave_statement_line() {
  started_ = true;
  cursor_->keep_from = Cursor::nothing;  // the statement itself is done with
  const auto from = cursor_->offset();
  const auto to = cursor_->line_end();
  if (!is_gap(cursor_->input.view(from, to))) {
    ended_ = true;
    problem_ = Problem{"text_after_copy", "nothing may follow COPY … FROM STDIN on its line",
                       "Put it on a line of its own behind the data.", copy_};
  }
  cursor_->seek(to);
  if (cursor_->left() > 0) ++cursor_->at;
  start_ = cursor_->input.place(cursor_->offset());
}

/// Steps over a line that consists of a backslash and a period.
bool CopyData::at_marker() {
  // Not a byte further than needed: what follows the marker is no data.
  if (!cursor_->ensure(2) || cursor_->at[1] != '.') return false;
  std::size_t size = 2;
  if (cursor_->ensure(size + 1) && cursor_->at[size] == '\r') ++size;
  if (cursor_->ensure(size + 1) && cursor_->at[size++] != '\n') return false;
  cursor_->at += size;
  ended_ = true;
  return true;
}

std::string_view CopyData::hand_over(const char* to) {
  const std::string_view piece(cursor_->at, static_cast<std::size_t>(to - cursor_->at));
  line_start_ = piece.ends_with('\n');
  cursor_->at = to;
  return piece;
}

}  // namespace lockstep::sql
