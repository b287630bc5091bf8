#include "cli/settings_placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/text.h"
#include "core/utf8.h"
#include "sql/placeholders.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view variable_prefix = "LOCKSTEP_PLACEHOLDERS_";

/// TOML may write a number or a truth value without quotes.
std::optional<std::string> text_of(const RawValue& raw) {
  if (const auto* const text = std::get_if<std::string>(&raw)) return *text;
  if (const auto* const number = std::get_if<std::int64_t>(&raw)) return std::to_string(*number);
  if (const auto* const yes = std::get_if<bool>(&raw)) return *yes ? "true" : "false";
  return std::nullopt;
}

}  // namespace

std::variant<PlaceholderValue, ValueProblem> parse_placeholder(std::string_view name, const RawValue& raw) {
  if (!sql::is_placeholder_name(name)) {
    return ValueProblem{fmt::format("\"{}\" is not a name for a placeholder", printable(name)),
                        "Names have letters, digits, _, - and . only."};
  }
  auto text = text_of(raw);
  if (!text) return ValueProblem{"expected a string", "Write the value in quotes; a name with a dot, too."};
  if (text->find('\0') != std::string::npos || !is_utf8(*text))
    return ValueProblem{"the value is not UTF-8 or has a NUL byte", {}};
  return PlaceholderValue{sql::lower_case(name), *std::move(text)};
}

/// What was given is not repeated in an error: it may be a secret.
std::variant<PlaceholderValue, ValueProblem> parse_assignment(std::string_view text) {
  const auto equals = text.find('=');
  if (equals != std::string_view::npos)
    return parse_placeholder(text.substr(0, equals), std::string(text.substr(equals + 1)));
  return ValueProblem{"this is no name with a value", "Write --set name=value."};
}

std::string_view placeholder_of_variable(std::string_view variable) {
  return variable.starts_with(variable_prefix) ? variable.substr(variable_prefix.size()) : std::string_view{};
}

bool looks_secret(std::string_view name) {
  constexpr std::array<std::string_view, 6> signs{"pass", "pwd", "secret", "token", "credential", "key"};
  const auto lower = sql::lower_case(name);
  return std::any_of(signs.begin(), signs.end(),
                     [&](auto sign) { return lower.find(sign) != std::string::npos; });
}

}  // namespace lockstep::cli
