#pragma once

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"
#include "support/test_database.h"

namespace lockstep::test {

/// Migration files: names and texts.
using Files = std::initializer_list<std::pair<std::string, std::string>>;

/// A directory of migration files.
class MigrationDir {
 public:
  MigrationDir(Files files);
  void write(const std::string& name, const std::string& text) const { dir_.write_file(name, text); }
  std::string path() const { return dir_.string(); }

  /// `lockstep migrate` of these files, and what else is given.
  Command migrate(const std::string& url, std::vector<std::string> more = {}) const;

 private:
  TempDir dir_;
};

/// Starts `count` times the same command before it waits for any.
std::vector<Outcome> run_at_once(int count, const Command& command,
                                 std::chrono::milliseconds deadline = 120s);

/// The versions of the history that count as applied, as psql prints them.
std::string applied_versions(const TestDatabase& database);

/// A table whose lock another session holds: a migration that inserts into it waits there until it is opened.
class Gate {
 public:
  /// The statement for the migration. It waits as long as it must.
  static constexpr const char* knock = "set local lock_timeout = 0; insert into gate default values;";

  explicit Gate(const TestDatabase& database);
  /// Waits until a migration waits at the gate; the pid of its backend.
  int wait_for_knock();
  void open() { holder_.run("rollback;"); }
  /// Adds statements to the gate's own transaction.
  PsqlSession& holder() { return holder_; }

 private:
  const TestDatabase& database_;
  PsqlSession holder_;
};

}  // namespace lockstep::test
