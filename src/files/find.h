#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace lockstep::files {

/// A file that is named like a migration, not yet opened.
struct Candidate {
  std::string path;          ///< as it can be opened: the location as given, '/', and the script
  std::size_t script_begin;  ///< where the path relative to the location begins
  bool has_config;           ///< <path>.conf is beside it

  std::string_view script() const { return std::string_view(path).substr(script_begin); }
};

struct Findings {
  std::vector<Candidate> candidates;  ///< those that were reached without links first
  std::vector<Error> problems;
  bool repeats_possible = false;  ///< links were followed: a file may be there twice
};

/// Looks for migrations in the locations and all folders below, except hidden ones. Links are followed, but
/// for those to a folder in which they lie; a folder is visited once, whatever ways lead to it.
Findings find_scripts(const std::vector<std::string>& locations);

}  // namespace lockstep::files
