#include "sql/cursor.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

/// The first `byte` in [from, end), or `end`. Most strings are short: memchr costs more than looking at a few
/// bytes.
const char* find(const char* from, const char* end, char byte) {
  const char* const near = end - from > 16 ? from + 16 : end;
  for (; from < near; ++from) {
    if (*from == byte) return from;
  }
  const auto* found = static_cast<const char*>(std::memchr(from, byte, static_cast<std::size_t>(end - from)));
  return found == nullptr ? end : found;
}

/// Behind a quote no other one can follow: the file ends, or an escape comes.
bool is_quote_final(Cursor& cursor) {
  return cursor.left() == 0 && (cursor.input.at_escape() || !cursor.ensure(1));
}

}  // namespace

bool Cursor::refill() {
  const auto here = offset();
  const auto from = std::min(keep_from, here);
  limit_met = limit_met || here - from > limit;
  if (limit_met) return false;
  const bool got = input.more(from);
  at = input.at(here);
  end = input.end();
  return got;
}

void Cursor::shrink() {
  const auto here = offset();
  input.shrink(std::min(keep_from, here));
  at = input.at(here);
  end = input.end();
}

bool Cursor::ensure(std::size_t bytes) {
  while (left() < bytes) {
    if (!refill()) return false;
  }
  return true;
}

bool Cursor::peek(std::size_t bytes) {
  while (left() < bytes) {
    if (input.at_placeholder() || !refill()) return false;
  }
  return true;
}

std::size_t Cursor::line_end() {
  const auto start = offset();
  const auto kept = keep_from;
  keep_from = std::min(kept, start);
  do {
    at = find(at, end, '\n');
  } while (at == end && refill());
  const auto found = offset();
  keep_from = kept;
  seek(start);
  return found;
}

bool skip_quoted(Cursor& cursor, char quote) {
  for (;;) {
    cursor.at = find(cursor.at, cursor.end, quote);
    if (cursor.at == cursor.end) {
      if (!cursor.refill()) return false;
      continue;
    }
    ++cursor.at;
    if (is_quote_final(cursor) || *cursor.at != quote) return true;
    ++cursor.at;
  }
}

bool skip_escaped(Cursor& cursor) {
  for (;;) {
    while (*cursor.at != '\'' && *cursor.at != '\\' && *cursor.at != '\0') ++cursor.at;
    if (cursor.at == cursor.end) {
      if (!cursor.refill()) return false;
      continue;
    }
    const bool quote = *cursor.at == '\'';
    const bool pair = *cursor.at == '\\';
    ++cursor.at;
    if (!quote && !pair) continue;
    if (quote && (is_quote_final(cursor) || *cursor.at != '\'')) return true;
    if (!cursor.ensure(1)) return false;
    ++cursor.at;
  }
}

bool skip_dollar_quoted(Cursor& cursor, const std::string& tag) {
  for (;;) {
    cursor.at = find(cursor.at, cursor.end, '$');
    if (!cursor.ensure(tag.size())) {
      if (cursor.left() == 0) return false;
    } else if (std::memcmp(cursor.at, tag.data(), tag.size()) == 0) {
      cursor.at += tag.size();
      return true;
    }
    if (cursor.left() > 0) ++cursor.at;
  }
}

bool skip_block_comment(Cursor& cursor) {
  cursor.input.read_as(Around::kept);
  std::size_t unread = cursor.offset();  // a slash before it belongs to an earlier mark
  for (std::size_t depth = 1; depth > 0;) {
    cursor.at = find(cursor.at, cursor.end, '*');
    const bool after_slash = cursor.offset() > unread && cursor.at[-1] == '/';
    if (cursor.left() < 2) {
      if (after_slash) --cursor.at;
      unread = cursor.offset();  // the window may begin here
      if (!cursor.refill()) return false;
      continue;
    }
    const bool closes = !after_slash && cursor.at[1] == '/';
    cursor.at += closes ? 2 : 1;
    if (!after_slash && !closes) continue;
    unread = cursor.offset();
    depth = closes ? depth - 1 : depth + 1;
  }
  return true;
}

void skip_line_comment(Cursor& cursor) {
  cursor.input.read_as(Around::kept);
  do {
    const char* const newline = find(cursor.at, cursor.end, '\n');
    const char* const stop = find(cursor.at, newline, '\r');
    cursor.at = stop;
  } while (cursor.at == cursor.end && cursor.refill());
}

bool skip_to_continuation(Cursor& cursor) {
  const auto start = cursor.offset();
  const auto kept = cursor.keep_from;
  cursor.keep_from = std::min(kept, start);
  bool line_ended = false;
  bool found = false;
  while (!is_quote_final(cursor)) {
    if (*cursor.at == '-') {
      if (!cursor.ensure(2) || cursor.at[1] != '-') break;
      skip_line_comment(cursor);
      cursor.input.read_as(Around::quoted);
      continue;
    }
    found = line_ended && *cursor.at == '\'';
    if (found || !is_blank(*cursor.at)) break;
    line_ended = line_ended || *cursor.at == '\n' || *cursor.at == '\r';
    ++cursor.at;
  }
  cursor.keep_from = kept;
  if (!found) cursor.seek(start);
  if (found) ++cursor.at;
  return found;
}

}  // namespace lockstep::sql
