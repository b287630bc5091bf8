#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <sstream>
#include <string>

#include "support/migrating.h"
#include "support/proxy.h"

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::string outside = "-- lockstep: transaction=off\n";

/// A callback that adds its name to the table `told`, with the transaction it ran in.
std::string tell(const std::string& name) {
  return "insert into told (what) values ('" + name + "');\n";
}

void make_table(const TestDatabase& database) {
  database.psql("create table told (id serial, what text, xid text default txid_current()::text)");
}

std::string told(const TestDatabase& database) {
  return database.psql("select string_agg(what, ' ' order by id) from told");
}

Command undo(const MigrationDir& files, const TestDatabase& database) {
  auto command = lockstep({"undo", "--url", database.url(), "--dir", files.path()});
  command.env["LOCKSTEP_UNDO_ENABLED"] = "true";
  return command;
}

MigrationDir all_events() {
  return MigrationDir({{"beforeMigrate__2.sql", tell("before-2")},
                       {"beforeMigrate.sql", tell("before")},
                       {"beforeEachMigrate.sql", tell("before-each")},
                       {"afterEachMigrate.sql", tell("after-each")},
                       {"afterEachMigrateError.sql", tell("each-error")},
                       {"afterMigrateApplied.sql", tell("applied")},
                       {"afterMigrate.sql", tell("after")},
                       {"afterMigrateError.sql", tell("error")},
                       {"V1__a.sql", tell("V1")},
                       {"V2__b.sql", tell("V2")}});
}

TEST_CASE("callbacks run around the run and around each migration, in the order of their names") {
  const TestDatabase database;
  make_table(database);
  const auto files = all_events();
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(told(database) ==
        "before before-2 before-each V1 after-each before-each V2 after-each applied after");
  CHECK_THAT(outcome.err, ContainsSubstring("beforeMigrate__2.sql … done in"));
  CHECK(database.psql("select count(*) from lockstep_history") == "2");
  CHECK(database.psql("select count(distinct xid) from told") == "6");
  CHECK(database.psql("select statements_done from lockstep_history where version = '1'") == "1");
}

TEST_CASE("with nothing pending beforeMigrate and afterMigrate run, and nothing else does") {
  const TestDatabase database;
  make_table(database);
  const auto files = all_events();
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  database.psql("truncate told");
  const auto outcome = run(files.migrate(database.url()));
  CHECK(outcome.exit_code == 0);
  CHECK(told(database) == "before before-2 after");
  CHECK_THAT(outcome.out, ContainsSubstring("nothing to do"));
}

TEST_CASE("what a callback and the migration do is committed with the history row, or nothing of it") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir files({{"beforeEachMigrate.sql", tell("before-each")},
                            {"V1__a.sql", "create table a ();\n" + tell("V1")},
                            {"afterEachMigrate.sql", tell("after-each") + "\nselect 1 /\n  0;\n"},
                            {"afterEachMigrateError.sql", tell("each-error")},
                            {"afterMigrateError.sql", tell("error")}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("afterEachMigrate.sql:3"));
  CHECK_THAT(outcome.err, ContainsSubstring("afterEachMigrate ran for V1__a.sql: both were rolled back"));
  CHECK(told(database) == "each-error error");
  CHECK(database.psql("select count(*) from lockstep_history") == "0");
  CHECK(database.psql("select to_regclass('a') is null") == "t");

  files.write("afterEachMigrate.sql", tell("after-each"));
  CHECK(run(files.migrate(database.url())).exit_code == 0);
  CHECK(told(database) == "each-error error before-each V1 after-each");
}

TEST_CASE("an error in a migration is told at the migration, however many callbacks travel with it") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir files({{"beforeEachMigrate.sql", tell("before-each")},
                            {"V1__a.sql", "select 1;\nselect nowhere;\n"},
                            {"afterEachMigrate.sql", tell("after-each")}});
  const auto outcome = run(files.migrate(database.url()));
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("V1__a.sql:2:8"));
  CHECK_THAT(outcome.err, !ContainsSubstring("beforeEachMigrate"));
}

