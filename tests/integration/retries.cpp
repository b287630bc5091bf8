#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "support/migrating.h"

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

Command with_short_patience(Command command) {
  command.env["LOCKSTEP_MIGRATE_LOCK_TIMEOUT"] = GENERATE("1500ms", "300ms");
  command.env["LOCKSTEP_MIGRATE_LOCK_ATTEMPTS"] = "2";
  return command;
}

}  // namespace

TEST_CASE("a migration that never gets its lock is rolled back, and the error names who has it") {
  const TestDatabase database;
  database.psql("create table busy (id int)");
  PsqlSession other(database);
  other.run("begin; lock table busy in access share mode;");
  const auto pid = std::to_string(other.backend_pid());

  const MigrationDir files({{"V1__before.sql", "create table before ();"},
                            {"V2__waits.sql", "create table half ();\nalter table busy add note text;"},
                            {"V3__behind.sql", "create table behind ();"}});
  const auto outcome = run(with_short_patience(files.migrate(database.url())));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("V2__waits.sql:2:1") && ContainsSubstring("[SQLSTATE 55P03]") &&
                              ContainsSubstring("It was tried 2 times"));
  const auto error = outcome.err.substr(outcome.err.find("error:"));
  const auto retried = outcome.err.substr(0, outcome.err.find("error:"));
  CHECK_THAT(error, ContainsSubstring("blocked by") && ContainsSubstring(pid));
  CHECK_THAT(retried, ContainsSubstring("trying again in") && ContainsSubstring(pid));
  CHECK(applied_versions(database) == "1");
  CHECK(database.psql("select to_regclass('half') is null, to_regclass('behind') is null") == "t|t");

  other.run("rollback;");
  CHECK(run(files.migrate(database.url())).exit_code == 0);
  CHECK(applied_versions(database) == "1\n2\n3");
}

TEST_CASE("a migration whose lock becomes free between two tries is applied, once") {
  const TestDatabase database;
  database.psql("create table busy (id int)");
  PsqlSession other(database);
  other.run("begin; lock table busy;");

  const MigrationDir files(
      {{"V1__waits.sql",
        "create table once ();\nset local search_path = '';\nalter table public.busy add note text;"}});
  auto command = with_short_patience(files.migrate(database.url()));
  command.env["LOCKSTEP_MIGRATE_LOCK_ATTEMPTS"] = "20";
  Running migrate(command);
  migrate.wait_for_output("trying again in");
  other.run("rollback;");
  const auto outcome = migrate.wait();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(database.psql(
            "select count(*) from pg_attribute where attrelid = 'busy'::regclass and attname = 'note'") ==
        "1");
}

}  // namespace lockstep::test
