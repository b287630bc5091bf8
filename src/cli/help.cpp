#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/settings_keys.h"
#include "lockstep_version.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t text_width = 96;

/// `text` broken at blanks into lines of at most `text_width` columns; all but the first begin with `indent`
/// blanks.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const auto end = text.find(' ');
    const auto word = text.substr(0, end);
    if (column > indent && column + 1 + word.size() > text_width) {
      result += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  }
  return result;
}

struct Line {
  std::string left;
  std::string right;
};

std::string two_columns(const std::vector<Line>& lines) {
  std::size_t width = 0;
  for (const auto& line : lines) width = std::max(width, line.left.size());
  std::string text;
  for (const auto& [left, right] : lines) {
    text += fmt::format("  {:<{}}  {}\n", left, width, wrapped(right, width + 4));
  }
  return text;
}

/// "  -u, --url URL", with long names below each other.
std::string option_names(const OptionSpec& option) {
  const auto comma = option.names.find(',');
  auto names = comma == std::string_view::npos
                   ? fmt::format("    {}", option.names)
                   : fmt::format("{}, {}", option.names.substr(0, comma), option.long_name());
  return option.value.empty() ? names : fmt::format("{} {}", names, option.value);
}

std::string option_text(const OptionSpec& option) {
  const auto* const key = option.setting.empty() ? nullptr : find_key(option.setting);
  if (key == nullptr || key->fallback.empty() || key->type == KeyType::boolean) {
    return std::string(option.description);
  }
  return fmt::format("{} (default {})", option.description, key->fallback);
}

std::string option_list(std::span<const OptionSpec> options) {
  std::vector<Line> lines;
  for (const auto& option : options) lines.push_back({option_names(option), option_text(option)});
  return two_columns(lines);
}

std::string command_list() {
  std::vector<Line> lines;
  for (const auto& command : commands())
    lines.push_back({std::string(command.name), std::string(command.summary)});
  return two_columns(lines);
}

std::string indented(std::string_view lines) {
  std::string text;
  for (const auto line : split(lines, '\n')) text += line.empty() ? "\n" : fmt::format("  {}\n", line);
  return text;
}

constexpr std::string_view general_examples =
    "lockstep migrate                      apply what is pending to the database of LOCKSTEP_URL\n"
    "lockstep info                         every migration and its state\n"
    "lockstep --ephemeral migrate          try the migrations on a throwaway server\n"
    "lockstep new \"add orders\"             create the next migration file";

}  // namespace

std::string general_help() {
  return fmt::format(
      "Applies versioned SQL files to PostgreSQL, exactly once, however many start at the same time.\n\n"
      "usage: lockstep [OPTIONS] COMMAND [OPTIONS]\n\n"
      "commands:\n{}\n"
      "options for every command:\n{}\n"
      "examples:\n{}\n"
      "Every setting is also a variable (LOCKSTEP_LOCK_WAIT) and a key of lockstep.toml (lock.wait): "
      "see lockstep config.\n"
      "Exit status: 0 done, 1 the answer is no, 2 usage, 3 files, 4 connection, 5 no safe session, 6 and 7 a "
      "migration failed,\n70 our own fault, 75 the lock is busy, 130 and 143 interrupted.\n",
      command_list(), option_list(global_options()), indented(general_examples));
}

std::string command_help(const CommandSpec& command) {
  auto text = fmt::format("{}\n\nusage: lockstep {} [OPTIONS]{}{}\n", command.summary, command.name,
                          command.operands.empty() ? "" : " ", command.operands);
  if (!command.details.empty()) {
    for (const auto paragraph : split(command.details, '\n'))
      text += fmt::format("\n{}\n", wrapped(paragraph, 0));
  }
  if (!command.options.empty()) text += fmt::format("\noptions:\n{}", option_list(command.options));
  if (!command.examples.empty()) text += fmt::format("\nexamples:\n{}", indented(command.examples));
  return text + "\nOptions for every command: lockstep --help\n";
}

std::string version_text(std::string_view libpq_version) {
  return fmt::format("lockstep {}\nlibpq {}\n", LOCKSTEP_VERSION, libpq_version);
}

}  // namespace lockstep::cli
