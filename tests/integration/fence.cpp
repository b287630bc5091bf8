#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <filesystem>

#include "support/migrating.h"
#include "support/proxy.h"

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

void wait_until_lock_is_free(const TestDatabase& database, std::chrono::milliseconds deadline) {
  wait_until(
      "the migration lock to be free",
      [&] {
        return database.psql("select count(*) from pg_catalog.pg_locks where locktype = 'advisory'") == "0";
      },
      deadline);
}

/// V1 is applied; V2 makes a table, waits at the gate, and has one more statement.
struct HalfWay {
  TestDatabase database{};
  Gate gate{database};
  MigrationDir files{
      {"V1__a.sql", "create table a (i int);"},
      {"V2__b.sql", std::string("create table b (i int); ") + Gate::knock + " insert into b values (1);"}};

  /// V2 has left nothing, V1 has stayed; and the next run finishes.
  void check_rolled_back_and_finish() {
    CHECK(database.psql("select to_regclass('a') is not null, to_regclass('b') is null") == "t|t");
    CHECK(applied_versions(database) == "1");
    gate.open();
    CHECK(run(files.migrate(database.url())).exit_code == 0);
    CHECK(applied_versions(database) == "1\n2");
    CHECK(database.psql("select * from b") == "1");
  }

  /// The server does not look who has gone while it works: it goes on to the COMMIT that it was sent, and the
  /// lock is held until then.
  void check_server_finishes_alone() {
    CHECK(database.psql("select count(*) > 0 from pg_catalog.pg_locks where locktype = 'advisory'") == "t");
    gate.open();
    wait_until_lock_is_free(database, 5s);
    CHECK(applied_versions(database) == "1\n2");
    CHECK(database.psql("select * from b") == "1");
    CHECK(run(files.migrate(database.url())).exit_code == 0);
  }
};

TEST_CASE("a row that cannot be written is told with what became of its file, and what to do") {
  const TestDatabase database;
  MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  database.psql(
      "create function full_disk() returns trigger language plpgsql as $$ begin raise exception 'no space'"
      " using errcode = '53100', hint = 'Check free disk space.'; end $$;"
      "create trigger full_disk before insert on lockstep_history for each row execute function full_disk()");
  const auto [head, code, became] = GENERATE(table<std::string, int, std::string>(
      {{"", 6, "This file was rolled back as a whole. Mend the cause, then run lockstep migrate again."},
       {"-- lockstep: transaction=off\n", 7,
        "Mend the cause, then run lockstep migrate again: it goes on from there."}}));
  files.write("V2__b.sql", head + "create table b (i int);");
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == code);
  CHECK_THAT(outcome.err, ContainsSubstring("V2__b.sql") && ContainsSubstring("[SQLSTATE 53100]"));
  CHECK_THAT(outcome.err, ContainsSubstring("Check free disk space.") && ContainsSubstring(became));
  CHECK(database.psql("select to_regclass('b') is null") == "t");
}

TEST_CASE("a statement that finds the disk full is not said to be in need of mending") {
  const TestDatabase database;
  const auto [head, code] =
      GENERATE(table<std::string, int>({{"", 6}, {"-- lockstep: transaction=off\n", 7}}));
  const MigrationDir files(
      {{"V1__a.sql", head + "do $$ begin raise exception 'no space' using errcode = '53100'; end $$;"}});
  const auto outcome = run(files.migrate(database.url()));
  CHECK(outcome.exit_code == code);
  CHECK_THAT(outcome.err, ContainsSubstring("Mend the cause, then run lockstep migrate again"));
}

TEST_CASE("a backend killed in the middle of a file leaves no trace of it, and the next run finishes") {
  HalfWay run;
  Running migrator(run.files.migrate(run.database.url()));
  run.database.psql("select pg_terminate_backend(" + std::to_string(run.gate.wait_for_knock()) + ")");
  const auto outcome = migrator.wait();
  CHECK(outcome.exit_code == 4);
  CHECK_THAT(outcome.err, ContainsSubstring("V2__b.sql"));
  run.check_rolled_back_and_finish();
}

