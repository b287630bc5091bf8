#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/settings.h"
#include "cli/settings_keys.h"

using namespace lockstep;
using namespace lockstep::cli;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// A value is shown in a spelling that is read back as the same value.
void check_shown(const LoadedSettings& loaded) {
  Environment environment;
  for (const auto& setting : loaded.shown) {
    if (!setting.value.empty()) environment[find_key(setting.key)->variable()] = setting.value;
  }
  const auto again = load_settings({.environment = environment});
  require(again.problems.empty());
  for (std::size_t at = 0; at < loaded.shown.size(); ++at) {
    if (!loaded.shown[at].value.empty()) require(again.shown[at].value == loaded.shown[at].value);
  }
}

/// A place in the file exists in the file.
void check_places(const LoadedSettings& loaded, std::string_view text) {
  std::size_t lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  for (const auto& problem : loaded.problems) {
    require(!problem.message.empty() && !problem.code.empty());
    if (problem.where) require(problem.where->line <= lines + 1);
    require(!render(problem).empty());
  }
}

}  // namespace

/// The input is a lockstep.toml; its first line is also the value of two variables and a flag.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto line = text.substr(0, text.find('\n'));
  SettingsSources sources{.config = ConfigFile{"lockstep.toml", text}};
  check_places(load_settings(sources), text);

  sources.overlay = Overlay{"prod", "--env"};
  sources.environment = {{"LOCKSTEP_LOCK_WAIT", line}, {"LOCKSTEP_" + line, "x"}};
  sources.flags = {{"lock.on_busy", "--on-busy", {line}}};
  const auto loaded = load_settings(sources);
  check_places(loaded, text);
  if (loaded.problems.empty()) check_shown(loaded);
  return 0;
}
