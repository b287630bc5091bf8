#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/source.h"

namespace lockstep::sql {

/// An argument of a psql command.
struct MetaArgument {
  std::string text;     ///< without single quotes; double quotes belong to it
  bool quoted = false;  ///< some of it stood in quotes

  friend bool operator==(const MetaArgument&, const MetaArgument&) = default;
};

struct MetaArguments {
  std::vector<MetaArgument> values = {};
  /// Why they cannot be read: a quote that is not closed, or what only psql could replace. Without a place.
  std::optional<Problem> problem = std::nullopt;
};

/// What becomes of semicolons outside of quotes at the end of an argument: psql drops them where an argument
/// is the name of a file to include.
enum class Semicolons { kept, dropped };

/// Reads arguments as psql does (psqlscanslash.l): blanks separate them, single quotes take blanks in, and
/// within these '' is a quote and a backslash begins an escape.
MetaArguments read_meta_arguments(std::string_view text, Semicolons semicolons = Semicolons::kept);

}  // namespace lockstep::sql
