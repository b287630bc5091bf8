#include "cli/settings_toml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "cli/settings_placeholders.h"
#include "cli/toml_parser.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view overlay_section = "env";

std::string_view line_of(std::string_view text, std::size_t number) {
  for (std::size_t line = 1; line < number; ++line) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  auto line = text.substr(0, text.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// A line that was not understood may hold a password that nobody has learned yet.
bool may_hold_secret(std::string_view line) {
  constexpr std::array<std::string_view, 8> signs{"url", "pass", "pwd", "secret", "token", "key", "@", "://"};
  return std::any_of(signs.begin(), signs.end(),
                     [&](auto sign) { return line.find(sign) != std::string_view::npos; });
}

std::string safe_excerpt(std::string_view text, std::size_t number) {
  const auto line = line_of(text, number);
  return may_hold_secret(line) ? std::string{} : printable(line);
}

/// toml++ counts columns in code points.
SourcePosition position(const std::string& path, const toml::source_position& at) {
  return {.file = path, .line = at.line, .column = at.column};
}

std::string_view type_name_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array that does not hold strings alone";
    case toml::node_type::floating_point:
      return "a floating-point number";
    default:
      return "a date or time";
  }
}

RawValue raw_value(const toml::node& node) {
  if (const auto* const text = node.as_string()) return text->get();
  if (const auto* const number = node.as_integer()) return number->get();
  if (const auto* const boolean = node.as_boolean()) return boolean->get();
  const auto* const array = node.as_array();
  if (array == nullptr || !(array->empty() || array->is_homogeneous<std::string>())) {
    return OtherType{type_name_of(node)};
  }
  std::vector<std::string> list;
  for (const auto& element : *array) list.push_back(element.as_string()->get());
  return list;
}

class Walk {
 public:
  Walk(const std::string& path, std::string_view text, TomlDocument& document)
      : path_(path), text_(text), document_(document) {}

  void root(const toml::table& table) {
    for (const auto& [key, node] : table) {
      const auto* const overlays = key.str() == overlay_section ? node.as_table() : nullptr;
      if (overlays == nullptr) {
        top_level({}, key, node);
      } else {
        for (const auto& [name, overlay] : *overlays) this->overlay(name, overlay);
      }
    }
  }

 private:
  void overlay(const toml::key& name, const toml::node& node) {
    const auto* const table = node.as_table();
    if (table == nullptr) return add({.section = "env", .key = std::string(name.str())}, name, node);
    document_.overlays.emplace_back(name.str());
    for (const auto& [key, section] : *table) top_level(std::string(name.str()), key, section);
  }

  void top_level(const std::string& overlay, const toml::key& key, const toml::node& node) {
    const std::string name(key.str());
    const auto* const table = node.as_table();
    if (table == nullptr) return add({.overlay = overlay, .key = name}, key, node);
    const auto known =
        name == placeholder_section ||
        std::any_of(keys().begin(), keys().end(), [&](const Key& one) { return one.section == name; });
    if (!known) return add({.overlay = overlay, .section = name}, key, node);
    for (const auto& [inner, value] : *table) {
      add({.overlay = overlay, .section = name, .key = std::string(inner.str())}, inner, value);
    }
  }

  void add(TomlEntry entry, const toml::key& key, const toml::node& node) {
    entry.value = raw_value(node);
    entry.where = position(path_, key.source().begin);
    entry.excerpt = safe_excerpt(text_, entry.where.line);
    document_.entries.push_back(std::move(entry));
  }

  const std::string& path_;
  std::string_view text_;
  TomlDocument& document_;
};

/// What toml++ says may quote the value.
Error syntax_error(const std::string& path, std::string_view text, const toml::parse_error& problem) {
  Error error{.kind = ErrorKind::config, .code = "invalid_toml"};
  error.where = position(path, problem.source().begin);
  error.message = "this is not TOML";
  error.excerpt = safe_excerpt(text, error.where->line);
  if (may_hold_secret(line_of(text, error.where->line))) {
    error.hints = {"Write the value in quotes, on one line; in double quotes a backslash is written twice."};
  } else {
    error.message += fmt::format(": {}", printable(problem.description()));
  }
  return error;
}

/// The one known place where toml++ loses its way: a name that cannot begin like this.
std::size_t bad_header_line(std::string_view text) {
  for (std::size_t line = 1;; ++line) {
    const auto begin = text.find_first_not_of(" \t");
    const bool header = begin != std::string_view::npos && text[begin] == '[';
    const auto name = header ? text.find_first_not_of("[ \t", begin) : std::string_view::npos;
    if (name != std::string_view::npos) {
      const auto c = static_cast<unsigned char>(text[name]);
      if (std::isalnum(c) == 0 && std::string_view("_-\"']\r\n").find(text[name]) == std::string_view::npos) {
        return line;
      }
    }
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return 0;
    text.remove_prefix(end + 1);
  }
}

Error refused_error(const std::string& path, std::string_view text) {
  Error error{.kind = ErrorKind::config, .code = "invalid_toml", .message = "this is not TOML"};
  error.where = SourcePosition{.file = path, .line = bad_header_line(text)};
  if (error.where->line == 0) return error;
  error.message =
      "this is not TOML: a section's name must be in quotes when it has other characters than letters, "
      "digits, _ and -";
  error.excerpt = safe_excerpt(text, error.where->line);
  return error;
}

}  // namespace

TomlDocument read_toml(const std::string& path, std::string_view text) {
  TomlDocument document;
  try {
    const auto table = toml::parse(text, path);
    Walk(path, text, document).root(table);
  } catch (const toml::parse_error& problem) {
    document.problems.push_back(syntax_error(path, text, problem));
  } catch (const RefusedToml&) {
    document.problems.push_back(refused_error(path, text));
  }
  std::stable_sort(document.entries.begin(), document.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  return document;
}

}  // namespace lockstep::cli
