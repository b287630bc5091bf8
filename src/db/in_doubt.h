#pragma once

#include "db/session.h"
#include "sql/target.h"

namespace lockstep::db {

/// What became of a statement that was running when its connection was lost.
enum class Fate { done, not_done, unknown };

/// Asks the catalog, with the session's own search_path, as the statement itself would resolve its names. A
/// partition whose detaching was begun is detached to the end (PostgreSQL docs, ALTER TABLE, DETACH PARTITION
/// … FINALIZE). Only while the migration lock proves that the statement is not running any more.
Fate fate_of(Session& session, const sql::Target& target);

}  // namespace lockstep::db
