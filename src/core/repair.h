#pragma once

#include <vector>

#include "core/database.h"
#include "core/lock.h"
#include "core/plan.h"

namespace lockstep {

/// What repair would change: rows of edited or renamed files take the file's values, rows of missing files
/// are marked as deleted. Throws Failure if no files were found at all, since then the location is wrong, not
/// the history.
std::vector<RowChange> repair_changes(const Plan& plan);

/// Makes exactly the `agreed` changes, under the lock. Throws Failure if by now the history asks for others.
void repair(Database& database, const std::vector<Migration>& files, const std::vector<RowChange>& agreed,
            const LockPolicy& policy, Reporter& reporter);

}  // namespace lockstep
