#pragma once

#include <string>
#include <vector>

#include "core/database.h"
#include "db/advisory_lock.h"
#include "db/greeting.h"
#include "db/progress.h"
#include "db/session.h"

namespace lockstep::db {

/// What every row of one run says about the run itself.
struct RunFacts {
  std::string run_id;
  std::string installed_by;
  std::string tool_version;
};

/// The SQL of the history table (docs/history-table.md). Every write carries the fence: it fails unless this
/// backend holds the lock and the highest rank is the expected one.
class HistoryTable {
 public:
  HistoryTable(std::string schema, std::string table, AdvisoryLock lock, RunFacts run);

  Query exists_query() const;
  /// Whether the table has the format of this release.
  Query is_current_query() const;
  Query outline_query() const;
  /// All that a table of this format has of what a row is made of today.
  Query select_query(int format) const;
  std::vector<Query> create_queries(Presence schema) const;

  /// What records a step that ran as a whole; the last one answers with its rank. An undo marks the row of
  /// the migration that it took back, and adds a row of its own that does not count either.
  std::vector<Query> record_queries(const Step& step, std::int64_t expected_rank) const;

  /// Inserts the row of a migration that is done, or begins (`state`).
  Query insert_query(const Migration& migration, std::string_view state, std::int64_t expected_rank) const;
  Query insert_baseline_query(const Version& version, std::string_view description,
                              std::int64_t expected_rank) const;

  /// Updates the row of a migration that began before. Its checksum is the file's once it is applied, before
  /// that the digest of what is done.
  Query progress_query(std::int64_t rank, const Migration& migration, std::string_view state,
                       const Progress& progress) const;
  Query change_query(const RowChange& change, std::int64_t expected_rank) const;

  /// What stands behind a violated fence: whether the lock is held, and the highest rank.
  Query fence_query() const;

  /// The rows of either select, by rank.
  static std::vector<HistoryRow> rows(const PGresult* selected);

 private:
  Query create_schema_query() const;
  std::string or_refuse(const std::string& update) const;

  std::string qualified_;
  std::string schema_;
  std::string table_;
  AdvisoryLock lock_;
  RunFacts run_;
};

}  // namespace lockstep::db
