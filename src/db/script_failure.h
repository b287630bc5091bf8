#pragma once

#include <optional>

#include "core/migration.h"
#include "db/script_sender.h"
#include "db/session.h"

namespace lockstep::db {

/// The failures of a migration file, with their place in it and what to do.
Failure statement_failed(const Session& session, const Migration& migration, const ServerError& error,
                         const std::optional<sql::Place>& place, const sql::Place& copy_start,
                         const OpenScript& open);
/// The same of a callback, by what became of the migration that it ran for.
Failure within_migration(const Failure& failure, const Migration& callback, const Migration& migration);
Failure commit_failed(const Session& session, const Migration& migration, const ServerError& error);
/// All of it ran, or the part that is recorded, but its row could not be written.
Failure not_recorded(const Migration& migration, const ServerError& error);
/// In doubt as after COMMIT, of a file outside a transaction, whose progress the history knows.
Failure progress_in_doubt(const Migration& migration);
/// The connection was lost before anything of the file was sent.
Failure cannot_begin(const Migration& migration);
Failure file_changed(const Migration& migration);
/// One that is not rolled back as a whole.
Failure changed_while_running(const Migration& migration);
Failure transaction_ended(const Migration& migration);

/// The file of a non-transactional migration ended inside a transaction that it had begun.
Failure transaction_left_open(const Migration& migration);
/// A file outside a transaction that does not begin any more with the statements that are done.
Failure done_part_changed(const Migration& migration, std::size_t done);
/// The same file, when it asks for a transaction now.
Failure done_outside_transaction(const Migration& migration, std::size_t done);

/// Why it is not known what became of a statement that was running when an earlier run ended.
enum class Doubt {
  cannot_tell,  ///< the catalog does not show it
  changed,      ///< the file has another statement there now
  taken_out,    ///< the file has none there any more
};
/// Only a person can say whether statement `number`, counted from 1, was done.
Failure statement_in_doubt(const Migration& migration, const sql::Place& place, std::size_t number,
                           Doubt doubt, const OpenScript& open);

Failure unreadable(const Migration& migration, const sql::Problem& problem);

/// What the fence found: the lock is gone, or somebody else has written to the history.
Failure lock_lost(const Migration& migration);
Failure history_moved(const Migration& migration, std::int64_t expected_rank, std::int64_t actual_rank);

}  // namespace lockstep::db
