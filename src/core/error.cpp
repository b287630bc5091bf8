#include "core/error.h"

#include <fmt/format.h>

#include <utility>

#include "core/text.h"

namespace lockstep {
namespace {

/// The excerpt and, under its column, a caret. Blanks before the caret repeat tabs, so that it lines up in
/// any terminal.
std::string excerpt_with_caret(const Error& error) {
  if (error.excerpt.empty() || !error.where) return {};
  const auto number = std::to_string(error.where->line);
  std::string text = fmt::format("  {} | {}\n", number, error.excerpt);
  if (error.where->column == 0) return text;
  return text + fmt::format("  {} | {}^\n", std::string(number.size(), ' '),
                            caret_indent(error.excerpt, error.where->column));
}

std::string labelled(std::string_view label, std::string_view text) {
  return text.empty() ? std::string{} : fmt::format("  {}: {}\n", label, indent_continuation(text, 4));
}

}  // namespace

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::negative:
      return 1;
    case ErrorKind::usage:
    case ErrorKind::config:
      return 2;
    case ErrorKind::files:
      return 3;
    case ErrorKind::connection:
      return 4;
    case ErrorKind::unsafe:
      return 5;
    case ErrorKind::migration:
      return 6;
    case ErrorKind::part_way:
      return 7;
    case ErrorKind::internal:
      return 70;
    case ErrorKind::lock_busy:
      return 75;
    case ErrorKind::interrupted:
      return 130;
    case ErrorKind::terminated:
      return 143;
  }
  return 70;
}

Error out_of_memory(std::optional<SourcePosition> where) {
  return {
      .kind = ErrorKind::internal,
      .code = "out_of_memory",
      .message = "out of memory",
      .where = std::move(where),
      .hints = {
          "Give the process more memory and run the command again. A statement is held in memory as a "
          "whole, several times over, and so is the list of files; many statements in a file and COPY data "
          "need little."}};
}

Failure::Failure(Error error) {
  errors_.push_back(std::move(error));
}
Failure::Failure(std::vector<Error> errors) : errors_(std::move(errors)) {}

std::string to_string(const SourcePosition& position) {
  if (position.line == 0) return position.file;
  if (position.column == 0) return fmt::format("{}:{}", position.file, position.line);
  return fmt::format("{}:{}:{}", position.file, position.line, position.column);
}

std::string render(const Error& error) {
  std::string text = "error: ";
  if (error.where) text += to_string(*error.where) + ": ";
  text += error.message;
  if (!error.sqlstate.empty()) text += fmt::format(" [SQLSTATE {}]", error.sqlstate);
  text += "\n" + excerpt_with_caret(error);
  for (const auto& place : error.included_from) text += labelled("included from", to_string(place));
  text += labelled("detail", error.detail);
  text += labelled("context", error.context);
  for (const auto& hint : error.hints) text += labelled("hint", hint);
  return text;
}

}  // namespace lockstep
