#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/settings.h"

namespace lockstep::cli {

/// A command line, taken apart. Values of settings are not judged yet.
struct Arguments {
  const CommandSpec* command = nullptr;
  std::vector<FlagValue> settings = {};
  std::map<std::string, std::string, std::less<>> values = {};  ///< the other options; a switch has ""
  std::vector<std::string> operands = {};
  std::vector<std::string> rest = {};  ///< what follows "--"

  bool has(std::string_view option) const { return values.find(option) != values.end(); }
  std::optional<std::string> value(std::string_view option) const;
};

/// Takes `arguments` (without the program's name) apart. Throws Failure (usage) with every problem. Without a
/// command, `command` is null.
Arguments parse_arguments(const std::vector<std::string>& arguments);

/// The command that a command line names which cannot be taken apart; null when it names none.
const CommandSpec* named_command(const std::vector<std::string>& arguments);

/// Whether the result is wanted as JSON, for errors that come up before the settings are settled.
bool wants_json(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace lockstep::cli
