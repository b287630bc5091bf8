#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "core/version.h"

namespace lockstep {

enum class MigrationKind { versioned, repeatable, undo, baseline, callback };

/// "versioned", "repeatable", …: as the history table and JSON spell it.
std::string_view to_string(MigrationKind kind);

/// What a file name says. Flyway's rules: V<version>__<description>.sql, U and B likewise,
/// R__<description>.sql, and callbacks as event.sql or event__<description>.sql.
struct MigrationName {
  MigrationKind kind = MigrationKind::versioned;
  std::optional<Version> version = std::nullopt;  ///< absent for repeatables and callbacks
  std::string description = {};                   ///< underscores shown as blanks
  std::string event = {};                         ///< callbacks only: "beforeMigrate"
};

/// Why a name does not parse.
struct NameProblem {
  std::string message;
  std::string hint;
};

/// True for what is meant to be a migration: the name ends in .sql (in either case) and is not hidden by a
/// dot in front.
bool names_migration(std::string_view file_name);

/// Reads the base name of a .sql file (without directories).
std::variant<MigrationName, NameProblem> parse_migration_name(std::string_view file_name);

}  // namespace lockstep