TEST_CASE("a killed process frees the lock within seconds, even while a statement runs") {
  HalfWay run;
  Running migrator(run.files.migrate(run.database.url()));
  run.gate.wait_for_knock();
  migrator.signal(SIGKILL);
  CHECK(migrator.wait().signal == SIGKILL);
  if (PgServer::notices_dead_clients()) {
    wait_until_lock_is_free(run.database, 12s);
    run.check_rolled_back_and_finish();
  } else {
    run.check_server_finishes_alone();
  }
}

TEST_CASE("an interrupted run cancels its statement, rolls back, unlocks and says so") {
  const auto [number, exit_code] = GENERATE(std::pair{SIGINT, 130}, std::pair{SIGTERM, 143});
  HalfWay run;
  Running migrator(run.files.migrate(run.database.url()));
  run.gate.wait_for_knock();
  migrator.signal(number);
  const auto outcome = migrator.wait(10s);
  CHECK(outcome.exit_code == exit_code);
  CHECK_THAT(outcome.err, ContainsSubstring("rolled back"));
  wait_until_lock_is_free(run.database, 1s);
  run.check_rolled_back_and_finish();
}

TEST_CASE("an interrupted waiter leaves at once") {
  HalfWay run;
  Running winner(run.files.migrate(run.database.url()));
  const int pid = run.gate.wait_for_knock();
  Running waiter(run.files.migrate(run.database.url()));
  waiter.wait_for_output(std::to_string(pid));
  waiter.signal(SIGTERM);
  CHECK(waiter.wait(5s).exit_code == 143);
  run.gate.open();
  CHECK(winner.wait().exit_code == 0);
}

TEST_CASE("a history that current_schema has moved away from is not begun a second time") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql",
                             "create table public.seeds (i int); insert into public.seeds values (1);\n"
                             "create schema postgres;"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  for (const auto* const command : {"migrate", "info"}) {
    auto next = files.migrate(database.url());
    next.argv[1] = command;
    const auto outcome = run(next);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err,
               ContainsSubstring("schema public") && ContainsSubstring("LOCKSTEP_HISTORY_SCHEMA"));
  }
  CHECK(database.psql("select to_regclass('postgres.lockstep_history') is null") == "t");

  auto settled = files.migrate(database.url());
  settled.env["LOCKSTEP_HISTORY_SCHEMA"] = "public";
  const auto outcome = run(settled);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out, ContainsSubstring("nothing to do"));
}

TEST_CASE("an error in a file that has gone meanwhile is reported all the same") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files({{"V1__a.sql", std::string(Gate::knock) + "\nselect 1 / 0;"}});
  Running migrator(files.migrate(database.url()));
  gate.wait_for_knock();
  std::filesystem::remove(files.path() + "/V1__a.sql");
  gate.open();
  const auto outcome = migrator.wait();
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("V1__a.sql:2") && ContainsSubstring("division by zero"));
}

TEST_CASE("a script that drops the lock is rolled back, with its reason") {
  const TestDatabase database;
  const auto* const dropper = GENERATE("select pg_advisory_unlock_all();",
                                       "do $$ begin perform pg_catalog.pg_advisory_unlock_all(); end $$;");
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"},
                            {"V2__drops.sql", std::string("create table b (i int); ") + dropper},
                            {"V3__c.sql", "create table c (i int);"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("V2__drops.sql") && ContainsSubstring("lock"));
  CHECK(applied_versions(database) == "1");
  CHECK(database.psql("select to_regclass('b') is null, to_regclass('c') is null") == "t|t");
}

