#include "cli/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <utility>
#include <variant>

#include "cli/settings_keys.h"
#include "cli/settings_placeholders.h"
#include "cli/settings_problems.h"
#include "cli/settings_toml.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

/// One value that one source gives to one key.
struct Assignment {
  const Key* key;
  RawValue value;
  Origin origin;
  std::string called = {};  ///< the key's name as this source spells it
  ErrorKind kind = ErrorKind::config;
  const TomlEntry* entry = nullptr;
};

/// The same for a placeholder.
struct PlaceholderSource {
  std::variant<PlaceholderValue, ValueProblem> parsed;
  Origin origin;
  std::string called = {};
  ErrorKind kind = ErrorKind::config;
  const TomlEntry* entry = nullptr;
};

/// Whether a value counts, or is only checked.
enum class Use { yes, no };

Origin origin_of(const TomlEntry& entry) {
  auto origin = fmt::format("{}:{}", entry.where.file, entry.where.line);
  if (!entry.overlay.empty()) origin += fmt::format(" [env.{}]", entry.overlay);
  return {Source::file, std::move(origin)};
}

PlaceholderSource placeholder_of(const TomlEntry& entry) {
  return {.parsed = parse_placeholder(entry.key, entry.value),
          .origin = origin_of(entry),
          .called = fmt::format("{}.{}", entry.section, printable(entry.key)),
          .entry = &entry};
}

Error problem_of(const Assignment& assignment, const ValueProblem& problem) {
  Error error{.kind = assignment.kind, .code = "invalid_setting"};
  // A connection string is never repeated in an error: it may hold a password.
  error.message = fmt::format("{}: {}", assignment.called, problem.message);
  if (!problem.hint.empty()) error.hints.push_back(problem.hint);
  if (assignment.entry != nullptr) {
    error.where = assignment.entry->where;
    error.excerpt = assignment.entry->excerpt;
  }
  return error;
}

/// Relative paths in lockstep.toml are relative to that file.
std::string beside(const std::string& config_path, const std::string& path) {
  const auto folder = std::filesystem::path(config_path).parent_path();
  return path.empty() ? path : (folder / path).lexically_normal().string();
}

RawValue resolved(const Key& key, RawValue value, const std::string& config_path) {
  if (auto* const text = std::get_if<std::string>(&value)) {
    if (key.type == KeyType::path) *text = beside(config_path, *text);
    // A string is one directory here, commas and all: TOML has arrays for several.
    if (key.type == KeyType::paths) return std::vector<std::string>{beside(config_path, *text)};
  }
  auto* const list = std::get_if<std::vector<std::string>>(&value);
  if (list != nullptr && key.type == KeyType::paths) {
    for (auto& path : *list) path = beside(config_path, path);
  }
  return value;
}

class Loader {
 public:
  explicit Loader(const SettingsSources& sources) : sources_(sources) {}

  LoadedSettings load() {
    if (sources_.config) toml_ = read_toml(sources_.config->path, sources_.config->text);
    loaded_.problems = toml_.problems;
    for (const auto& key : keys()) {
      loaded_.shown.push_back({.key = key.full_name()});
      assign({.key = &key, .value = std::string(key.fallback), .origin = {Source::fallback, "default"}});
    }
    assign_file();
    assign_environment();
    assign_flags();
    for (auto& [name, shown] : placeholders_) loaded_.shown.push_back(std::move(shown));
    return std::move(loaded_);
  }

 private:
  /// Every value is checked, also one that a later source replaces.
  void assign(const Assignment& assignment) {
    const auto parsed = parse_value(*assignment.key, assignment.value);
    if (const auto* const problem = std::get_if<ValueProblem>(&parsed)) {
      loaded_.problems.push_back(problem_of(assignment, *problem));
      return;
    }
    const auto& value = std::get<Value>(parsed);
    assignment.key->store(loaded_.settings, value);
    const auto name = assignment.key->full_name();
    const auto shown = std::find_if(loaded_.shown.begin(), loaded_.shown.end(),
                                    [&](const auto& setting) { return setting.key == name; });
    shown->value = value.text;
    shown->origin = assignment.origin;
  }

  void assign_file() {
    for (const auto& entry : toml_.entries) {
      if (auto error = unknown_entry(entry)) loaded_.problems.push_back(std::move(*error));
    }
    const auto active = sources_.overlay ? sources_.overlay->name : std::string{};
    const auto is_base = [](const TomlEntry& entry) { return entry.overlay.empty(); };
    for (const auto& entry : toml_.entries) {
      if (is_base(entry)) assign_entry(entry);
    }
    for (const auto& entry : toml_.entries) {
      if (is_base(entry)) continue;
      entry.overlay == active ? assign_entry(entry) : check_entry(entry);
    }
    if (!sources_.overlay || !toml_.problems.empty()) return;
    if (std::find(toml_.overlays.begin(), toml_.overlays.end(), active) == toml_.overlays.end()) {
      loaded_.problems.push_back(unknown_overlay(*sources_.overlay, sources_.config, toml_.overlays));
    }
  }

