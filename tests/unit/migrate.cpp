#include "core/migrate.h"

#include <catch2/catch_test_macros.hpp>
#include <new>

#include "core/baseline.h"
#include "core/repair.h"
#include "core/validate.h"
#include "support/fake_database.h"
#include "support/recording_reporter.h"

namespace lockstep::test {
namespace {

using Log = std::vector<std::string>;

struct Run {
  FakeServer server;
  RecordingReporter reporter;
  MigrateResult result;
  std::vector<Migration> files = {fake_migration("V1__a.sql"), fake_migration("V2__b.sql")};
  MigrateOptions options;
  LocalMigrations local;  ///< what the result's plan points into

  void migrate() {
    FakeDatabase database(server);
    local.migrations = files;
    lockstep::migrate(database, local, options, reporter, result);
  }

  Error failure() {
    try {
      migrate();
    } catch (const Failure& failure) {
      return failure.error();
    }
    return {};
  }
};

Holding held_for(Milliseconds duration) {
  return {.holder = LockHolder{.pid = 99}, .remaining = duration};
}

}  // namespace

TEST_CASE("where the memory is not enough for a migration, the error names it") {
  Run run;
  run.server.while_applying = [](const Step& step) {
    if (step.migration.script == "V2__b.sql") throw std::bad_alloc();
  };
  const auto error = run.failure();
  CHECK(error.code == "out_of_memory");
  CHECK(exit_code(error.kind) == 70);
  REQUIRE(error.where);
  CHECK(error.where->file == run.files[1].path);
  CHECK(run.result.applied.size() == 1);
  CHECK(run.server.sessions == 0);
}

TEST_CASE("migrate locks, reads the history again, applies in order, and unlocks") {
  Run run;
  run.migrate();
  CHECK(run.server.log == Log{"history", "try_lock: acquired", "prepare_history", "apply V1__a.sql",
                              "apply V2__b.sql", "unlock"});
  CHECK(run.reporter.log == Log{"planned 2", "started V1__a.sql", "finished V1__a.sql", "started V2__b.sql",
                                "finished V2__b.sql"});
  CHECK(run.result.applied.size() == 2);
}

TEST_CASE(
    "a history of an older format is upgraded under the lock, before the first write, and that is told") {
  Run run;
  run.server.older_format = 1;
  run.files.pop_back();
  run.migrate();
  CHECK(run.server.log ==
        Log{"history", "try_lock: acquired", "prepare_history", "apply V1__a.sql", "unlock"});
  CHECK(run.reporter.log == Log{"planned 1",
                                "note the history table had format 1: it was brought to format 2",
                                "started V1__a.sql", "finished V1__a.sql"});
}

TEST_CASE("nothing pending ends without touching the lock") {
  Run run;
  for (const auto& file : run.files) run.server.add_applied(file);
  run.migrate();
  CHECK(run.server.log == Log{"history"});
  CHECK(run.result.applied.empty());
}

TEST_CASE("files and history that disagree stop the run before the lock") {
  Run run;
  run.server.add_applied(fake_migration("V1__other.sql"));
  CHECK(run.failure().kind == ErrorKind::files);
  CHECK(run.server.log == Log{"history", "history"});
}

TEST_CASE("an edited file is told with all that its history row knows") {
  Run run;
  run.server.add_applied(run.files[0]);
  run.server.rows[0].finished_at = "2026-11-29T17:31:05.123Z";
  run.files[0].checksum = "sha256:edited";
  CHECK(run.failure().detail.find("2026-11-29T17:31:05.123Z") != std::string::npos);
  CHECK(run.server.log == Log{"history", "history"});
}

TEST_CASE("a failed migration is not called finished, ends the run, and frees the lock") {
  Run run;
  run.files.push_back(fake_migration("V3__c.sql"));
  run.server.failures["V2__b.sql"] = {.kind = ErrorKind::migration, .message = "division by zero"};
  CHECK(run.failure().message == "division by zero");
  CHECK(run.reporter.log.back() == "started V2__b.sql");
  CHECK(run.server.log.back() == "unlock");
  CHECK(run.server.lock_owner == nullptr);
  CHECK(run.result.applied.size() == 1);
}

TEST_CASE("an error while the lock is released does not hide the first error") {
  Run run;
  run.server.failures["V1__a.sql"] = {.kind = ErrorKind::migration, .message = "the first"};
  run.server.before_unlock = [] { throw Failure(Error{.message = "the second"}); };
  CHECK(run.failure().message == "the first");
}

TEST_CASE("a waiter leaves without the lock as soon as the winner has applied everything") {
  Run run;
  auto holding = held_for(Milliseconds(700));
  holding.leaves = {fake_row(run.files[0], 1), fake_row(run.files[1], 2)};
  run.server.held_by_others.push_back(holding);
  run.migrate();
  CHECK(run.result.applied.empty());
  CHECK_FALSE(run.result.skipped_busy);
  CHECK(run.result.waited >= Milliseconds(700));
  CHECK(run.reporter.log == Log{"waiting for 99", "planned 0"});
  CHECK(run.server.lock_owner == nullptr);
}

TEST_CASE("a waiter whose winner died applies what is left") {
  Run run;
  auto holding = held_for(Milliseconds(100));
  holding.leaves = {fake_row(run.files[0], 1)};
  run.server.held_by_others.push_back(holding);
  run.migrate();
  REQUIRE(run.result.applied.size() == 1);
  CHECK(run.result.applied[0].migration.script == "V2__b.sql");
}

TEST_CASE("a waiter gives up at its deadline, says who holds the lock, and changes nothing") {
  Run run;
  run.options.lock.at_most = std::chrono::seconds(3);
  run.server.held_by_others.push_back(held_for(std::chrono::hours(1)));
  const auto error = run.failure();
  CHECK(error.kind == ErrorKind::lock_busy);
  CHECK(error.detail.find("pid 99") != std::string::npos);
  CHECK(error.retry_after_ms.has_value());
  CHECK(run.server.waited == std::chrono::seconds(3));
  CHECK(run.server.rows.empty());
}

TEST_CASE("waiting begins with short pauses and never pauses longer than a second") {
  Run run;
  run.options.lock.at_most = std::chrono::minutes(1);
  run.server.held_by_others.push_back(held_for(std::chrono::hours(1)));
  run.failure();
  const auto tries = std::count(run.server.log.begin(), run.server.log.end(), "try_lock: busy");
  CHECK(tries > 60);
  CHECK(tries < 150);
}

TEST_CASE("with on-busy fail or skip there is one try") {
  for (const auto on_busy : {OnBusy::fail, OnBusy::skip}) {
    Run run;
    run.options.lock.on_busy = on_busy;
    run.server.held_by_others.push_back(held_for(std::chrono::hours(1)));
    const auto error = run.failure();
    CHECK(run.server.log == Log{"history", "try_lock: busy"});
    CHECK((error.kind == ErrorKind::lock_busy) == (on_busy == OnBusy::fail));
    CHECK(run.result.skipped_busy == (on_busy == OnBusy::skip));
  }
}

TEST_CASE("notices are told under the migration that caused them") {
  Run run;
  run.server.notices["V1__a.sql"] = {{.severity = "NOTICE", .message = "hello"}};
  run.migrate();
  CHECK(run.reporter.log[2] == "noticed hello");
}

TEST_CASE("validate tells a stopped migration always, a newer database only when strict") {
  const std::vector files{fake_migration("V1__a.sql"), fake_migration("V2__b.sql")};
  auto stopped = fake_row(files[1], 2);
  stopped.state = row_state::failed;
  const auto plan = make_plan(files, {fake_row(files[0], 1), stopped}, {});
  REQUIRE(validate(plan, Strictness::normal).size() == 1);
  CHECK(validate(plan, Strictness::normal)[0].code == "stopped_part_way");
  CHECK(validate(plan, Strictness::normal)[0].detail.empty());

  stopped.state = row_state::running;
  const auto running = make_plan(files, {fake_row(files[0], 1), stopped}, {});
  REQUIRE(validate(running, Strictness::normal).size() == 1);
  CHECK(validate(running, Strictness::normal)[0].code == "running");

  const auto newer = make_plan(
      files, {fake_row(files[0], 1), fake_row(files[1], 2), fake_row(fake_migration("V3__c.sql"), 3)}, {});
  CHECK(validate(newer, Strictness::normal).empty());
  REQUIRE(validate(newer, Strictness::strict).size() == 1);
  CHECK(validate(newer, Strictness::strict)[0].code == "database_newer");
}

TEST_CASE("validate says when it is not known whether the next statement was done") {
  const std::vector files{fake_migration("V1__index.sql")};
  auto row = fake_row(files[0], 1);
  row.state = row_state::running;
  row.statements_done = 1;
  row.intent = "sha256:two";
  const auto problems = validate(make_plan(files, {row}, {}), Strictness::normal);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message == "this migration is running now, or its run has died: 1 statement done");
  CHECK(problems[0].detail ==
        "whether the next one was done is not known; lockstep migrate finds out, or asks");
}

