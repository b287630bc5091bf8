#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/settings.h"
#include "cli/settings_toml.h"

namespace lockstep::cli {

/// The error for an entry whose section or key does not exist; absent when both do.
std::optional<Error> unknown_entry(const TomlEntry& entry);

/// Variables that begin with LOCKSTEP_ and mean nothing, in the order of their names. Those that Kubernetes
/// sets for a service called lockstep are not ours and not errors.
std::vector<Error> unknown_variables(const Environment& environment);

/// The error for an overlay that lockstep.toml does not have.
Error unknown_overlay(const Overlay& overlay, const std::optional<ConfigFile>& config,
                      const std::vector<std::string>& overlays);

}  // namespace lockstep::cli
