#include "core/directives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/text.h"
#include "core/utf8.h"

namespace lockstep {
namespace {

/// There are four settings. Each problem of a line shows all of it.
constexpr std::size_t longest_line = 1000;

constexpr std::string_view blanks = " \t\r\f\v";

/// A part of a line, with its place.
struct Piece {
  std::string_view text;
  SourcePosition where;
  std::string_view line;
};

struct Setting {
  std::string_view key;
  std::string_view value;
};

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(first_character(text).size);
  return count;
}

Piece cut(const Piece& piece, std::size_t begin, std::size_t end) {
  Piece part = piece;
  part.text = piece.text.substr(begin, end - begin);
  part.where.column += count_characters(piece.text.substr(0, begin));
  return part;
}

Piece trimmed(const Piece& piece) {
  const auto first = piece.text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return cut(piece, piece.text.size(), piece.text.size());
  return cut(piece, first, piece.text.find_last_not_of(blanks) + 1);
}

std::string_view trim(std::string_view text) {
  return trimmed({text, {}, {}}).text;
}

Setting split_setting(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return {trim(text), {}};
  return {trim(text.substr(0, equals)), trim(text.substr(equals + 1))};
}

bool same_letters(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

Error problem(const Piece& piece, std::string code, std::string message, std::string hint) {
  return {.kind = ErrorKind::files,
          .code = std::move(code),
          .message = std::move(message),
          .where = piece.where,
          .excerpt = std::string(piece.line),
          .hints = {std::move(hint)}};
}

Error unknown_key(const Piece& piece, std::string_view key, const std::vector<std::string_view>& known) {
  const auto meant = nearest(key, known);
  return problem(piece, "directive_unknown", fmt::format("unknown setting \"{}\"", printable(key)),
                 meant.empty() ? fmt::format("The settings here are {}.", fmt::join(known, ", "))
                               : fmt::format("Did you mean {}?", meant));
}

Error bad_value(const Piece& piece, const Setting& setting, std::string hint) {
  return problem(piece, "directive_invalid",
                 setting.value.empty()
                     ? fmt::format("{} has no value", setting.key)
                     : fmt::format("{} cannot be \"{}\"", setting.key, printable(setting.value)),
                 std::move(hint));
}

/// Stores a value, unless the same setting has one already.
template <typename Value>
void store(std::optional<Value>& to, Value value, const Piece& piece, std::string_view key,
           DirectivesRead& read) {
  if (to) {
    read.problems.push_back(problem(piece, "directive_duplicate", fmt::format("{} is given twice", key),
                                    "Remove one of the two."));
    return;
  }
  to = value;
}

void read_transaction(const Piece& piece, const Setting& setting, DirectivesRead& read) {
  if (setting.value != "on" && setting.value != "off") {
    read.problems.push_back(bad_value(piece, setting, "Write transaction=on or transaction=off."));
    return;
  }
  store(read.directives.transaction, setting.value == "on" ? TransactionMode::on : TransactionMode::off,
        piece, setting.key, read);
}

void read_timeout(const Piece& piece, const Setting& setting, std::optional<Milliseconds>& to,
                  DirectivesRead& read) {
  // The server keeps these settings as milliseconds in 32 bits.
  constexpr Milliseconds longest{std::numeric_limits<std::int32_t>::max()};
  const auto value = parse_duration(setting.value);
  if (!value || *value > longest) {
    read.problems.push_back(
        bad_value(piece, setting,
                  "Write a number with its unit, such as 250ms, 5s or 10m, of at most 596h; "
                  "0 means no limit."));
    return;
  }
  store(to, *value, piece, setting.key, read);
}

void read_placeholders(const Piece& piece, const Setting& setting, DirectivesRead& read) {
  if (setting.value != "on" && setting.value != "off" && setting.value != "bodies") {
    read.problems.push_back(
        bad_value(piece, setting, "Write placeholders=off, on, or bodies (also in dollar-quoted text)."));
    return;
  }
  store(read.directives.placeholders, sql::scope_in(piece.text, sql::PlaceholderScope::on), piece,
        setting.key, read);
}

void read_setting(const Piece& piece, DirectivesRead& read) {
  const auto setting = split_setting(piece.text);
  if (setting.key == "transaction") {
    read_transaction(piece, setting, read);
  } else if (setting.key == "lock_timeout") {
    read_timeout(piece, setting, read.directives.lock_timeout, read);
  } else if (setting.key == "statement_timeout") {
    read_timeout(piece, setting, read.directives.statement_timeout, read);
  } else if (setting.key == "placeholders") {
    read_placeholders(piece, setting, read);
  } else if (setting.key.empty()) {
    read.problems.push_back(problem(piece, "directive_invalid", "a setting is missing here",
                                    "Write it as in -- lockstep: transaction=off, lock_timeout=2s"));
  } else {
    read.problems.push_back(unknown_key(
        piece, setting.key, {"transaction", "lock_timeout", "statement_timeout", "placeholders"}));
  }
}

/// The values that Flyway's own reader takes.
std::optional<bool> boolean(std::string_view text) {
  if (same_letters(text, "true")) return true;
  if (same_letters(text, "false")) return false;
  return std::nullopt;
}

void read_execute_in_transaction(const Piece& piece, const Setting& setting, DirectivesRead& read) {
  const auto value = boolean(setting.value);
  if (!value) {
    read.problems.push_back(bad_value(piece, setting, "Write true or false."));
    return;
  }
  store(read.directives.transaction, *value ? TransactionMode::on : TransactionMode::off, piece, setting.key,
        read);
}

void check_encoding(const Piece& piece, const Setting& setting, DirectivesRead& read) {
  if (same_letters(setting.value, "utf-8") || same_letters(setting.value, "utf8")) return;
  read.problems.push_back(
      bad_value(piece, setting, "Convert the migration to UTF-8 (iconv does) and remove this line."));
}

void read_placeholder_replacement(const Piece& piece, const Setting& setting, DirectivesRead& read) {
  const auto value = boolean(setting.value);
  if (!value) {
    read.problems.push_back(bad_value(piece, setting, "Write true or false."));
    return;
  }
  store(read.directives.placeholders, *value ? sql::PlaceholderScope::on : sql::PlaceholderScope::off, piece,
        setting.key, read);
}

void read_config_line(const Piece& piece, DirectivesRead& read) {
  const auto setting = split_setting(piece.text);
  if (setting.key == "executeInTransaction") {
    read_execute_in_transaction(piece, setting, read);
  } else if (setting.key == "encoding") {
    check_encoding(piece, setting, read);
  } else if (setting.key == "placeholderReplacement") {
    read_placeholder_replacement(piece, setting, read);
  } else if (setting.key == "shouldExecute") {
    read.problems.push_back(
        problem(piece, "directive_unsupported", "conditions for running a migration are not supported",
                "Remove the line, and test for the condition in the migration (with DO, for example) or keep "
                "the file in a location of its own."));
  } else {
    read.problems.push_back(unknown_key(
        piece, setting.key, {"executeInTransaction", "encoding", "placeholderReplacement", "shouldExecute"}));
  }
}

Error line_too_long(const SourcePosition& where) {
  return {.kind = ErrorKind::files,
          .code = "directive_too_long",
          .message = fmt::format("this line of settings has more than {} bytes", longest_line),
          .where = where,
          .hints = {"Write it as in -- lockstep: transaction=off, lock_timeout=2s"}};
}

Error contradiction(const std::string& config_file, std::string_view key, std::string_view directive) {
  return {.kind = ErrorKind::files,
          .code = "directive_conflict",
          .message = fmt::format("{} contradicts {} in the migration itself", key, directive),
          .where = SourcePosition{config_file},
          .hints = {"Remove one of the two."}};
}

}  // namespace

void read_directive_line(std::string_view comment, const SourcePosition& where, DirectivesRead& read) {
  const auto end = comment.find_last_not_of(" \t\r\n");
  comment = comment.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (comment.size() > longest_line) return read.problems.push_back(line_too_long(where));
  const std::string excerpt =
      std::string(where.column > 0 ? where.column - 1 : 0, ' ') + std::string(comment);
  const Piece line{comment, where, excerpt};
  auto begin = std::min(comment.find(':'), comment.size() - 1) + 1;
  while (true) {
    const auto comma = std::min(comment.find(',', begin), comment.size());
    read_setting(trimmed(cut(line, begin, comma)), read);
    if (comma == comment.size()) return;
    begin = comma + 1;
  }
}

DirectivesRead read_script_config(std::string_view text, const std::string& file) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (text.substr(0, mark.size()) == mark) text.remove_prefix(mark.size());
  DirectivesRead read;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto piece = trimmed({line, {file, number, 1}, line.substr(0, line.find_last_not_of(blanks) + 1)});
    const bool comment = !piece.text.empty() && (piece.text[0] == '#' || piece.text[0] == '!');
    if (!piece.text.empty() && !comment) read_config_line(piece, read);
  }
  return read;
}

void merge_script_config(const DirectivesRead& config, const std::string& config_file, DirectivesRead& read) {
  for (const auto& problem : config.problems) read.problems.push_back(problem);
  read.problems.leave_out(config.problems.left_out());
  auto& own = read.directives;
  const auto& configured = config.directives;
  if (own.transaction && configured.transaction && *own.transaction != *configured.transaction)
    read.problems.push_back(contradiction(config_file, "executeInTransaction", "transaction"));
  const bool off = configured.placeholders == sql::PlaceholderScope::off;
  if (own.placeholders && configured.placeholders && off != (own.placeholders == sql::PlaceholderScope::off))
    read.problems.push_back(contradiction(config_file, "placeholderReplacement", "placeholders"));
  if (!own.transaction) own.transaction = configured.transaction;
  if (!own.placeholders) own.placeholders = configured.placeholders;
}

}  // namespace lockstep
