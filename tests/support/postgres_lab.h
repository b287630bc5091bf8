#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/database.h"
#include "core/session_options.h"
#include "support/test_database.h"

namespace lockstep::test {

/// A fresh database of the shared server, with sessions of the real Database and migration files that exist
/// in memory only.
class PostgresLab {
 public:
  PostgresLab();

  std::unique_ptr<Database> open();
  std::unique_ptr<Database> open(const SessionOptions& options);
  SessionOptions options() const;
  bool has_table() const;

  /// A migration file with this content, as it would be loaded.
  Migration file(std::string_view script, std::string_view sql);
  Migration works(std::string_view script) { return file(script, "select 1;"); }
  Migration fails(std::string_view script) { return file(script, "select 1 / 0;"); }
  Migration mended(const Migration& failing) { return file(failing.script, "select 1;"); }
  Migration drops_lock(std::string_view script) { return file(script, "select pg_advisory_unlock_all();"); }

  void add_table(std::string_view name) const { database_.psql("create table " + std::string(name) + " ()"); }

  const TestDatabase& server() const { return database_; }
  /// What the sessions told.
  const std::vector<std::string>& told() const { return told_; }

 private:
  TestDatabase database_;
  std::map<std::string, std::string, std::less<>> contents_;
  std::vector<std::string> told_;
};

}  // namespace lockstep::test
