#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/session.h"
#include "sql/target.h"

namespace lockstep::db {

/// Cares for the INVALID indexes around one CREATE INDEX CONCURRENTLY or REINDEX … CONCURRENTLY: a build that
/// fails leaves one behind, under its own name or with _ccnew or _ccold behind it, which costs every write
/// and answers no query, and which IF NOT EXISTS takes for success (PostgreSQL docs, CREATE INDEX, "Building
/// Indexes Concurrently"; REINDEX, "Rebuilding Indexes Concurrently").
///
/// Names are resolved with the session's own search_path, and the indexes are dropped by its current role: as
/// the statement itself would. What is dropped is told as a notice.
class IndexLeftovers {
 public:
  IndexLeftovers(Session& session, sql::Target target);

  /// Drops what earlier tries have left. Waits while another session may still be building it.
  void drop_before();
  /// Drops what this try has left. Never throws: its failure is not the one to report.
  void drop_after_failure() noexcept;
  /// Throws Failure if the index is there and INVALID all the same.
  void require_valid();

 private:
  struct Leftover {
    std::string schema;
    std::string name;
    std::int64_t oid;
    int builder;  ///< the pid of a session that may be building it; 0: none
  };

  std::vector<Leftover> invalid_indexes();
  std::vector<Leftover> leftovers();
  bool is_leftover(const Leftover& index) const;
  void drop(const Leftover& index);

  Session& session_;
  sql::Target target_;
  std::string base_;                 ///< the index's name as the catalog spells it; empty: any of the table
  std::vector<std::int64_t> known_;  ///< INVALID before the statement ran, and not its business
  bool looked_ = false;              ///< known_ is complete
};

}  // namespace lockstep::db