  /// Of a placeholder. Nothing is done where the source is not in use.
  void assign_placeholder(const PlaceholderSource& source, Use use = Use::yes) {
    if (const auto* const problem = std::get_if<ValueProblem>(&source.parsed)) {
      const Assignment named{.key = nullptr,
                             .value = {},
                             .origin = source.origin,
                             .called = source.called,
                             .kind = source.kind,
                             .entry = source.entry};
      loaded_.problems.push_back(problem_of(named, *problem));
      return;
    }
    if (use == Use::no) return;
    const auto& [name, value] = std::get<PlaceholderValue>(source.parsed);
    loaded_.settings.placeholders.values[name] = value;
    placeholders_[name] = {fmt::format("{}.{}", placeholder_section, name), value, source.origin};
  }

  void assign_entry(const TomlEntry& entry) {
    if (entry.section == placeholder_section) return assign_placeholder(placeholder_of(entry));
    if (const auto assignment = assignment_of(entry)) assign(*assignment);
  }

  /// An overlay that is not in use.
  void check_entry(const TomlEntry& entry) {
    if (entry.section == placeholder_section) return assign_placeholder(placeholder_of(entry), Use::no);
    const auto assignment = assignment_of(entry);
    if (!assignment) return;
    const auto parsed = parse_value(*assignment->key, assignment->value);
    if (const auto* const problem = std::get_if<ValueProblem>(&parsed)) {
      loaded_.problems.push_back(problem_of(*assignment, *problem));
    }
  }

  std::optional<Assignment> assignment_of(const TomlEntry& entry) const {
    const auto* const key = find_key(entry.section, entry.key);
    if (key == nullptr) return std::nullopt;
    return Assignment{.key = key,
                      .value = resolved(*key, entry.value, entry.where.file),
                      .origin = origin_of(entry),
                      .called = key->full_name(),
                      .entry = &entry};
  }

  void assign_environment() {
    assign_variable(*find_key("database.url"), "DATABASE_URL");
    for (const auto& key : keys()) assign_variable(key, key.variable());
    assign_variable(*find_key("database.url"), "LOCKSTEP_URL");
    for (const auto& [variable, value] : sources_.environment) {
      const auto name = placeholder_of_variable(variable);
      if (name.empty() || value.empty()) continue;
      assign_placeholder({parse_placeholder(name, value), {Source::environment, variable}, variable});
    }
    for (auto& error : unknown_variables(sources_.environment)) {
      loaded_.problems.push_back(std::move(error));
    }
  }

  void assign_variable(const Key& key, const std::string& name) {
    const auto value = variable(sources_.environment, name);
    if (value) assign({.key = &key, .value = *value, .origin = {Source::environment, name}, .called = name});
  }

  void assign_flags() {
    for (const auto& flag : sources_.flags) {
      if (flag.key == placeholder_section) {
        assign_placeholders(flag);
        continue;
      }
      const auto* const key = find_key(flag.key);
      RawValue value = flag.values;
      if (key->type != KeyType::paths) value = flag.values.empty() ? "true" : flag.values.back();
      assign({.key = key,
              .value = std::move(value),
              .origin = {Source::flag, flag.flag},
              .called = flag.flag,
              .kind = ErrorKind::usage});
    }
  }

  void assign_placeholders(const FlagValue& flag) {
    for (const auto& value : flag.values) {
      assign_placeholder({parse_assignment(value), {Source::flag, flag.flag}, flag.flag, ErrorKind::usage});
    }
  }

  const SettingsSources& sources_;
  std::map<std::string, ShownSetting> placeholders_;
  TomlDocument toml_;
  LoadedSettings loaded_;
};

}  // namespace

LoadedSettings load_settings(const SettingsSources& sources) {
  return Loader(sources).load();
}

std::optional<std::string> variable(const Environment& environment, std::string_view name) {
  const auto found = environment.find(name);
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

bool has_libpq_target(const Environment& environment) {
  constexpr std::array names{"PGHOST", "PGDATABASE", "PGSERVICE"};
  return std::any_of(names.begin(), names.end(),
                     [&](const auto* name) { return variable(environment, name).has_value(); });
}

}  // namespace lockstep::cli
