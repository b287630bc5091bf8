#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

Error usage_error(std::string code, std::string message, std::string hint) {
  Error error{.kind = ErrorKind::usage, .code = std::move(code), .message = std::move(message)};
  error.hints.push_back(std::move(hint));
  return error;
}

std::string see_help(const CommandSpec* command) {
  return command == nullptr ? std::string("See lockstep --help.")
                            : fmt::format("See lockstep {} --help.", command->name);
}

/// The options of one table, put into a CLI11 app and read out of it after parsing.
struct Bound {
  const OptionSpec* spec;
  CLI::Option* option;
};

std::vector<Bound> bind(CLI::App& app, std::span<const OptionSpec> specs) {
  std::vector<Bound> bound;
  for (const auto& spec : specs) {
    auto* const option =
        spec.value.empty() ? app.add_flag(std::string(spec.names)) : app.add_option(std::string(spec.names));
    if (!spec.value.empty()) option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    bound.push_back({&spec, option});
  }
  return bound;
}

void read(const std::vector<Bound>& bound, Arguments& arguments) {
  for (const auto& [spec, option] : bound) {
    if (option->count() == 0) continue;
    const std::string name(spec->long_name());
    const auto values = spec->value.empty() ? std::vector<std::string>{} : option->results();
    if (spec->setting.empty()) {
      arguments.values[name] = values.empty() ? std::string{} : values.back();
    } else {
      arguments.settings.push_back({.key = std::string(spec->setting), .flag = name, .values = values});
    }
  }
}

bool has_name(const OptionSpec& spec, std::string_view name) {
  const auto comma = spec.names.find(',');
  return spec.names == name || spec.long_name() == name ||
         (comma != std::string_view::npos && spec.names.substr(0, comma) == name);
}

Error unknown_option(std::string_view word, const CommandSpec* command) {
  const auto name = word.substr(0, word.find('='));
  std::vector<std::string_view> candidates;
  for (const auto& spec : global_options()) candidates.push_back(spec.long_name());
  if (command != nullptr) {
    for (const auto& spec : command->options) {
      if (has_name(spec, name)) {
        return usage_error("unknown_option", fmt::format("{} stands before the command", printable(name)),
                           fmt::format("Write it after {}.", command->name));
      }
      candidates.push_back(spec.long_name());
    }
  }
  const auto near = nearest(name, candidates);
  return usage_error("unknown_option", fmt::format("unknown option \"{}\"", printable(name)),
                     near.empty() ? see_help(command) : fmt::format("Did you mean {}?", near));
}

Error unknown_command(std::string_view word) {
  std::vector<std::string_view> names;
  for (const auto& command : commands()) names.push_back(command.name);
  const auto near = nearest(word, names);
  return usage_error("unknown_command", fmt::format("unknown command \"{}\"", printable(word)),
                     near.empty() ? see_help(nullptr) : fmt::format("Did you mean lockstep {}?", near));
}

bool is_option(std::string_view word) {
  return word.size() > 1 && word.front() == '-';
}

/// Judges what CLI11 could not place.
void place_extras(const std::vector<std::string>& extras, Arguments& arguments) {
  const auto* const command = arguments.command;
  std::vector<Error> errors;
  for (const auto& word : extras) {
    if (is_option(word)) {
      errors.push_back(unknown_option(word, command));
    } else if (command == nullptr) {
      throw Failure(unknown_command(word));
    } else if (command->takes == Operands::one) {
      arguments.operands.push_back(word);
    } else if (errors.empty()) {  // else it may be the value of the unknown option
      errors.push_back(usage_error("unexpected_argument", fmt::format("unexpected \"{}\"", printable(word)),
                                   see_help(command)));
    }
  }
  if (!errors.empty()) throw Failure(std::move(errors));
}

/// CLI11 begins its message with the option's name.
Error translated(const CLI::ParseError& problem, const CommandSpec* command) {
  const std::string text = problem.what();
  const auto option = text.substr(0, text.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr && is_option(option)) {
    return usage_error("missing_value", fmt::format("{} needs a value", printable(option)),
                       see_help(command));
  }
  return usage_error("usage", printable(text), see_help(command));
}

void check_operands(const Arguments& arguments) {
  const auto* const command = arguments.command;
  if (command == nullptr) return;
  if (command->takes != Operands::rest && !arguments.rest.empty()) {
    throw Failure(usage_error("unexpected_argument",
                              fmt::format("unexpected \"{}\" after --", printable(arguments.rest.front())),
                              see_help(command)));
  }
  if (arguments.operands.size() > 1) {
    throw Failure(usage_error("unexpected_argument",
                              fmt::format("unexpected \"{}\"", printable(arguments.operands[1])),
                              "Put words that belong together in quotes."));
  }
}

}  // namespace

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto found = values.find(option);
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

Arguments parse_arguments(const std::vector<std::string>& arguments) {
  Arguments result;
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (end != arguments.end()) result.rest.assign(end + 1, arguments.end());

  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.require_subcommand(0, 1);  // a word behind the command is not another one
  const auto global = bind(app, global_options());
  std::vector<std::pair<CLI::App*, std::vector<Bound>>> bound;
  for (const auto& command : commands()) {
    auto* const sub = app.add_subcommand(std::string(command.name));
    sub->set_help_flag();
    sub->fallthrough()->allow_extras();
    bound.emplace_back(sub, bind(*sub, command.options));
  }

  std::vector<std::string> words(arguments.begin(), end);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    const auto used = app.get_subcommands();
    throw Failure(translated(error, used.empty() ? nullptr : find_command(used.front()->get_name())));
  }
  for (std::size_t index = 0; index < bound.size(); ++index) {
    if (!bound[index].first->parsed()) continue;
    result.command = &commands()[index];
    read(bound[index].second, result);
  }
  read(global, result);
  place_extras(app.remaining(true), result);
  check_operands(result);
  return result;
}

const CommandSpec* named_command(const std::vector<std::string>& arguments) {
  for (const auto& word : arguments) {
    if (word == "--") break;
    if (const auto* const command = find_command(word)) return command;
  }
  return nullptr;
}

bool wants_json(const std::vector<std::string>& arguments, const Environment& environment) {
  constexpr std::string_view flag = "--output";
  std::string format = variable(environment, "LOCKSTEP_OUTPUT_FORMAT").value_or("");
  for (std::size_t index = 0; index < arguments.size() && arguments[index] != "--"; ++index) {
    const std::string_view word = arguments[index];
    if (word == flag && index + 1 < arguments.size()) format = arguments[index + 1];
    if (word.starts_with("--output=")) format = word.substr(flag.size() + 1);
  }
  return format == "json";
}

}  // namespace lockstep::cli