TEST_CASE("discard all is refused before anything runs") {
  const TestDatabase database;
  const std::string directive = GENERATE("", "-- lockstep: transaction=off\n");
  const MigrationDir files(
      {{"V1__a.sql", "create table a (i int);"}, {"V2__drops.sql", directive + "discard all;"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 3);
  CHECK_THAT(outcome.err, ContainsSubstring("V2__drops.sql") && ContainsSubstring("DISCARD ALL"));
  CHECK(database.psql("select to_regclass('a') is null, to_regclass('lockstep_history') is null") == "t|t");
}

TEST_CASE("a writer that bypasses the lock makes the run that holds it lose, and roll back") {
  HalfWay run;
  Running migrator(run.files.migrate(run.database.url()));
  run.gate.wait_for_knock();
  run.database.psql(
      "insert into lockstep_history select (jsonb_populate_record(h, jsonb_build_object('rank', h.rank + 1, "
      "'version', '1.5', 'script', 'V1_5__stranger.sql'))).* from lockstep_history h where version = '1'");
  run.gate.open();
  const auto outcome = migrator.wait();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("V2__b.sql") && ContainsSubstring("history"));
  CHECK(run.database.psql("select to_regclass('b') is null") == "t");
  CHECK(applied_versions(run.database) == "1\n1.5");
}

TEST_CASE("a commit whose answer is lost is said to be in doubt, and the next run finds it applied") {
  const MigrationDir files({{"V1__a.sql", "create table a (i int); insert into a values (1);"}});
  for (int round_trip = 1; round_trip < 20; ++round_trip) {
    const TestDatabase database;
    const Proxy proxy(
        database.server(),
        {.transport = Transport::unix_socket,
         .fault = {.kind = Fault::Kind::cut, .moment = Fault::Moment::after, .round_trip = round_trip}});
    const auto outcome = run(unprobed(files.migrate(proxy.url(database.name()))));
    if (outcome.err.find("not known whether it was applied") == std::string::npos) continue;

    CHECK(outcome.exit_code == 4);
    wait_until_lock_is_free(database, 12s);
    CHECK(applied_versions(database) == "1");
    CHECK(run(files.migrate(database.url())).exit_code == 0);
    CHECK(database.psql("select * from a") == "1");
    return;
  }
  FAIL("no round trip had a commit");
}

TEST_CASE("a session lost in any round trip ends with exit code 4, and the next run finishes the work") {
  const MigrationDir files({{"V1__a.sql", "create table a (i int); insert into a values (1);"},
                            {"V2__b.sql", "insert into a values (2);"}});
  const auto moment = GENERATE(Fault::Moment::before, Fault::Moment::after);
  int round_trip = 1;
  for (bool lost = true; lost; ++round_trip) {
    const TestDatabase database;
    const Proxy proxy(database.server(),
                      {.transport = Transport::unix_socket,
                       .fault = {.kind = Fault::Kind::cut, .moment = moment, .round_trip = round_trip}});
    const auto outcome = run(unprobed(files.migrate(proxy.url(database.name()))));
    INFO("round trip " << round_trip << (moment == Fault::Moment::before ? " not sent: " : " not answered: ")
                       << outcome.err);
    lost = proxy.fault_happened();
    // With the last file all is done: the server releases the lock, too, when the session is lost.
    const bool all_done = outcome.err.find("V2__b.sql … done") != std::string::npos;
    CHECK(outcome.exit_code == (lost && !all_done ? 4 : 0));
    wait_until_lock_is_free(database, 12s);
    const auto next = run(files.migrate(database.url()));
    INFO(next.err);
    CHECK(next.exit_code == 0);
    CHECK(applied_versions(database) == "1\n2");
    CHECK(database.psql("select string_agg(i::text, ' ' order by i) from a") == "1 2");
  }
  CHECK(round_trip > 5);
}

TEST_CASE("names that look like parameters, quotes and backslashes are recorded as they are") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__it's_$1_\\'_or_\"x\".sql", "create table a (i int);\n"},
       {"V2__off.sql", "set standard_conforming_strings = off; set backslash_quote = on; select 'a\\'b';\n"},
       {"R__it's_\\'_$2.sql", "set standard_conforming_strings = off; select 1;\n"}});
  auto command = files.migrate(database.url());
  command.env["LOCKSTEP_HISTORY_TABLE"] = "h$1\"'x";
  const auto outcome = run(command);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(database.psql("select string_agg(script, '|' order by rank) from \"h$1\"\"'x\"") ==
        "V1__it's_$1_\\'_or_\"x\".sql|V2__off.sql|R__it's_\\'_$2.sql");
  CHECK_THAT(run(command).out, ContainsSubstring("nothing to do"));
}

}  // namespace
}  // namespace lockstep::test
