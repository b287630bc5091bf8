#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/migrate.h"
#include "core/session_options.h"
#include "sql/placeholders.h"

namespace lockstep::cli {

enum class OutputFormat { text, json };
enum class LogFormat { text, json };
enum class ProgressMode { detect, plain, none };
enum class ColorMode { detect, always, never };

using Environment = std::map<std::string, std::string, std::less<>>;

/// Every setting, settled. The defaults are in the table of keys (settings_keys.cpp) and nowhere else.
struct Settings {
  std::string url = {};  ///< whatever libpq takes; empty: libpq's own environment variables
  std::string password_file = {};
  std::string role = {};
  std::string search_path = {};
  Milliseconds wait_for_db{};
  PoolerPolicy pooler{};
  std::vector<std::string> dirs = {};
  sql::Placeholders placeholders = {};
  OutOfOrder out_of_order{};
  Milliseconds lock_timeout{};
  int lock_attempts = 10;
  bool undo_enabled = false;
  bool clean_enabled = false;
  std::vector<std::string> clean_schemas = {};  ///< empty: the history's
  std::string history_schema = {};
  std::string history_table = {};
  std::int32_t lock_namespace{};
  std::optional<std::int32_t> lock_resource = {};
  Milliseconds lock_wait{};
  OnBusy on_busy{};
  OutputFormat output{};
  LogFormat log_format{};
  ProgressMode progress{};
  ColorMode color{};
};

/// Where a value came from; later sources win.
enum class Source { fallback, file, environment, flag };

struct Origin {
  Source source = Source::fallback;
  std::string text = {};  ///< "default", "lockstep.toml:3 [env.prod]", "LOCKSTEP_LOCK_WAIT", "--lock-wait"
};

/// A setting as `lockstep config` shows it. The value may hold a secret.
struct ShownSetting {
  std::string key = {};  ///< "lock.wait"
  std::string value = {};
  Origin origin = {};
};

/// A value given on the command line, for the key it sets.
struct FlagValue {
  std::string key = {};   ///< "lock.wait"
  std::string flag = {};  ///< "--lock-wait"
  std::vector<std::string> values = {};
};

struct ConfigFile {
  std::string path = {};
  std::string text = {};
};

/// The name of the [env.<name>] overlay in use, and what chose it.
struct Overlay {
  std::string name = {};
  std::string origin = {};  ///< "--env" or "LOCKSTEP_ENV"
};

/// All that settings are made of, as texts.
struct SettingsSources {
  std::vector<FlagValue> flags = {};
  Environment environment = {};
  std::optional<ConfigFile> config = std::nullopt;
  std::optional<Overlay> overlay = std::nullopt;
};

struct LoadedSettings {
  Settings settings = {};
  std::vector<ShownSetting> shown = {};  ///< in the order of the table of keys, then the placeholders
  std::vector<Error> problems = {};      ///< all of them; with problems the settings must not be used
};

/// Settles every setting: flag, then environment, then lockstep.toml with its overlay, then default. Pure.
LoadedSettings load_settings(const SettingsSources& sources);

/// True when libpq's own variables say which database is meant.
bool has_libpq_target(const Environment& environment);

/// The value of a variable; absent when it is unset or empty.
std::optional<std::string> variable(const Environment& environment, std::string_view name);

}  // namespace lockstep::cli