TEST_CASE("a baseline is taken on an empty history only, and twice makes no difference") {
  FakeServer server;
  RecordingReporter reporter;
  FakeDatabase database(server);
  const auto version = *Version::parse("4");
  CHECK(baseline(database, version, "start", {}, reporter) == BaselineOutcome::recorded);
  CHECK(baseline(database, version, "start", {}, reporter) == BaselineOutcome::already_there);
  CHECK_THROWS_AS(baseline(database, *Version::parse("5"), "start", {}, reporter), Failure);
  CHECK(server.rows.size() == 1);
  CHECK(server.lock_owner == nullptr);
}

TEST_CASE("repair takes over edited files, marks missing ones, and makes exactly what was agreed") {
  FakeServer server;
  RecordingReporter reporter;
  FakeDatabase database(server);
  auto edited = fake_migration("V1__a.sql");
  server.add_applied(edited);
  server.add_applied(fake_migration("V2__gone.sql"));
  server.add_applied(fake_migration("V3__c.sql"));
  edited.checksum = "sha256:edited";
  const std::vector files{edited, fake_migration("V3__c.sql")};

  const auto agreed = repair_changes(make_plan(files, database.history(), {}));
  REQUIRE(agreed.size() == 2);

  auto others = agreed;
  others.pop_back();
  CHECK_THROWS_AS(repair(database, files, {}, others, {}, reporter), Failure);
  CHECK(server.rows[0].checksum != "sha256:edited");

  repair(database, files, {}, agreed, {}, reporter);
  CHECK(server.rows[0].checksum == "sha256:edited");
  CHECK(server.rows[1].state == "deleted");
  CHECK(make_plan(files, server.rows, {}).problems.empty());
}

