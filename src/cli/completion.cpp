#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "cli/command.h"
#include "cli/settings_keys.h"

namespace lockstep::cli {
namespace {

std::string_view short_name(const OptionSpec& option) {
  const auto comma = option.names.find(',');
  return comma == std::string_view::npos ? std::string_view{} : option.names.substr(0, comma);
}

std::string choices_of(const OptionSpec& option) {
  std::string choices(option.choices);
  std::replace(choices.begin(), choices.end(), '|', ' ');
  return choices;
}

std::string choices_of(const CommandSpec& command) {
  std::string choices(command.operands);
  if (choices.find('|') == std::string::npos) return {};
  std::replace(choices.begin(), choices.end(), '|', ' ');
  return choices;
}

std::string command_names() {
  std::vector<std::string_view> names;
  for (const auto& command : commands()) names.push_back(command.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::vector<OptionSpec> all_options() {
  std::vector<OptionSpec> options(global_options().begin(), global_options().end());
  for (const auto& command : commands()) {
    for (const auto& option : command.options) {
      const bool known = std::any_of(options.begin(), options.end(),
                                     [&](const auto& one) { return one.names == option.names; });
      if (!known) options.push_back(option);
    }
  }
  return options;
}

std::string option_words(std::span<const OptionSpec> options) {
  std::vector<std::string_view> words;
  for (const auto& option : options) words.push_back(option.long_name());
  return fmt::format("{}", fmt::join(words, " "));
}

/// The cases for an option whose value is being completed.
std::string bash_values() {
  std::string cases;
  for (const auto& option : all_options()) {
    if (option.value.empty()) continue;
    const auto names = short_name(option).empty()
                           ? std::string(option.long_name())
                           : fmt::format("{}|{}", short_name(option), option.long_name());
    auto action = fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$word\"))", choices_of(option));
    if (option.value == "DIR") action = "COMPREPLY=($(compgen -d -- \"$word\"))";
    if (option.value == "FILE") action = "COMPREPLY=($(compgen -f -- \"$word\"))";
    cases += fmt::format("    {}) {}; return ;;\n", names, action);
  }
  return cases;
}

std::string bash_commands() {
  std::string cases;
  for (const auto& command : commands()) {
    auto words = option_words(command.options);
    if (const auto choices = choices_of(command); !choices.empty()) words += " " + choices;
    if (command.name == "help") words += " " + command_names();
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command.name, words);
  }
  return cases;
}

std::string bash_script() {
  return fmt::format(
      "# bash completion for lockstep\n"
      "_lockstep() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command='' words='' "
      "index\n"
      "  for ((index = 1; index < COMP_CWORD; index++)); do\n"
      "    case ${{COMP_WORDS[index]}} in\n"
      "    --) compopt -o default 2>/dev/null; return ;;\n"
      "    {}) command=${{COMP_WORDS[index]}}; break ;;\n"
      "    esac\n"
      "  done\n"
      "  case $previous in\n{}  esac\n"
      "  case $command in\n    '') words=\"{}\" ;;\n{}  esac\n"
      "  COMPREPLY=($(compgen -W \"$words {}\" -- \"$word\"))\n"
      "}}\n"
      "complete -F _lockstep lockstep\n",
      [] {
        auto names = command_names();
        std::replace(names.begin(), names.end(), ' ', '|');
        return names;
      }(),
      bash_values(), command_names(), bash_commands(), option_words(global_options()));
}

/// Single quotes, colons and brackets mean something in a specification of _arguments.
std::string zsh_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == ':' || c == '[' || c == ']') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_option(const OptionSpec& option) {
  const auto repeated = option.long_name() == "--dir" ? "\\*" : "";
  std::string value;
  if (!option.value.empty()) {
    auto action = option.choices.empty() ? std::string(" ") : fmt::format("({})", choices_of(option));
    if (option.value == "DIR") action = "_files -/";
    if (option.value == "FILE") action = "_files";
    value = fmt::format(":{}:{}", option.value, action);
  }
  std::string text;
  for (const auto name : {short_name(option), option.long_name()}) {
    if (name.empty()) continue;
    text += fmt::format(" \\\n    {}'{}[{}]{}'", repeated, name, zsh_text(option.description), value);
  }
  return text;
}

std::string zsh_options(std::span<const OptionSpec> options) {
  std::string text;
  for (const auto& option : options) text += zsh_option(option);
  return text;
}

std::string zsh_operand(const CommandSpec& command) {
  if (command.takes == Operands::rest) return " \\\n    '*::command:_normal'";
  if (command.name == "help") return fmt::format(" \\\n    ':command:({})'", command_names());
  const auto choices = choices_of(command);
  return choices.empty() ? std::string{} : fmt::format(" \\\n    ':shell:({})'", choices);
}

std::string zsh_script() {
  std::string list;
  std::string cases;
  for (const auto& command : commands()) {
    list += fmt::format("    '{}:{}'\n", command.name, zsh_text(command.summary));
    const auto options = zsh_options(command.options) + zsh_operand(command);
    cases += fmt::format("  {}) _arguments $global{} ;;\n", command.name, options);
  }
  return fmt::format(
      "#compdef lockstep\n"
      "# zsh completion for lockstep\n"
      "_lockstep() {{\n"
      "  local context state line curcontext=$curcontext\n"
      "  local -a list global\n"
      "  list=(\n{}  )\n"
      "  global=({}\n  )\n"
      "  _arguments -C $global ':command:->command' '*::argument:->argument' && return\n"
      "  case $state in\n"
      "  command) _describe command list; return ;;\n"
      "  esac\n"
      "  case $words[1] in\n{}  esac\n"
      "}}\n"
      "if [[ $funcstack[1] == _lockstep ]]; then _lockstep \"$@\"; else compdef _lockstep lockstep; fi\n",
      list, zsh_options(global_options()), cases);
}

std::string fish_text(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string fish_option(const OptionSpec& option, std::string_view condition) {
  std::string text = "complete -c lockstep";
  if (!condition.empty()) text += fmt::format(" -n '__fish_seen_subcommand_from {}'", condition);
  if (const auto name = short_name(option); !name.empty()) text += fmt::format(" -s {}", name.substr(1));
  text += fmt::format(" -l {} -d '{}'", option.long_name().substr(2), fish_text(option.description));
  if (option.value.empty()) return text + "\n";
  if (option.value == "FILE" || option.value == "DIR") return text + " -r -F\n";
  return text +
         (option.choices.empty() ? std::string(" -x") : fmt::format(" -x -a '{}'", choices_of(option))) +
         "\n";
}

std::string fish_script() {
  auto text = fmt::format(
      "# fish completion for lockstep\n"
      "complete -c lockstep -f\n"
      "set -l commands {}\n",
      command_names());
  for (const auto& option : global_options()) text += fish_option(option, {});
  for (const auto& command : commands()) {
    text +=
        fmt::format("complete -c lockstep -n \"not __fish_seen_subcommand_from $commands\" -a {} -d '{}'\n",
                    command.name, fish_text(command.summary));
    for (const auto& option : command.options) text += fish_option(option, command.name);
    auto words = choices_of(command);
    if (command.name == "help") words = command_names();
    if (!words.empty()) {
      text += fmt::format("complete -c lockstep -n '__fish_seen_subcommand_from {}' -a '{}'\n", command.name,
                          words);
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return std::nullopt;
}

}  // namespace lockstep::cli
