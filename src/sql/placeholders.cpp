#include "sql/placeholders.h"

#include <algorithm>

#include "sql/characters.h"

namespace lockstep::sql {
const std::string* Placeholders::find(std::string_view name) const {
  const auto found = values.find(lower_case(name));
  return found == values.end() ? nullptr : &found->second;
}

PlaceholderScope scope_in(std::string_view settings, PlaceholderScope current) {
  while (!settings.empty()) {
    const auto setting = settings.substr(0, settings.find(','));
    settings.remove_prefix(std::min(settings.size(), setting.size() + 1));
    const auto equals = setting.find('=');
    if (equals == std::string_view::npos || trim(setting.substr(0, equals)) != "placeholders") continue;
    const auto value = trim(setting.substr(equals + 1));
    if (value == "off") current = PlaceholderScope::off;
    if (value == "on") current = PlaceholderScope::on;
    if (value == "bodies") current = PlaceholderScope::bodies;
  }
  return current;
}

bool is_placeholder_name(std::string_view name) {
  const auto is_part = [](char c) {
    return is_digit(c) || (to_lower(c) >= 'a' && to_lower(c) <= 'z') || c == '_' || c == '-' || c == '.';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_part);
}

std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), to_lower);
  return lower;
}

}  // namespace lockstep::sql
