#pragma once

#include <string>
#include <vector>

#include "core/database.h"
#include "core/inventory.h"
#include "db/session.h"

namespace lockstep::db {

/// What schemas hold, and the history table, wherever that is. An object belongs to a schema if pg_depend
/// says so, whatever its kind, and unless it is a member of an extension. The server finds the order in which
/// to drop: everything is dropped with CASCADE, after a look at what that would take along.
class SchemaContents {
 public:
  SchemaContents(Session& session, const SessionFacts& facts, std::vector<std::string> schemas);

  /// Never writes. Throws Failure.
  Inventory read() const;

  /// Drops all or nothing, in one transaction, with its tables locked before `check` sees them. Throws
  /// Failure.
  Inventory drop(Milliseconds lock_timeout, const CheckInventory& check) const;

 private:
  std::vector<Query> queries() const;
  void run(const std::vector<std::string>& statements) const;
  void commit() const;
  Failure not_dropped(const ServerError& error) const;

  Session& session_;
  std::string history_schema_;
  std::string history_table_;
  std::vector<std::string> schemas_;
};

}  // namespace lockstep::db
