#pragma once

#include <string>
#include <string_view>

#include "core/error.h"
#include "core/migration.h"
#include "sql/firsts.h"

namespace lockstep {

/// What a text says about one file. What is not understood is a problem, never ignored.
struct DirectivesRead {
  Directives directives = {};
  sql::Firsts<Error> problems = {};
};

/// Reads one comment, "-- lockstep: transaction=off, lock_timeout=2s", and adds to what was read so far.
/// `where` is the place of its first byte.
void read_directive_line(std::string_view comment, const SourcePosition& where, DirectivesRead& read);

/// Reads Flyway's <script>.sql.conf: executeInTransaction, encoding, placeholderReplacement, shouldExecute.
DirectivesRead read_script_config(std::string_view text, const std::string& file);

/// Both sources together; they may not contradict each other. `config_file` is named when they do.
void merge_script_config(const DirectivesRead& config, const std::string& config_file, DirectivesRead& read);

}  // namespace lockstep
