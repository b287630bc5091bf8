#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <optional>

#include "support/migrating.h"
#include "support/pgbouncer.h"
#include "support/proxy.h"

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

enum class Load { none, busy };

/// Clients of the application that share the pool. In session mode they come and go, or a small pool would be
/// taken.
std::optional<Running> start_load(const PgBouncer& pooler, const TestDatabase& database, PoolMode mode,
                                  Load load, const TempDir& dir) {
  if (load == Load::none) return std::nullopt;
  const auto script = dir.write_file("load.sql", "select pg_sleep(0.002);\n");
  std::vector<std::string> argv{
      PgServer::program("pgbench"), "-n", "-T", "300", "-c", "4", "-P", "1", "-f", script.string()};
  if (mode == PoolMode::session) argv.emplace_back("-C");
  argv.push_back(pooler.url(database.name()));
  std::optional<Running> load_run(Command{.argv = std::move(argv)});
  load_run->wait_for_output("progress:");
  return load_run;
}

MigrationDir two_files() {
  return MigrationDir({{"V1__a.sql", "create table a (i int);"}, {"V2__b.sql", "insert into a values (2);"}});
}

std::string advisory_locks(const TestDatabase& database) {
  return database.psql("select count(*) from pg_catalog.pg_locks where locktype = 'advisory'");
}

TEST_CASE("a session pooler of any size is accepted, with and without other clients") {
  const int pool_size = GENERATE(1, 2, 20);
  const auto load = GENERATE(Load::none, Load::busy);
  CAPTURE(pool_size, load == Load::busy);
  const TestDatabase database;
  const TempDir dir;
  const PgBouncer pooler(database.server(), {.mode = PoolMode::session, .pool_size = pool_size});
  const auto others = start_load(pooler, database, PoolMode::session, load, dir);
  const auto outcome = run(two_files().migrate(pooler.url(database.name())));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("pooler"));
  CHECK(database.psql("select * from a") == "2");
  CHECK(advisory_locks(database) == "0");
}

TEST_CASE("a pool without room for a second connection does not hold up a long statement") {
  const TestDatabase database;
  const PgBouncer pooler(database.server(), {.mode = PoolMode::session, .pool_size = 1});
  const MigrationDir files({{"V1__a.sql", "select pg_sleep(1.5);"}});
  const auto outcome = run(files.migrate(pooler.url(database.name())), 30s);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("a transaction or statement pooler of any size is refused before anything is locked or written") {
  const auto mode = GENERATE(PoolMode::transaction, PoolMode::statement);
  const int pool_size = GENERATE(1, 2, 20);
  const auto load = GENERATE(Load::none, Load::busy);
  CAPTURE(to_string(mode), pool_size, load == Load::busy);
  const TestDatabase database;
  const TempDir dir;
  const PgBouncer pooler(database.server(), {.mode = mode, .pool_size = pool_size});
  const auto others = start_load(pooler, database, mode, load, dir);
  const auto outcome = run(two_files().migrate(pooler.url(database.name())));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 5);
  CHECK_THAT(outcome.err, ContainsSubstring("pooler") && ContainsSubstring("hint"));
  CHECK(database.psql("select to_regclass('a') is null, to_regclass('lockstep_history') is null") == "t|t");
  CHECK(advisory_locks(database) == "0");
}

TEST_CASE("the mode that counts is the one of this database, not the pooler's default") {
  const TestDatabase database;
  const auto line = [&](const std::string& name, PoolMode mode) {
    return name + " = host=127.0.0.1 port=" + std::to_string(database.server().port()) +
           " dbname=" + database.name() + " pool_mode=" + to_string(mode);
  };
  const PgBouncer careful(database.server(),
                          {.mode = PoolMode::transaction, .databases = {line("direct", PoolMode::session)}});
  CHECK(run(two_files().migrate(careful.url("direct"))).exit_code == 0);
  const PgBouncer careless(database.server(),
                           {.mode = PoolMode::session, .databases = {line("shared", PoolMode::transaction)}});
  const MigrationDir more({{"V1__a.sql", "create table a (i int);"},
                           {"V2__b.sql", "insert into a values (2);"},
                           {"V3__c.sql", "insert into a values (3);"}});
  CHECK(run(more.migrate(careless.url("shared"))).exit_code == 5);
}

TEST_CASE("a pooler that reuses backends in turn and cleans them is refused too") {
  const TestDatabase database;
  const PgBouncer pooler(database.server(),
                         {.mode = PoolMode::transaction,
                          .pool_size = 3,
                          .settings = {"server_round_robin = 1", "server_reset_query_always = 1"}});
  CHECK(run(two_files().migrate(pooler.url(database.name()))).exit_code == 5);
}

TEST_CASE("a refused run leaves no channel on the backend that listened, whichever that was") {
  const TestDatabase database;
  const auto reuse = GENERATE("server_round_robin = 0", "server_round_robin = 1");
  CAPTURE(reuse);
  const PgBouncer pooler(database.server(),
                         {.mode = PoolMode::transaction, .pool_size = 2, .settings = {reuse}});
  const auto channels_of_both = [&] {
    PsqlSession one(pooler.url(database.name()));
    PsqlSession two(pooler.url(database.name()));
    one.run("begin;");
    two.run("begin;");
    const auto channels =
        one.run("select pg_listening_channels();") + two.run("select pg_listening_channels();");
    one.run("commit;");
    two.run("commit;");
    return channels;
  };
  REQUIRE(channels_of_both().empty());
  CHECK(run(two_files().migrate(pooler.url(database.name()))).exit_code == 5);
  CHECK(channels_of_both().empty());
}