TEST_CASE("a callback of its own is rolled back as a whole, and what was applied stays") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir files(
      {{"V1__a.sql", tell("V1")}, {"afterMigrate.sql", tell("after") + "select nowhere;"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("afterMigrate.sql:2:8"));
  CHECK_THAT(outcome.err, ContainsSubstring("what is applied stays applied"));
  CHECK_THAT(outcome.out, ContainsSubstring("applied 1 of 1 migration before the error"));
  CHECK(told(database) == "V1");

  files.write("afterMigrate.sql", tell("after"));
  CHECK(run(files.migrate(database.url())).exit_code == 0);
  CHECK(told(database) == "V1 after");
}

TEST_CASE("an error callback that fails is a warning beside the first error") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "select 1 / 0;"},
                            {"afterEachMigrateError.sql", "select nowhere;"},
                            {"afterMigrateError.sql", "select nobody;"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("warning: afterEachMigrateError.sql failed, too: column"));
  CHECK_THAT(outcome.err, ContainsSubstring("warning: afterMigrateError.sql failed, too: column"));
  CHECK_THAT(outcome.err, ContainsSubstring("error: "));
  CHECK_THAT(outcome.err, ContainsSubstring("division by zero"));
}

TEST_CASE("settings of a callback of its own do not leak, those of an Each callback hold for the migration") {
  const TestDatabase database;
  database.psql("create schema app; create table seen (what text, path text)");
  const std::string look = "insert into public.seen select 'V', current_setting('search_path');";
  const MigrationDir files({{"beforeMigrate.sql", "set search_path = pg_catalog; create temp table t ();"},
                            {"V1__a.sql", look + " create temp table t ();"},
                            {"afterMigrate.sql", look}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  CHECK(database.psql("select string_agg(distinct path, '|') from seen") == "\"$user\", public");

  database.psql("truncate seen");
  files.write("beforeEachMigrate.sql", "set search_path = app;");
  files.write("V2__b.sql", look + " create table b ();");
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(database.psql("select string_agg(path, '|') from seen") == "app|\"$user\", public");
  CHECK(database.psql("select to_regclass('app.b') is not null") == "t");
}

TEST_CASE("a migration that did not get its lock is tried again with its callbacks") {
  const TestDatabase database;
  make_table(database);
  database.psql("create table busy ()");
  const MigrationDir files({{"beforeEachMigrate.sql", tell("before-each")},
                            {"V1__a.sql", "alter table busy add a int;\n" + tell("V1")},
                            {"afterEachMigrate.sql", tell("after-each")}});
  PsqlSession holder(database);
  holder.run("begin; lock table busy;");
  auto command = files.migrate(database.url());
  command.env["LOCKSTEP_MIGRATE_LOCK_TIMEOUT"] = "100ms";
  Running running(command);
  running.wait_for_output("trying again");
  holder.run("rollback;");
  CHECK(running.wait().exit_code == 0);
  CHECK(told(database) == "before-each V1 after-each");
}

TEST_CASE("a callback of its own that did not get its lock is tried again") {
  const TestDatabase database;
  make_table(database);
  database.psql("create table busy ()");
  const MigrationDir files(
      {{"beforeMigrate.sql", tell("before") + "lock table busy;"}, {"V1__a.sql", tell("V1")}});
  PsqlSession holder(database);
  holder.run("begin; lock table busy;");
  auto command = files.migrate(database.url());
  command.env["LOCKSTEP_MIGRATE_LOCK_TIMEOUT"] = "100ms";
  Running running(command);
  running.wait_for_output("beforeMigrate.sql …");
  running.wait_for_output("trying again");
  holder.run("rollback;");
  CHECK(running.wait().exit_code == 0);
  CHECK(told(database) == "before V1");
}

TEST_CASE(
    "a run that is killed in a callback leaves nothing of the callback and its migration, or all of it") {
  const TestDatabase database;
  make_table(database);
  Gate gate(database);
  const MigrationDir files(
      {{"V1__a.sql", tell("V1")}, {"afterEachMigrate.sql", tell("after-each") + Gate::knock}});
  Running running(files.migrate(database.url()));
  gate.wait_for_knock();
  running.signal(SIGKILL);
  running.wait();
  // An older server does not notice; it goes on to the COMMIT that it was sent.
  const bool notices = PgServer::notices_dead_clients();
  if (!notices) gate.open();
  wait_until("the killed run's backend to end", [&] {
    return database.psql("select count(*) from pg_catalog.pg_locks where locktype = 'advisory'") == "0";
  });
  if (notices) gate.open();
  CHECK(told(database) == (notices ? "" : "V1 after-each"));
  CHECK(database.psql("select count(*) from lockstep_history") == (notices ? "0" : "1"));
}

TEST_CASE("an interrupt in a callback rolls it back and is what the run ends with") {
  const TestDatabase database;
  make_table(database);
  Gate gate(database);
  const MigrationDir files({{"V1__a.sql", tell("V1")},
                            {"afterMigrate.sql", tell("after") + Gate::knock},
                            {"afterMigrateError.sql", tell("error")}});
  Running running(files.migrate(database.url()));
  gate.wait_for_knock();
  running.signal(SIGTERM);
  CHECK(running.wait().exit_code == 143);
  CHECK(told(database) == "V1");
}

TEST_CASE("a callback that drops the lock is named and rolled back") {
  const TestDatabase database;
  make_table(database);
  database.psql(
      "create function drop_lock() returns void language plpgsql as 'begin perform "
      "pg_advisory_unlock_all(); end'");
  const MigrationDir files(
      {{"V1__a.sql", tell("V1")}, {"beforeMigrate.sql", tell("before") + "select drop_lock();"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("beforeMigrate.sql: this session lost the migration lock"));
  CHECK(told(database).empty());
}

TEST_CASE("around a file outside a transaction the callbacks commit with its rows") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir files({{"beforeEachMigrate.sql", tell("before-each")},
                            {"V1__a.sql", outside + tell("V1") + "vacuum told;\n"},
                            {"afterEachMigrate.sql", tell("after-each") + "select nowhere;"}});
  const auto failed = run(files.migrate(database.url()));
  INFO(failed.err);
  CHECK(failed.exit_code == 7);
  CHECK_THAT(failed.err, ContainsSubstring("afterEachMigrate.sql:2:8"));
  CHECK_THAT(failed.err, ContainsSubstring("it goes on with the callback"));
  CHECK(told(database) == "before-each V1");
  CHECK(database.psql("select state, statements_done from lockstep_history") == "failed|2");

  files.write("afterEachMigrate.sql", tell("after-each"));
  const auto mended = run(files.migrate(database.url()));
  INFO(mended.err);
  CHECK(mended.exit_code == 0);
  CHECK(told(database) == "before-each V1 before-each after-each");
  CHECK(database.psql("select state, statements_done from lockstep_history") == "applied|2");
}

TEST_CASE("a callback that fails before a file outside a transaction leaves no row of it") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir files({{"beforeEachMigrate.sql", tell("before-each") + "select nowhere;"},
                            {"V1__a.sql", outside + tell("V1")}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("that has not begun"));
  CHECK(told(database).empty());
  CHECK(database.psql("select count(*) from lockstep_history") == "0");
}

TEST_CASE("undo runs its own callbacks") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir files({{"V1__a.sql", tell("V1")},
                            {"U1__a.sql", tell("U1")},
                            {"beforeUndo.sql", tell("before")},
                            {"beforeEachUndo.sql", tell("before-each")},
                            {"afterEachUndo.sql", tell("after-each")},
                            {"afterUndo.sql", tell("after")}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  const auto outcome = run(undo(files, database));
  INFO(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(told(database) == "V1 before before-each U1 after-each after");
  REQUIRE(run(undo(files, database)).exit_code == 0);
  CHECK(told(database) == "V1 before before-each U1 after-each after");
}

TEST_CASE("a failed afterUndo does not send people to undo the next version") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table a ();"},
                            {"U1__a.sql", "drop table a;"},
                            {"afterUndo.sql", "select nowhere;"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  const auto outcome = run(undo(files, database));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("what is undone stays undone. Run it by hand"));
  CHECK_THAT(outcome.err, !ContainsSubstring("again"));
}

TEST_CASE("a callback that includes files is told of at its place in the included one") {
  const TestDatabase database;
  const MigrationDir files({{"afterMigrate.sql", "\\ir parts/grants.sql\n"},
                            {"parts/grants.sql", "select 1;\nselect nowhere;\n"},
                            {"V1__a.sql", "select 1;"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("parts/grants.sql:2:8"));
}

TEST_CASE("COPY data of a callback is streamed, and a bad row is told at its line") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir files({{"beforeEachMigrate.sql", "copy told (what) from stdin;\none\n\\.\n"},
                            {"V1__a.sql", "copy told (what) from stdin;\ntwo\n\\.\n"},
                            {"afterEachMigrate.sql", "select 1;\ncopy told (id) from stdin;\n7\nx\n\\.\n"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("afterEachMigrate.sql:4"));
  files.write("afterEachMigrate.sql", "copy told (what) from stdin;\nthree\n\\.\n");
  CHECK(run(files.migrate(database.url())).exit_code == 0);
  CHECK(told(database) == "one two three");
}

TEST_CASE("callbacks within a migration cost no round trip, one of its own costs one") {
  const TestDatabase database;
  make_table(database);
  Proxy proxy(database.server(),
              {.transport = Transport::unix_socket, .delay = std::chrono::milliseconds(20)});
  const MigrationDir files({{"beforeEachMigrate.sql", tell("before-each")},
                            {"afterEachMigrate.sql", tell("after-each")},
                            {"afterMigrateApplied.sql", tell("applied")},
                            {"V1__a.sql", tell("V1")},
                            {"V2__b.sql", tell("V2")}});
  const auto migrate = unprobed(files.migrate(proxy.url(database.name())));
  REQUIRE(run(migrate).exit_code == 0);
  CHECK(proxy.round_trips() <= 4 + 2 + 1);

  proxy.reset();
  REQUIRE(run(migrate).exit_code == 0);
  CHECK(proxy.round_trips() <= 2);
}

TEST_CASE("the isolation level of a migration's own BEGIN counts with callbacks before it, too") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir files({{"beforeEachMigrate.sql", tell("before-each")},
                            {"V1__a.sql",
                             "begin isolation level serializable;\ninsert into told (what) select "
                             "current_setting('transaction_isolation');\ncommit;\n"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  CHECK(told(database) == "before-each serializable");
}

TEST_CASE("an older release does not run its callbacks on a newer database") {
  const TestDatabase database;
  make_table(database);
  const MigrationDir newer({{"V1__a.sql", tell("V1")}, {"V2__b.sql", tell("V2")}});
  REQUIRE(run(newer.migrate(database.url())).exit_code == 0);
  const MigrationDir older({{"V1__a.sql", tell("V1")}, {"afterMigrate.sql", tell("old")}});
  CHECK(run(older.migrate(database.url())).exit_code == 0);
  CHECK(told(database) == "V1 V2");
}

/// The names in the comments of a plan, in order.
std::string commented(const std::string& plan) {
  std::string names;
  std::istringstream lines(plan);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("-- ")) names += (names.empty() ? "" : " ") + line.substr(3);
  }
  return names;
}

TEST_CASE("plan prints the callbacks where migrate runs them") {
  const TestDatabase database;
  const auto files = all_events();
  const auto plan = run(lockstep({"plan", "--url", database.url(), "--dir", files.path()}));
  REQUIRE(plan.exit_code == 0);
  CHECK(commented(plan.out) ==
        "beforeMigrate.sql beforeMigrate__2.sql beforeEachMigrate.sql V1__a.sql afterEachMigrate.sql "
        "beforeEachMigrate.sql V2__b.sql afterEachMigrate.sql afterMigrateApplied.sql afterMigrate.sql");
}

}  // namespace
}  // namespace lockstep::test
