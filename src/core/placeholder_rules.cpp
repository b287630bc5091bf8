#include "core/placeholder_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "core/checksum.h"
#include "core/text.h"

namespace lockstep {
namespace {

constexpr std::size_t digest_size = 16;
constexpr std::string_view of_flyway = "flyway";

/// What stands for a placeholder that Flyway fills in itself.
struct BuiltIn {
  std::string_view name;
  std::string_view instead;
};

constexpr BuiltIn built_in[] = {
    {"defaultschema",
     "Write current_schema() where a value is meant; a name without schema lies there anyway."},
    {"user", "Write current_user."},
    {"database", "Write current_database() where a value is meant."},
    {"timestamp", "Write now(); a repeatable migration runs again when its file changes."},
    {"table", "Write the name of the history table, lockstep_history unless it is configured."},
};

std::string between_marks(std::string_view name, const sql::Placeholders& declared) {
  return fmt::format("{}{}{}", declared.prefix, name, declared.suffix);
}

std::string instead_of(std::string_view written, const sql::Placeholders& declared) {
  auto name = written.substr(declared.prefix.size(),
                             written.size() - declared.prefix.size() - declared.suffix.size());
  name.remove_prefix(of_flyway.size() + 1);
  const auto lower = sql::lower_case(name);
  const auto* const found = std::find_if(std::begin(built_in), std::end(built_in),
                                         [&](const BuiltIn& one) { return one.name == lower; });
  if (found != std::end(built_in)) return std::string(found->instead);
  return fmt::format("Declare a placeholder of your own for it, such as {}.", between_marks(name, declared));
}

std::string variable_of(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return "LOCKSTEP_PLACEHOLDERS_" + upper;
}

/// A variable's name has no dots and hyphens.
std::string how_to_declare(std::string_view name) {
  const bool has_variable = name.find_first_of(".-") == std::string_view::npos;
  return fmt::format("Give it a value: --set {}=…, {}or [placeholders] in lockstep.toml.", name,
                     has_variable ? variable_of(name) + "=… " : std::string{});
}

std::vector<std::string> hints_for(const sql::Placeholder& placeholder, const sql::Placeholders& declared) {
  std::vector<std::string> hints;
  std::vector<std::string_view> names;
  for (const auto& [name, value] : declared.values) names.push_back(name);
  const auto meant = nearest(sql::lower_case(placeholder.name), names);
  if (!meant.empty()) hints.push_back(fmt::format("Did you mean {}?", between_marks(meant, declared)));
  hints.push_back(how_to_declare(placeholder.name));
  hints.push_back(
      fmt::format("If the text is meant as it stands, write ${} in a string, or begin the file with: "
                  "-- lockstep: placeholders=off",
                  printable(placeholder.written)));
  return hints;
}

}  // namespace

Error undefined_placeholder(const sql::Placeholder& placeholder, const sql::Placeholders& declared,
                            const ScriptFiles& files) {
  Error error{.kind = ErrorKind::files, .code = "placeholder_undefined"};
  set_place(error, placeholder.place, files.script, files.includes);
  const auto written = printable(placeholder.written);
  if (sql::lower_case(placeholder.name) == of_flyway && placeholder.written.find(':') != std::string::npos) {
    error.code = "placeholder_unsupported";
    error.message = fmt::format("{} is a placeholder that only Flyway fills in", written);
    error.hints = {instead_of(placeholder.written, declared)};
    return error;
  }
  error.message = fmt::format("the placeholder {} has no value", written);
  error.hints = hints_for(placeholder, declared);
  return error;
}

std::string placeholder_digest(const std::set<std::string>& names, const sql::Placeholders& declared) {
  if (names.empty()) return {};
  std::string text;
  for (const auto& name : names) {
    const auto& value = *declared.find(name);
    text += fmt::format("{}={}:{}\n", name, value.size(), value);
  }
  const auto digest = checksum(text);
  return digest.substr(digest.find(':') + 1, digest_size);
}

}  // namespace lockstep