TEST_CASE("repair takes an answer only to a question that is open") {
  using Fate = StatementAnswer::Fate;
  const std::vector files{fake_migration("V7__slow.sql"), fake_migration("R__view.sql")};
  auto row = fake_row(files[0], 1);
  row.state = row_state::running;
  row.statements_done = 2;
  row.checksum = "sha256:two";
  row.intent = "sha256:three";
  auto other = fake_row(files[1], 2);
  other.statements_done = 1;
  other.state = row_state::failed;
  other.intent = "sha256:one";
  const auto plan = make_plan(files, {row, other}, {});
  const auto changes = [&](Fate fate, std::string_view text) {
    return repair_changes(plan, {parse_answer(fate, text)});
  };
  CHECK(changes(Fate::done, "V7:3") ==
        std::vector{
            RowChange{.action = RowChange::Action::statement_done, .rank = 1, .checksum = "sha256:three"}});
  CHECK(changes(Fate::again, "V007.0:3") ==
        std::vector{RowChange{.action = RowChange::Action::statement_again, .rank = 1}});
  CHECK(changes(Fate::again, "R__view.sql:2").front().rank == 2);
  for (const auto* const text : {"V7:2", "V7:4", "V8:3", "7:3", "R__view.sql:1"}) {
    INFO(text);
    CHECK_THROWS_AS(changes(Fate::done, text), Failure);
  }
  for (const auto* const text : {"", "V7", "V7:", "V7:x", "V7:3x", "V7:0", "V7:-1", ":"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_answer(Fate::done, text), Failure);
  }
}

TEST_CASE("repair with no files at all refuses, since then the directory is wrong") {
  const auto plan = make_plan({}, {fake_row(fake_migration("V1__a.sql"), 1)}, {});
  CHECK_THROWS_AS(repair_changes(plan), Failure);
}

TEST_CASE("a migration that lost against other sessions is tried again, as a whole and after a pause") {
  for (const auto* sqlstate : {"55P03", "40P01", "40001"}) {
    Run run;
    run.server.failures["V1__a.sql"] = {
        .kind = ErrorKind::migration, .message = "lost", .sqlstate = sqlstate};
    run.server.while_pausing = [&] { run.server.failures.clear(); };
    run.migrate();
    CHECK(run.server.log == Log{"history", "try_lock: acquired", "prepare_history", "apply V1__a.sql",
                                "pause", "apply V1__a.sql", "apply V2__b.sql", "unlock"});
    CHECK(run.reporter.log[2] == "retrying V1__a.sql");
    CHECK(run.result.applied.size() == 2);
  }
}

TEST_CASE("tries are bounded, and the last error says how often it was tried") {
  Run run;
  run.options.retry.attempts = 3;
  run.server.failures["V1__a.sql"] = {.kind = ErrorKind::migration, .message = "lost", .sqlstate = "55P03"};
  const auto error = run.failure();
  CHECK(std::count(run.server.log.begin(), run.server.log.end(), "apply V1__a.sql") == 3);
  CHECK(error.hints.back().find("3 times") != std::string::npos);
  CHECK(run.server.log.back() == "unlock");
}

TEST_CASE("other errors, and files outside a transaction, are not tried again") {
  Run run;
  run.server.failures["V1__a.sql"] = {.kind = ErrorKind::migration, .message = "wrong", .sqlstate = "42601"};
  run.failure();
  CHECK(std::count(run.server.log.begin(), run.server.log.end(), "apply V1__a.sql") == 1);

  Run outside;
  outside.files[0].transaction = TransactionMode::off;
  outside.server.failures["V1__a.sql"] = {
      .kind = ErrorKind::migration, .message = "lost", .sqlstate = "55P03"};
  outside.failure();
  CHECK(std::count(outside.server.log.begin(), outside.server.log.end(), "apply V1__a.sql") == 1);
}

}  // namespace lockstep::test
