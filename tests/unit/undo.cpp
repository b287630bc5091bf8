#include "core/undo.h"

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <initializer_list>

#include "support/fake_database.h"
#include "support/recording_reporter.h"

namespace lockstep::test {
namespace {

using Log = std::vector<std::string>;

/// Versions 1 to 3 are applied; 2 and 3 have U files.
struct Run {
  Run() {
    for (const auto& file : files) {
      if (file.name.kind == MigrationKind::versioned) server.add_applied(file);
    }
  }

  void undo() {
    FakeDatabase database(server);
    local.migrations = files;
    lockstep::undo(database, local, options, reporter, result);
  }

  Error failure() {
    try {
      undo();
    } catch (const Failure& failure) {
      return failure.error();
    }
    return {};
  }

  /// "1 applied, 2 undone": every row of the history.
  std::string history() const {
    std::string text;
    for (const auto& row : server.rows)
      text += (text.empty() ? "" : ", ") + row.version->text() + " " + row.state;
    return text;
  }

  Migration& file(std::string_view script) {
    return *std::find_if(files.begin(), files.end(), [&](const auto& one) { return one.script == script; });
  }

  FakeServer server = {};
  RecordingReporter reporter = {};
  MigrateResult result = {};
  std::vector<Migration> files = {fake_migration("V1__a.sql"), fake_migration("V2__b.sql"),
                                  fake_migration("V3__c.sql"), fake_migration("U2__b.sql"),
                                  fake_migration("U3__c.sql")};
  UndoOptions options = {};
  LocalMigrations local;  ///< what the result's plan points into
};

std::string scripts(const Plan& plan) {
  std::string text;
  for (const auto& step : plan.steps) text += (text.empty() ? "" : " ") + step.migration.script;
  return text;
}

std::string codes(const Plan& plan) {
  std::string text;
  for (const auto& problem : plan.problems) text += (text.empty() ? "" : " ") + problem.code;
  return text;
}

}  // namespace

TEST_CASE("undo takes back the newest version alone, behind the lock") {
  Run run;
  run.undo();
  CHECK(run.server.log ==
        Log{"history", "try_lock: acquired", "prepare_history", "apply U3__c.sql", "unlock"});
  CHECK(run.reporter.log == Log{"planned 1", "started U3__c.sql", "finished U3__c.sql"});
  CHECK(run.history() == "1 applied, 2 applied, 3 undone, 3 undone");
  CHECK(run.result.applied.size() == 1);
}

TEST_CASE("undo with a target takes back every version above it, the newest first") {
  Run run;
  run.options.target = Version::parse("1");
  run.undo();
  CHECK(scripts(run.result.plan) == "U3__c.sql U2__b.sql");
  CHECK(run.history() == "1 applied, 2 undone, 3 undone, 3 undone, 2 undone");
}

TEST_CASE("undo goes by version, not by the order in which the versions were applied") {
  Run run;
  std::swap(run.server.rows[1].version, run.server.rows[2].version);
  std::swap(run.server.rows[1].script, run.server.rows[2].script);
  CHECK(scripts(make_undo_plan(run.files, run.server.rows, Version::parse("1"))) == "U3__c.sql U2__b.sql");
}

TEST_CASE("what is undone is pending again and can be applied and undone anew") {
  Run run;
  run.undo();
  CHECK(make_plan(run.files, run.server.rows, {}).steps.size() == 1);
  run.server.add_applied(run.file("V3__c.sql"));
  run.undo();
  CHECK(run.history() == "1 applied, 2 applied, 3 undone, 3 undone, 3 undone, 3 undone");
}

TEST_CASE("a missing U file is named before anything runs") {
  Run run;
  run.options.target = Version::parse("0");
  const auto error = run.failure();
  CHECK(error.kind == ErrorKind::files);
  CHECK(error.code == "undo_missing");
  CHECK(error.message == "version 1 cannot be undone: there is no file U1__….sql for it");
  CHECK(run.server.log == Log{"history"});
}

TEST_CASE("every problem of an undo is reported") {
  Run run;
  run.server.rows[2].state = row_state::failed;
  run.file("U2__b.sql").transaction = TransactionMode::off;
  run.file("U2__b.sql").outside_because = "VACUUM in line 3 cannot run in one";
  const auto plan = make_undo_plan(run.files, run.server.rows, Version::parse("0"));
  CHECK(codes(plan) == "stopped_part_way undo_outside_transaction undo_missing");
  CHECK(plan.problems[1].message ==
        "an undo and its record must be one transaction, but this file runs outside of one: VACUUM in line 3 "
        "cannot run in one");
  CHECK(plan.problems[1].where->file == "migrations/U2__b.sql");
}

TEST_CASE("nothing below a baseline is undone") {
  Run run;
  run.server.rows[0].kind = to_string(MigrationKind::baseline);
  CHECK(codes(make_undo_plan(run.files, run.server.rows, Version::parse("0"))) == "below_baseline");
  CHECK(scripts(make_undo_plan(run.files, run.server.rows, Version::parse("1"))) == "U3__c.sql U2__b.sql");
  run.server.rows.resize(1);
  const auto plan = make_undo_plan(run.files, run.server.rows, std::nullopt);
  CHECK(plan.steps.empty());
  CHECK(plan.problems.empty());
}

TEST_CASE("an edited or removed migration file does not stand in the way of its undo") {
  Run run;
  run.server.rows[2].checksum = "sha256:older";
  run.files.erase(run.files.begin());
  CHECK(scripts(make_undo_plan(run.files, run.server.rows, std::nullopt)) == "U3__c.sql");
}

TEST_CASE("nothing to undo ends without touching the lock") {
  Run run;
  run.options.target = Version::parse("3");
  run.undo();
  CHECK(run.server.log == Log{"history"});
}

TEST_CASE("an undo without a target that another run has done already takes back no more") {
  Run run;
  auto undone = run.server.rows[2];
  undone.state = row_state::undone;
  run.server.held_by_others = {
      {.holder = LockHolder{.pid = 99}, .remaining = Milliseconds{40}, .leaves = {undone}}};
  run.undo();
  CHECK(run.result.applied.empty());
  CHECK(run.result.waited == Milliseconds{40});
  CHECK(run.history() == "1 applied, 2 applied, 3 undone");
  CHECK(run.server.lock_owner == nullptr);
}

TEST_CASE("an undo without a target stops when another run has applied a newer version") {
  Run run;
  auto newer = fake_row(fake_migration("V4__d.sql"), 4);
  run.files.push_back(fake_migration("U4__d.sql"));
  run.server.held_by_others = {
      {.holder = LockHolder{.pid = 99}, .remaining = Milliseconds{40}, .leaves = {newer}}};
  CHECK(run.failure().code == "history_changed");
  CHECK(run.history() == "1 applied, 2 applied, 3 applied, 4 applied");
  CHECK(run.server.lock_owner == nullptr);
}

TEST_CASE("an undo that loses against other sessions is tried again") {
  Run run;
  run.server.failures["U3__c.sql"] = {.kind = ErrorKind::migration, .sqlstate = "55P03"};
  run.server.while_pausing = [&] { run.server.failures.clear(); };
  run.undo();
  CHECK(run.server.log == Log{"history", "try_lock: acquired", "prepare_history", "apply U3__c.sql", "pause",
                              "apply U3__c.sql", "unlock"});
}

TEST_CASE("where on-busy says skip, undo fails at once") {
  Run run;
  run.options.lock.on_busy = OnBusy::skip;
  run.server.held_by_others = {{.holder = LockHolder{.pid = 99}, .remaining = Milliseconds{40}}};
  CHECK(run.failure().kind == ErrorKind::lock_busy);
}

}  // namespace lockstep::test
