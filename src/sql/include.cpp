#include "sql/include.h"

#include <utility>
#include <vector>

namespace lockstep::sql {
namespace {

/// What is left of semicolons that stand alone.
bool is_nothing(const MetaArgument& argument) {
  return argument.text.empty() && !argument.quoted;
}

IncludePath refused(std::string code, std::string message, std::string hint) {
  return {{}, Problem{std::move(code), std::move(message), std::move(hint), {}}};
}

}  // namespace

std::optional<IncludeBase> include_base(std::string_view command) {
  if (command == "i" || command == "include") return IncludeBase::root;
  if (command == "ir" || command == "include_relative") return IncludeBase::includer;
  return std::nullopt;
}

IncludePath read_include_path(std::string_view argument) {
  auto [arguments, problem] = read_meta_arguments(argument, Semicolons::dropped);
  if (problem) return {{}, std::move(problem)};
  while (!arguments.empty() && is_nothing(arguments.back())) arguments.pop_back();
  if (arguments.empty() || arguments.front().text.empty()) {
    return refused("include_without_file", "the name of the file to include is missing",
                   "Write it behind the command, in single quotes if there are blanks in it.");
  }
  if (arguments.size() > 1) {
    return refused("include_arguments",
                   "\"" + arguments[1].text + "\" stands behind the name of the file to include",
                   "Only the name belongs there, in single quotes if there are blanks in it; a comment goes "
                   "into a line of its own.");
  }
  if (arguments.front().text.find('"') != std::string::npos) {
    return refused("include_arguments", "psql takes double quotes as part of a file's name",
                   "Write single quotes around the name.");
  }
  return {std::move(arguments.front().text), std::nullopt};
}

bool is_echo(std::string_view command) {
  return command == "echo" || command == "qecho" || command == "warn";
}

std::string echoed_text(std::string_view argument) {
  const auto arguments = read_meta_arguments(argument).values;
  const bool keeps_line = !arguments.empty() && !arguments.front().quoted && arguments.front().text == "-n";
  std::string text;
  const std::size_t first = keeps_line ? 1 : 0;
  for (std::size_t i = first; i < arguments.size(); ++i) {
    if (i > first) text += ' ';
    text += arguments[i].text;
  }
  return text;
}

}  // namespace lockstep::sql
