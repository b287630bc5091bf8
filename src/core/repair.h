#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/database.h"
#include "core/lock.h"
#include "core/plan.h"

namespace lockstep {

/// What a person says of a statement whose fate nobody else knows: it was running when a run died.
struct StatementAnswer {
  enum class Fate { done, again };
  Fate fate;
  std::string name;     ///< of the migration: "V7", or the file's name
  std::int64_t number;  ///< of the statement in the file, from 1
};

/// Takes "V7:3" or "R__name.sql:3" apart. Throws Failure (usage).
StatementAnswer parse_answer(StatementAnswer::Fate fate, std::string_view text);

/// What repair would change: rows of edited or renamed files take the file's values, rows of missing files
/// are marked as deleted. With answers: only the rows that they are about. Throws Failure if no files were
/// found at all, since then the location is wrong, not the history; and for an answer to a question that is
/// not open.
std::vector<RowChange> repair_changes(const Plan& plan, const std::vector<StatementAnswer>& answers = {});

/// Makes exactly the `agreed` changes, under the lock. Throws Failure if by now the history asks for others.
void repair(Database& database, const std::vector<Migration>& files,
            const std::vector<StatementAnswer>& answers, const std::vector<RowChange>& agreed,
            const LockPolicy& policy, Reporter& reporter);

}  // namespace lockstep
