#pragma once

#include <string>
#include <vector>

#include "core/directives.h"
#include "core/migration.h"
#include "sql/survey.h"

namespace lockstep {

/// How a file is to be run, and why it may not be.
struct Judgement {
  TransactionMode transaction = TransactionMode::on;
  std::string outside_because = {};  ///< as Migration::outside_because
  Directives directives = {};
  /// In the order of the file. Of very many the first ones, and how many more there are.
  std::vector<Error> problems = {};
};

/// What stands beside a script. Both members are empty where there is nothing.
struct ScriptConfig {
  std::string file = {};
  DirectivesRead read = {};
};

/// The files that the places of a survey are in, as problems name them.
struct ScriptFiles {
  std::string script = {};
  std::vector<Include> includes = {};
  sql::Firsts<Error> problems = {};  ///< why others cannot be included
};

/// Begins, ends or splits the transaction that a file runs in.
bool splits_transaction(sql::StatementKind kind);

/// Judges one migration, the files that it includes being part of it:
///
/// Statements that cannot run in a transaction make the whole file run outside of one, if all of its
/// statements are such; a mixture needs transaction=off. One BEGIN … COMMIT around a transactional file is
/// harmless, any other transaction control in it is not; savepoints are. What would release the migration
/// lock, and what only psql understands, is refused always.
Judgement judge_script(const sql::Survey& survey, const ScriptConfig& config, const ScriptFiles& files);

/// The transaction that a callback runs in.
enum class CallbackPlace { of_its_own, within_migration };

/// The same for a callback. It runs in a transaction, always: no journal tells how far it came. Within the
/// migration's it takes the settings of that, and has no transaction control at all.
Judgement judge_callback(const sql::Survey& survey, const ScriptConfig& config, const ScriptFiles& files,
                         CallbackPlace place);

/// The same for a psql command alone: why it is refused and what to write instead.
Error refused_meta_command(const sql::Remark& command, const ScriptFiles& files);

}  // namespace lockstep
