#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "cli/settings_keys.h"

namespace lockstep::cli {

/// The section of lockstep.toml, and the key that --set stands for.
inline constexpr std::string_view placeholder_section = "placeholders";

/// A placeholder with its value, checked.
struct PlaceholderValue {
  std::string name;  ///< in lower case
  std::string value;
};

std::variant<PlaceholderValue, ValueProblem> parse_placeholder(std::string_view name, const RawValue& raw);

/// "name=value", as --set takes it.
std::variant<PlaceholderValue, ValueProblem> parse_assignment(std::string_view text);

/// The name that LOCKSTEP_PLACEHOLDERS_NAME sets; empty for other variables.
std::string_view placeholder_of_variable(std::string_view variable);

/// The value of such a name is masked: password, secret, token, key and their like.
bool looks_secret(std::string_view name);

}  // namespace lockstep::cli