TEST_CASE("an idle pool is known by the backend that serves another connection too, without a wait") {
  const TestDatabase database;
  const PgBouncer pooler(database.server(), {.mode = PoolMode::transaction});
  const auto outcome = run(two_files().migrate(pooler.url(database.name())));
  CHECK(outcome.exit_code == 5);
  CHECK_THAT(outcome.err, ContainsSubstring("served a second connection too"));
}

TEST_CASE("a plain proxy is no pooler: it is proved and accepted") {
  const TestDatabase database;
  const Proxy proxy(database.server());
  CHECK(run(two_files().migrate(proxy.url(database.name()))).exit_code == 0);
  CHECK(database.psql("select * from a") == "2");
}

TEST_CASE("over a unix socket, too, only the server itself is direct, not who passes on its pids") {
  const TestDatabase database;
  const std::vector<std::string> only_direct{"--pooler=refuse"};
  CHECK(run(two_files().migrate(database.url(), only_direct)).exit_code == 0);

  const TestDatabase behind;
  const Proxy proxy(behind.server(), {.transport = Transport::unix_socket});
  const auto refused = run(two_files().migrate(proxy.url(behind.name()), only_direct));
  CHECK(refused.exit_code == 5);
  CHECK_THAT(refused.err, ContainsSubstring("without proof of a direct connection") &&
                              ContainsSubstring("--pooler=auto") &&
                              !ContainsSubstring("pool in session mode"));
  CHECK(run(two_files().migrate(proxy.url(behind.name()))).exit_code == 0);
  CHECK(behind.psql("select * from a") == "2");
}

TEST_CASE("a connection that is lost while its pooler is probed is worth another try, not a refusal") {
  const TestDatabase database;
  const auto words = GENERATE("listen lockstep_probe", "notify lockstep_probe", "pg_listening_channels");
  CAPTURE(words);
  const Proxy proxy(database.server(),
                    {.fault = {.kind = Fault::Kind::cut, .moment = Fault::Moment::before, .text = words}});
  const auto outcome = run(two_files().migrate(proxy.url(database.name())));
  INFO(outcome.err);
  CHECK(proxy.fault_happened());
  CHECK(outcome.exit_code == 4);
  CHECK_THAT(outcome.err, ContainsSubstring("was lost") && !ContainsSubstring("refusing"));
}

TEST_CASE(
    "through a session pooler every file is read as UTF-8, in a session that bears the name of the run") {
  const TestDatabase database(PgServer::shared(),
                              "encoding latin1 lc_collate 'C' lc_ctype 'C' template template0");
  const PgBouncer pooler(database.server(), {.mode = PoolMode::session});
  const std::string row = "insert into a values ('é', current_setting('application_name'));";
  const MigrationDir files({{"V1__a.sql", "create table a (word text, name text);" + row},
                            {"V2__b.sql", row},
                            {"V3__c.sql", row}});
  REQUIRE(run(files.migrate(pooler.url(database.name()))).exit_code == 0);
  CHECK(database.psql("select count(*) from a where word = chr(233)") == "3");
  CHECK(database.psql("select count(*) from a, lockstep_history as h where h.version = '1'"
                      " and a.name = 'lockstep migrate ' || h.run_id") == "3");
}

TEST_CASE("what libpq's environment asks of a session holds for every file, through a session pooler, too") {
  const TestDatabase database;
  const PgBouncer pooler(database.server(), {.mode = PoolMode::session});
  const std::string row = "insert into a values (current_setting('TimeZone'), current_setting('DateStyle'));";
  const MigrationDir files({{"V1__a.sql", "create table a (zone text, style text);" + row},
                            {"V2__b.sql", "set timezone = 'UTC';" + row},
                            {"V3__c.sql", row},
                            {"V4__d.sql", "-- lockstep: transaction=off\n" + row}});
  auto migrate = files.migrate(pooler.url(database.name()));
  migrate.env["PGTZ"] = "Asia/Tokyo";
  migrate.env["PGDATESTYLE"] = "SQL, DMY";
  REQUIRE(run(migrate).exit_code == 0);
  CHECK(database.psql("select * from a") ==
        "Asia/Tokyo|SQL, DMY\nUTC|SQL, DMY\nAsia/Tokyo|SQL, DMY\nAsia/Tokyo|SQL, DMY");
}

TEST_CASE("only a direct connection will do when poolers are to be refused") {
  const TestDatabase database;
  const PgBouncer pooler(database.server(), {.mode = PoolMode::session});
  CHECK(run(two_files().migrate(pooler.url(database.name()), {"--pooler", "refuse"})).exit_code == 5);
  CHECK(run(two_files().migrate(database.url(), {"--pooler", "refuse"})).exit_code == 0);
}

TEST_CASE(
    "when no second connection is possible nothing is proved: refused, until the user states session mode") {
  const TestDatabase database;
  const PgBouncer pooler(
      database.server(),
      {.mode = PoolMode::session, .settings = {"max_user_connections = 1", "max_client_conn = 1"}});
  const auto refused = run(two_files().migrate(pooler.url(database.name())));
  INFO(refused.err);
  CHECK(refused.exit_code == 5);
  CHECK_THAT(refused.err, ContainsSubstring("could not be opened: ") && ContainsSubstring("max_client_conn"));
  CHECK_THAT(refused.err, ContainsSubstring("assume-session"));
  CHECK(run(two_files().migrate(pooler.url(database.name()), {"--pooler", "assume-session"})).exit_code == 0);
}

TEST_CASE("processes that race through a session pooler of two backends apply each file once") {
  const TestDatabase database;
  const PgBouncer pooler(database.server(), {.mode = PoolMode::session, .pool_size = 4});
  for (const auto& outcome : run_at_once(6, two_files().migrate(pooler.url(database.name())))) {
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
  }
  CHECK(database.psql("select * from a") == "2");
}

}  // namespace
}  // namespace lockstep::test
