#include "cli/settings_problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "cli/settings_placeholders.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view prefix = "LOCKSTEP_";
/// Variables that are no settings. PG_BIN is where --ephemeral finds the server's programs.
constexpr std::array<std::string_view, 4> other_variables{"URL", "CONFIG", "ENV", "PG_BIN"};

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto near = nearest(word, {candidates.begin(), candidates.end()});
  return near.empty() ? std::string{} : fmt::format("Did you mean \"{}\"?", near);
}

std::vector<std::string> section_names() {
  std::vector<std::string> names;
  for (const auto& key : keys()) {
    if (std::find(names.begin(), names.end(), key.section) == names.end()) names.emplace_back(key.section);
  }
  return names;
}

std::vector<std::string> key_names(std::string_view section) {
  std::vector<std::string> names;
  for (const auto& key : keys()) {
    if (key.section == section) names.emplace_back(key.name);
  }
  return names;
}

Error at_entry(const TomlEntry& entry, std::string code, std::string message, std::string hint) {
  Error error{.kind = ErrorKind::config, .code = std::move(code), .message = std::move(message)};
  error.where = entry.where;
  error.excerpt = entry.excerpt;
  if (!hint.empty()) error.hints.push_back(std::move(hint));
  return error;
}

/// A key that stands outside of every section, where one with this name exists in some section.
std::string hint_for_stray_key(std::string_view name) {
  const auto found =
      std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.name == name; });
  return found == keys().end() ? std::string("Write keys below the [section] that they belong to.")
                               : fmt::format("Write it below [{}].", found->section);
}

Error unknown_section(const TomlEntry& entry) {
  auto names = section_names();
  names.emplace_back(placeholder_section);
  names.emplace_back("env");
  auto hint = did_you_mean(entry.section, names);
  if (hint.empty()) hint = fmt::format("The sections are {}.", fmt::join(names, ", "));
  return at_entry(entry, "unknown_section", fmt::format("unknown section \"{}\"", printable(entry.section)),
                  std::move(hint));
}

Error unknown_key(const TomlEntry& entry) {
  const auto names = key_names(entry.section);
  auto hint = did_you_mean(entry.key, names);
  if (hint.empty()) hint = fmt::format("The keys of [{}] are {}.", entry.section, fmt::join(names, ", "));
  return at_entry(entry, "unknown_setting",
                  fmt::format("unknown key \"{}\" in section \"{}\"", printable(entry.key), entry.section),
                  std::move(hint));
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// `<SERVICE>_PORT_<number>_<protocol>` and the three that begin with it.
bool is_service_port(std::string_view name) {
  const auto at = name.find("_PORT_");
  if (at == std::string_view::npos) return false;
  const auto parts = split(name.substr(at + 6), '_');
  constexpr std::array<std::string_view, 3> protocols{"TCP", "UDP", "SCTP"};
  return parts.size() >= 2 && all_digits(parts[0]) &&
         std::find(protocols.begin(), protocols.end(), parts[1]) != protocols.end();
}

/// The variables that the kubelet sets in every pod for a service whose name begins with "lockstep".
bool is_service_link(std::string_view name, std::string_view value) {
  if (name.find("_SERVICE_HOST") != std::string_view::npos) return true;
  if (name.find("_SERVICE_PORT") != std::string_view::npos) return true;
  return is_service_port(name) || (name.ends_with("_PORT") && value.find("://") != std::string_view::npos);
}

/// Without the prefix, which all have in common.
std::vector<std::string> variable_names() {
  std::vector<std::string> names(other_variables.begin(), other_variables.end());
  for (const auto& key : keys()) names.push_back(key.variable().substr(prefix.size()));
  return names;
}

}  // namespace

std::optional<Error> unknown_entry(const TomlEntry& entry) {
  if (entry.key.empty()) return unknown_section(entry);
  if (entry.section == "env") {
    return at_entry(entry, "unknown_setting", fmt::format("\"{}\" is not a section", printable(entry.key)),
                    fmt::format("Write [env.{}.<section>].", printable(entry.key)));
  }
  if (entry.section.empty()) {
    return at_entry(entry, "unknown_setting", fmt::format("\"{}\" is not in a section", printable(entry.key)),
                    hint_for_stray_key(entry.key));
  }
  if (entry.section == placeholder_section) return std::nullopt;
  if (find_key(entry.section, entry.key) == nullptr) return unknown_key(entry);
  return std::nullopt;
}

std::vector<Error> unknown_variables(const Environment& environment) {
  const auto known = variable_names();
  std::vector<Error> errors;
  for (const auto& [name, value] : environment) {
    if (!name.starts_with(prefix) || is_service_link(name, value)) continue;
    if (!placeholder_of_variable(name).empty()) continue;
    const auto ours = name.substr(prefix.size());
    if (std::find(known.begin(), known.end(), ours) != known.end()) continue;
    const auto near = nearest(ours, {known.begin(), known.end()});
    Error error{.kind = ErrorKind::config, .code = "unknown_variable"};
    error.message = fmt::format("unknown environment variable \"{}\"", printable(name));
    error.hints.push_back(
        near.empty() ? std::string("Variables that begin with LOCKSTEP_ are settings; see lockstep config.")
                     : fmt::format("Did you mean \"{}{}\"?", prefix, near));
    errors.push_back(std::move(error));
  }
  return errors;
}

Error unknown_overlay(const Overlay& overlay, const std::optional<ConfigFile>& config,
                      const std::vector<std::string>& overlays) {
  Error error{.kind = ErrorKind::config, .code = "unknown_env"};
  error.message = fmt::format("there is no environment \"{}\" ({})", printable(overlay.name), overlay.origin);
  if (!config) {
    error.hints = {
        "Environments are sections [env.<name>] of lockstep.toml, and there is no such file here."};
    return error;
  }
  error.where = SourcePosition{.file = config->path};
  auto hint = did_you_mean(overlay.name, overlays);
  if (hint.empty() && !overlays.empty()) {
    hint = fmt::format("The file has {}.", printable(fmt::format("{}", fmt::join(overlays, ", "))));
  }
  if (hint.empty()) hint = fmt::format("Add a section [env.{}.<section>] to it.", printable(overlay.name));
  error.hints.push_back(std::move(hint));
  return error;
}

}  // namespace lockstep::cli
