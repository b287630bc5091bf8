#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/statement_reader.h"

namespace lockstep::test {

/// What a StatementReader says of a script, kept.
struct ScriptPiece {
  enum class Kind { statement, meta_command, directive, copy_data };

  Kind kind;
  std::string text;
  std::size_t offset;
  std::size_t line;
  std::size_t column;
  bool inside_statement;

  friend bool operator==(const ScriptPiece&, const ScriptPiece&) = default;
};

struct ScriptPieces {
  std::vector<ScriptPiece> pieces;
  std::string problem;  ///< its code, or empty
  sql::Place problem_place;

  friend bool operator==(const ScriptPieces&, const ScriptPieces&) = default;
};

/// Reads a script that arrives in pieces of at most `piece` bytes.
inline ScriptPieces read_script(std::string_view script, std::size_t piece = std::string_view::npos,
                                const sql::ReaderOptions& options = {}) {
  using Kind = ScriptPiece::Kind;
  sql::StatementReader reader(sql::read_from(script, piece), options);
  ScriptPieces found;
  while (const auto item = reader.next()) {
    const auto kind = item->kind == sql::Item::Kind::statement      ? Kind::statement
                      : item->kind == sql::Item::Kind::meta_command ? Kind::meta_command
                                                                    : Kind::directive;
    const auto& place = item->place;
    found.pieces.push_back(
        {kind, std::string(item->text), place.offset, place.line, place.column, item->inside_statement});
    reader.forget_item();
    if (item->statement.kind != sql::StatementKind::copy_from_stdin) continue;
    std::string data;
    for (auto part = reader.next_copy_data(); !part.empty(); part = reader.next_copy_data()) data += part;
    const auto start = reader.copy_start();
    if (!reader.problem() || reader.problem()->code != "text_after_copy") {
      found.pieces.push_back({Kind::copy_data, data, start.offset, start.line, start.column, false});
    }
  }
  if (const auto& problem = reader.problem()) {
    found.problem = problem->code;
    found.problem_place = problem->place;
  }
  return found;
}

/// Steps over one thing that may stand between pieces, by a reading of the rules that shares no code with the
/// reader.
inline std::string_view skip_gap_part(std::string_view gap) {
  if (gap.starts_with("--")) return gap.substr(std::min(gap.size(), gap.find_first_of("\r\n")));
  if (!gap.starts_with("/*")) {
    const bool nothing = std::string_view(" \t\r\n\f\v;").find(gap.front()) != std::string_view::npos;
    return nothing ? gap.substr(1) : gap;
  }
  std::size_t at = 2;
  for (int depth = 1; depth > 0 && at < gap.size();) {
    const auto mark = gap.substr(at, 2);
    if (mark == "/*") ++depth;
    if (mark == "*/") --depth;
    at += mark == "/*" || mark == "*/" ? 2U : 1U;
  }
  return gap.substr(at);
}

/// Nothing but blanks, comments and semicolons.
inline bool is_gap(std::string_view gap) {
  while (!gap.empty()) {
    const auto rest = skip_gap_part(gap);
    if (rest.size() == gap.size()) return false;
    gap = rest;
  }
  return true;
}

/// The offset of the first byte of `script` that is neither in a piece nor in a gap, if there is one. Behind
/// a problem nothing is asked for.
inline std::optional<std::size_t> first_lost_byte(std::string script_text, const ScriptPieces& found) {
  for (const auto& piece : found.pieces) {  // a statement around a meta-command is told as if that were blank
    const auto blanks = piece.text == "\\;" || piece.text == "\\:" ? 1 : piece.text.size();
    if (piece.inside_statement) script_text.replace(piece.offset, blanks, blanks, ' ');
  }
  const std::string_view script = script_text;
  std::size_t at = script.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (const auto& piece : found.pieces) {
    if (piece.inside_statement) continue;
    if (piece.offset < at || !is_gap(script.substr(at, piece.offset - at))) return at;
    at = piece.offset + piece.text.size();
    if (piece.kind != ScriptPiece::Kind::copy_data ||
        (found.problem == "copy_without_end" && at == script.size())) {
      continue;
    }
    const auto line = script.substr(at, script.substr(at).find('\n'));
    if (line != "\\." && line != "\\.\r") return at;
    at = std::min(script.size(), at + line.size() + 1);
  }
  const bool complete = !found.problem.empty() || is_gap(script.substr(at));
  return complete ? std::nullopt : std::optional(at);
}

}  // namespace lockstep::test
