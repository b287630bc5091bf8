#pragma once

#include <span>
#include <string_view>

namespace lockstep::cli {

class Run;
struct Result;

/// An option as help, parser and completion know it.
struct OptionSpec {
  std::string_view names;    ///< "-u,--url" or "--target"
  std::string_view value;    ///< what stands for the value in help; empty for a switch
  std::string_view setting;  ///< the key that it sets; empty when the command itself reads it
  std::string_view description;
  std::string_view choices = {};  ///< "text|json", for completion

  std::string_view long_name() const { return names.substr(names.rfind(',') + 1); }
};

/// What the frame settles before a command runs.
enum class Needs { nothing, settings, database };

/// What may follow a command besides options.
enum class Operands { none, one, rest };

/// One row of the table of commands.
struct CommandSpec {
  std::string_view name;
  std::string_view summary;   ///< one line, for the list
  std::string_view operands;  ///< as the usage line shows them, such as "DESCRIPTION"
  Operands takes;
  std::string_view details;   ///< paragraphs for its help
  std::string_view examples;  ///< lines, each one a command and after two blanks what it does
  Needs needs;
  std::span<const OptionSpec> options;
  void (*run)(Run&, Result&);
  /// The members of its JSON document when it does not come to run, as JSON.
  std::string_view members = "{}";
};

/// In the order of help.
std::span<const CommandSpec> commands();
std::span<const OptionSpec> global_options();

/// nullptr when there is none.
const CommandSpec* find_command(std::string_view name);

}  // namespace lockstep::cli
