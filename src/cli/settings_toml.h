#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/settings_keys.h"
#include "core/error.h"

namespace lockstep::cli {

/// One value of lockstep.toml. `section` is empty for a value outside of every section, `key` is empty for a
/// whole section that cannot be one of ours.
struct TomlEntry {
  std::string overlay = {};  ///< "prod" for what stands below [env.prod]
  std::string section = {};
  std::string key = {};
  RawValue value = {};
  SourcePosition where = {};
  std::string excerpt = {};  ///< empty when the line could hold a secret
};

struct TomlDocument {
  std::vector<TomlEntry> entries = {};
  std::vector<std::string> overlays = {};  ///< the names of all [env.<name>]
  std::vector<Error> problems = {};        ///< the text is not TOML
};

/// Reads the text of lockstep.toml without judging names and values.
TomlDocument read_toml(const std::string& path, std::string_view text);

}  // namespace lockstep::cli
