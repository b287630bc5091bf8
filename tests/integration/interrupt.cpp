#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <list>

#include "support/migrating.h"
#include "support/proxy.h"

// What an interrupt comes to in phases other than a script's own statements.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A trigger function that waits at the gate.
constexpr const char* knocking_function =
    "create function knock() returns trigger language plpgsql as "
    "$$ begin insert into public.gate default values; return new; end $$;";

TEST_CASE("a run that is interrupted while it reads the history says so") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  PsqlSession other(database);
  other.run("begin; lock table lockstep_history;");
  Running migrator(files.migrate(database.url()));
  wait_until("the run to wait for the history", [&] {
    return database.psql("select count(*) from pg_catalog.pg_locks where not granted") == "1";
  });
  migrator.signal(SIGTERM);
  const auto outcome = migrator.wait(10s);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 143);
}

TEST_CASE("a run that is interrupted in its COMMIT says so, and has rolled back") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files(
      {{"V1__a.sql", std::string(knocking_function) +
                         "create table a (i int);"
                         "create constraint trigger late after insert on a deferrable initially deferred"
                         " for each row execute function knock();"
                         "insert into a values (1);"}});
  Running migrator(files.migrate(database.url()));
  gate.wait_for_knock();
  migrator.signal(SIGTERM);
  const auto outcome = migrator.wait(10s);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 143);
  CHECK(database.psql("select to_regclass('a') is null") == "t");
}

TEST_CASE("an interrupt cancels the statement even while a second connection is being opened to watch it") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files({{"V1__a.sql", std::string("create table a (i int); ") + Gate::knock}});
  auto migrate = files.migrate(database.url());
  migrate.env["PGOPTIONS"] = "-c post_auth_delay=1";
  Running migrator(migrate);
  gate.wait_for_knock();
  wait_until("the second connection", [&] {
    // A session that begins locks its database. On a slow machine it may have begun before it was looked for.
    return database.psql(
               "select count(*) from pg_catalog.pg_locks where classid = 'pg_database'::regclass") == "1" ||
           migrator.err().find("running for") != std::string::npos;
  });
  migrator.signal(SIGTERM);
  const auto outcome = migrator.wait(15s);
  CHECK(outcome.exit_code == 143);
  CHECK_THAT(outcome.err, ContainsSubstring("SIGTERM"));
}

TEST_CASE("an interrupt does not keep a statement outside a transaction from being noted as done") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  database.psql(
      std::string(knocking_function) +
      "create trigger slow before update on lockstep_history for each row execute function knock();");
  files.write("V2__b.sql",
              "-- lockstep: transaction=off\ncreate table b (i int);\ncreate table c (i int);\n");
  Running migrator(files.migrate(database.url()));
  gate.wait_for_knock();
  migrator.signal(SIGTERM);
  gate.open();
  const auto outcome = migrator.wait(20s);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 143);
  CHECK(database.psql("select state, statements_done from lockstep_history where version = '2'") ==
        "failed|1");
  CHECK(database.errors().empty());  // nothing of it was cancelled

  const auto next = run(files.migrate(database.url()));
  INFO(next.err);
  CHECK(next.exit_code == 0);
}

TEST_CASE("an interrupt ends a run whose note of a done statement cannot be written") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  database.psql(
      std::string(knocking_function) +
      "create trigger slow before update on lockstep_history for each row execute function knock();");
  files.write("V2__b.sql", "-- lockstep: transaction=off\ncreate table b (i int);\n");
  Running migrator(files.migrate(database.url()));
  gate.wait_for_knock();
  migrator.signal(SIGTERM);
  const auto outcome = migrator.wait(20s);
  CHECK(outcome.exit_code == 143);
  CHECK_THAT(outcome.err, ContainsSubstring("SIGTERM"));
}

TEST_CASE("a note that an administrator cancels leaves its file part-way, and says what to do") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  database.psql(
      std::string(knocking_function) +
      "create trigger slow before update on lockstep_history for each row execute function knock();");
  files.write("V2__b.sql", "-- lockstep: transaction=off\nvacuum a;\ncreate table c (i int);\n");
  Running migrator(files.migrate(database.url()));
  database.psql("select pg_cancel_backend(" + std::to_string(gate.wait_for_knock()) + ")");
  gate.open();
  const auto outcome = migrator.wait(20s);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 7);
  CHECK_THAT(outcome.err, ContainsSubstring("hint: ") && ContainsSubstring("again"));
  CHECK(run(files.migrate(database.url())).exit_code == 0);
}

TEST_CASE("a reading of the history that an administrator cancels is worth another try") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  PsqlSession other(database);
  other.run("begin; lock table lockstep_history;");
  Running migrator(files.migrate(database.url()));
  const std::string waiting = "from pg_catalog.pg_locks where not granted";
  wait_until("the run to wait for the history",
             [&] { return database.psql("select count(*) " + waiting) == "1"; });
  database.psql("select pg_cancel_backend(pid) " + waiting);
  const auto outcome = migrator.wait(10s);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 4);
  CHECK_THAT(outcome.err, ContainsSubstring("Run the command again"));
}

/// A run whose connection stalls at the first message with `text`.
struct Stalled {
  Stalled(const MigrationDir& files, std::string text)
      : proxy(database.server(), {.transport = Transport::unix_socket,
                                  .fault = {.kind = Fault::Kind::stall, .text = std::move(text)}}),
        migrator(unprobed(files.migrate(proxy.url(database.name())))) {}

  TestDatabase database{};
  Proxy proxy;
  Running migrator;
};

TEST_CASE("an interrupt ends a run whose connection is stalled, wherever that is") {
  const MigrationDir files({{"V1__a.sql", "create table a (i int);\ncopy a from stdin;\n1\n\\.\n"},
                            {"V2__b.sql", "-- lockstep: transaction=off\nvacuum a;\n"}});
  // The greeting, the lock, a file's first message, its last one, a statement alone.
  std::list<Stalled> runs;
  for (const auto* text :
       {"pg_is_in_recovery", "pg_try_advisory_lock(", "copy a", "savepoint lockstep", "vacuum a"}) {
    runs.emplace_back(files, text);
  }
  for (auto& run : runs) {
    wait_until("the stall", [&] { return run.proxy.fault_happened(); });
    run.migrator.signal(SIGTERM);
  }
  for (auto& run : runs) {
    const auto outcome = run.migrator.wait(30s);
    INFO(outcome.err);
    CHECK((outcome.exit_code == 143 || outcome.err.find("not known") != std::string::npos));
  }
}

TEST_CASE("an interrupt while the lock is released takes nothing away: all is done") {
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  Stalled run(files, "as told");
  wait_until("the stall", [&] { return run.proxy.fault_happened(); });
  run.migrator.signal(SIGTERM);
  const auto outcome = run.migrator.wait(30s);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(applied_versions(run.database) == "1");
}

}  // namespace
}  // namespace lockstep::test
