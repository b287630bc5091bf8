#include "core/callbacks.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>

#include "core/migrate.h"
#include "support/fake_database.h"
#include "support/recording_reporter.h"

namespace lockstep::test {
namespace {

using Log = std::vector<std::string>;

const Error failure_of_sql = {
    .kind = ErrorKind::migration, .message = "division by zero", .sqlstate = "22012"};
const Error lock_timeout = {
    .kind = ErrorKind::migration, .message = "canceling statement", .sqlstate = "55P03"};

/// Two migrations with a callback for every event of migrate.
struct Run {
  Run() {
    for (const auto* script : {"V1__a.sql", "V2__b.sql"}) local.migrations.push_back(fake_migration(script));
    keep({"beforeMigrate", "beforeEachMigrate", "afterEachMigrate", "afterEachMigrateError",
          "afterMigrateApplied", "afterMigrate", "afterMigrateError"});
  }

  void keep(std::vector<std::string> events) {
    std::sort(events.begin(), events.end());
    local.callbacks.clear();
    for (const auto& event : events) local.callbacks.push_back(fake_migration(event + ".sql"));
  }

  std::string migrate() {
    FakeDatabase database(server);
    try {
      lockstep::migrate(database, local, options, reporter, result);
    } catch (const Failure& failure) {
      return failure.error().message;
    }
    return "done";
  }

  void all_applied() {
    for (const auto& migration : local.migrations) server.add_applied(migration);
  }

  FakeServer server;
  LocalMigrations local;
  MigrateOptions options;
  RecordingReporter reporter;
  MigrateResult result;
};

}  // namespace

TEST_CASE(
    "callbacks run on the migration session, under the lock, around the run and within each migration") {
  Run run;
  CHECK(run.migrate() == "done");
  CHECK(run.server.log == Log{"history", "try_lock: acquired", "prepare_history",
                              "callback beforeMigrate.sql", "apply V1__a.sql", "  with beforeEachMigrate.sql",
                              "  with afterEachMigrate.sql", "apply V2__b.sql",
                              "  with beforeEachMigrate.sql", "  with afterEachMigrate.sql",
                              "callback afterMigrateApplied.sql", "callback afterMigrate.sql", "unlock"});
  CHECK(run.result.applied.size() == 2);
}

TEST_CASE("beforeMigrate and afterMigrate run with nothing pending, under the lock") {
  Run run;
  run.all_applied();
  CHECK(run.migrate() == "done");
  CHECK(run.server.log == Log{"history", "try_lock: acquired", "callback beforeMigrate.sql",
                              "callback afterMigrate.sql", "unlock"});
}

TEST_CASE("other callbacks do not take a run with nothing pending to the lock") {
  Run run;
  run.keep({"beforeEachMigrate", "afterEachMigrate", "afterMigrateApplied", "afterMigrateError"});
  run.all_applied();
  CHECK(run.migrate() == "done");
  CHECK(run.server.log == Log{"history"});
}

TEST_CASE("a release older than the database runs no callbacks") {
  Run run;
  run.all_applied();
  run.server.add_applied(fake_migration("V3__later.sql"));
  CHECK(run.migrate() == "done");
  CHECK(run.server.log == Log{"history"});
}

TEST_CASE("after a failure the error callbacks run, the migration's first") {
  Run run;
  run.server.failures["V2__b.sql"] = failure_of_sql;
  CHECK(run.migrate() == "division by zero");
  const auto& log = run.server.log;
  CHECK(Log(log.end() - 4, log.end()) == Log{"  with beforeEachMigrate.sql",
                                             "callback afterEachMigrateError.sql",
                                             "callback afterMigrateError.sql", "unlock"});
  CHECK(run.result.applied.size() == 1);
}

TEST_CASE("the failure of an error callback is a warning, and the others still run") {
  Run run;
  run.server.failures["V1__a.sql"] = failure_of_sql;
  run.server.failures["afterEachMigrateError.sql"] = {.kind = ErrorKind::migration,
                                                      .message = "no such table"};
  CHECK(run.migrate() == "division by zero");
  CHECK(std::count(run.reporter.log.begin(), run.reporter.log.end(),
                   "warning afterEachMigrateError.sql failed, too: no such table") == 1);
  CHECK(run.server.callbacks_run == Log{"beforeMigrate.sql", "afterMigrateError.sql"});
}

TEST_CASE("a callback that fails ends the run, and what was applied stays applied") {
  Run run;
  run.server.failures["afterMigrateApplied.sql"] = failure_of_sql;
  CHECK(run.migrate() == "division by zero");
  CHECK(run.result.applied.size() == 2);
  CHECK(run.server.callbacks_run == Log{"beforeMigrate.sql", "afterMigrateError.sql"});

  Run before;
  before.server.failures["beforeMigrate.sql"] = failure_of_sql;
  CHECK(before.migrate() == "division by zero");
  CHECK(before.result.applied.empty());
}

TEST_CASE("a callback that did not get a lock in time is tried again") {
  Run run;
  run.server.failures["beforeMigrate.sql"] = lock_timeout;
  run.server.while_pausing = [&] { run.server.failures.clear(); };
  CHECK(run.migrate() == "done");
  CHECK(std::count(run.server.log.begin(), run.server.log.end(), "callback beforeMigrate.sql") == 2);
  CHECK(std::count(run.reporter.log.begin(), run.reporter.log.end(), "retrying beforeMigrate.sql") == 1);
}

TEST_CASE("a callback within a migration that did not get a lock takes the migration with it") {
  Run run;
  run.server.failures["afterEachMigrate.sql"] = lock_timeout;
  run.server.while_pausing = [&] { run.server.failures.clear(); };
  CHECK(run.migrate() == "done");
  CHECK(std::count(run.server.log.begin(), run.server.log.end(), "apply V1__a.sql") == 2);
  CHECK(run.server.rows.size() == 2);
}

TEST_CASE("every event of Flyway runs or is refused with a reason and a way out") {
  for (const auto* event : {"beforeMigrate", "afterMigrateApplied", "afterEachMigrateError", "beforeEachUndo",
                            "afterUndoError"}) {
    CAPTURE(event);
    CHECK_FALSE(refusal_of_event(event));
  }
  for (const auto* event :
       {"createSchema", "beforeConnect", "afterInfo", "beforeClean", "afterCleanError", "beforeBaseline",
        "afterRepairError", "beforeValidate", "afterEachMigrateStatement", "beforeEachUndoStatement",
        "afterMigrateOperationFinish", "beforeRepeatables", "afterVersioned", "beforeDeploy"}) {
    CAPTURE(event);
    const auto refusal = refusal_of_event(event);
    REQUIRE(refusal);
    CHECK_FALSE(refusal->hint.empty());
  }
}

}  // namespace lockstep::test
