#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "cli/settings_keys.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

using Parsed = std::variant<Value, ValueProblem>;

/// PostgreSQL cuts longer identifiers (NAMEDATALEN - 1), and then two names could mean one table.
constexpr std::size_t identifier_bytes = 63;

std::string_view raw_type(const RawValue& raw) {
  if (const auto* const other = std::get_if<OtherType>(&raw)) return other->name;
  if (std::holds_alternative<std::string>(raw)) return "a string";
  if (std::holds_alternative<std::int64_t>(raw)) return "an integer";
  return std::holds_alternative<bool>(raw) ? "a boolean" : "an array";
}

Parsed parse_duration_value(const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) {
    return ValueProblem{fmt::format("\"{}\" is not a duration", printable(text)),
                        "Write a number with a unit, such as 250ms, 5s, 10m or 2h."};
  }
  return Value{.text = text == "0" ? text : to_string(*duration), .duration = *duration};
}

Parsed parse_choice(const Key& key, const std::string& text) {
  const auto choices = split(key.choices, '|');
  const auto found = std::find(choices.begin(), choices.end(), text);
  if (found != choices.end()) {
    return Value{.text = text, .choice = static_cast<std::size_t>(found - choices.begin())};
  }
  const auto near = nearest(text, choices);
  return ValueProblem{fmt::format("\"{}\" is not one of {}", printable(text), fmt::join(choices, ", ")),
                      near.empty() ? std::string{} : fmt::format("Did you mean \"{}\"?", near)};
}

Parsed parse_boolean(const std::string& text) {
  if (text == "true" || text == "false") return Value{.text = text, .yes = text == "true"};
  return ValueProblem{fmt::format("\"{}\" is neither true nor false", printable(text)), {}};
}

Parsed parse_integer(const std::string& text) {
  if (text.empty()) return Value{};
  std::int32_t number = 0;
  const auto* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end) return Value{.text = std::to_string(number), .integer = number};
  return ValueProblem{fmt::format("\"{}\" is not an integer of 32 bits", printable(text)),
                      "Write a number from -2147483648 to 2147483647."};
}

Parsed parse_identifier(const Key& key, const std::string& text) {
  if (text.empty() && !key.fallback.empty()) return ValueProblem{"must not be empty", {}};
  if (text.size() > identifier_bytes) {
    return ValueProblem{fmt::format("\"{}\" has {} bytes", printable(text), text.size()),
                        fmt::format("Names in PostgreSQL have at most {} bytes.", identifier_bytes)};
  }
  return Value{.text = text};
}

/// A mark of placeholders cannot be taken for a part of their names, nor for a quote.
Parsed parse_mark(const std::string& text) {
  constexpr std::string_view allowed = "!#$%&()*+,/<=>?@[]^{|}~";
  constexpr std::size_t longest = 8;
  if (!text.empty() && text.size() <= longest && text.find_first_not_of(allowed) == std::string::npos)
    return Value{.text = text};
  return ValueProblem{fmt::format("\"{}\" cannot be a mark of placeholders", printable(text)),
                      fmt::format("Write one to eight of {}", allowed)};
}

Parsed parse_paths(const std::vector<std::string_view>& paths) {
  Value value;
  for (const auto path : paths) {
    if (path.empty()) return ValueProblem{"a directory must not be empty", {}};
    value.list.emplace_back(path);
  }
  if (value.list.empty()) return ValueProblem{"names no directory", {}};
  value.text = fmt::format("{}", fmt::join(value.list, ","));
  return value;
}

Parsed parse_identifiers(const Key& key, const std::vector<std::string_view>& names) {
  Value value;
  for (const auto name : names) {
    if (name.empty()) return ValueProblem{"a name must not be empty", {}};
    const auto parsed = parse_identifier(key, std::string(name));
    if (std::holds_alternative<ValueProblem>(parsed)) return parsed;
    value.list.emplace_back(name);
  }
  value.text = fmt::format("{}", fmt::join(value.list, ","));
  return value;
}

Parsed parse_list(const Key& key, const std::vector<std::string_view>& values) {
  return key.type == KeyType::paths ? parse_paths(values) : parse_identifiers(key, values);
}

bool is_list(const Key& key) {
  return key.type == KeyType::paths || key.type == KeyType::identifiers;
}

Parsed parse_text(const Key& key, const std::string& text) {
  if (text.find('\0') != std::string::npos) return ValueProblem{"must not contain a NUL byte", {}};
  switch (key.type) {
    case KeyType::text:
    case KeyType::conninfo:
    case KeyType::path:
      return Value{.text = text};
    case KeyType::paths:
      return parse_paths(split(text, ','));
    case KeyType::identifier:
      return parse_identifier(key, text);
    case KeyType::identifiers:
      return text.empty() ? Value{} : parse_identifiers(key, split(text, ','));
    case KeyType::mark:
      return parse_mark(text);
    case KeyType::duration:
      return parse_duration_value(text);
    case KeyType::choice:
      return parse_choice(key, text);
    case KeyType::boolean:
      return parse_boolean(text);
    case KeyType::integer:
      return parse_integer(text);
  }
  return Value{.text = text};
}

/// lockstep.toml may write a number or a truth value where the environment writes its text.
bool takes_integer(const Key& key, std::int64_t number) {
  return key.type == KeyType::integer || (key.type == KeyType::duration && number == 0);
}

}  // namespace

std::string type_name(const Key& key) {
  switch (key.type) {
    case KeyType::paths:
    case KeyType::identifiers:
      return "a string or an array of strings";
    case KeyType::duration:
      return "a duration in quotes, such as \"5s\"";
    case KeyType::boolean:
      return "true or false";
    case KeyType::integer:
      return "an integer";
    default:
      return "a string";
  }
}

Parsed parse_value(const Key& key, const RawValue& raw) {
  if (const auto* const list = std::get_if<std::vector<std::string>>(&raw); list && is_list(key)) {
    return parse_list(key, {list->begin(), list->end()});
  }
  if (const auto* const text = std::get_if<std::string>(&raw)) return parse_text(key, *text);
  if (const auto* const number = std::get_if<std::int64_t>(&raw); number && takes_integer(key, *number)) {
    return parse_text(key, std::to_string(*number));
  }
  if (const auto* const yes = std::get_if<bool>(&raw); yes && key.type == KeyType::boolean) {
    return parse_text(key, *yes ? "true" : "false");
  }
  return ValueProblem{fmt::format("expected {}, found {}", type_name(key), raw_type(raw)), {}};
}

}  // namespace lockstep::cli
