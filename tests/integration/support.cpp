#include <catch2/catch_test_macros.hpp>

#include "support/pgbouncer.h"
#include "support/program.h"
#include "support/temp_dir.h"
#include "support/test_database.h"

namespace lockstep::test {
namespace {

TEST_CASE("a test database answers over tcp, over its socket and through psql") {
  const TestDatabase database;
  CHECK(database.psql("select 1; select 2") == "1\n2");
  for (const auto& url : {database.url(), database.socket_url()}) {
    CHECK(output_of({.argv = {PgServer::program("psql"), "-XAt", "-c", "select current_database()", "-d",
                              url}}) == database.name() + "\n");
  }
  CHECK(database.query("values (1, 'a'), (2, null)") ==
        std::vector<std::vector<std::string>>{{"1", "a"}, {"2", ""}});
  CHECK(database.query("select 1 where false").empty());
}

TEST_CASE("errors of a database's sessions are found in the server's log, those of others are not") {
  const TestDatabase database, other;
  CHECK(database.errors().empty());
  CHECK_THROWS(other.psql("select 1/0"));
  CHECK(database.errors().empty());
  CHECK_THROWS(database.psql("select 1/0"));
  REQUIRE(database.errors().size() == 1);
  CHECK(database.errors()[0].ends_with("ERROR:  division by zero"));
}

TEST_CASE("a psql session keeps its state and its errors are visible") {
  const TestDatabase database;
  PsqlSession session(database);
  CHECK(session.run("begin; create table t (i int);").empty());
  CHECK(session.run("select 'x';") == "x");
  CHECK(database.psql("select pg_catalog.to_regclass('t') is null") == "t");
  CHECK(session.run("commit; select 1/0;").find("division by zero") != std::string::npos);
  CHECK(database.psql("select pg_catalog.to_regclass('t') is null") == "f");
}

TEST_CASE("a command sees a clean environment and its own input") {
  const auto outcome = run({.argv = {"sh", "-c", "env | cut -d= -f1; cat; echo oops >&2; exit 7"},
                            .env = {{"LOCKSTEP_URL", "x"}},
                            .input = "text"});
  CHECK(outcome.exit_code == 7);
  CHECK(outcome.err == "oops\n");
  CHECK(outcome.out.ends_with("text"));
  CHECK(outcome.out.find("LOCKSTEP_URL\n") != std::string::npos);
  CHECK(outcome.out.find("HOME\n") == std::string::npos);
}

TEST_CASE("a started command can be watched and ended by a signal") {
  Running sleeper({.argv = {"sh", "-c", "echo ready; exec cat"}, .standard_input = Stdin::pipe});
  sleeper.wait_for_output("ready");
  CHECK_FALSE(sleeper.finished());
  sleeper.signal(15);
  CHECK(sleeper.wait().signal == 15);
}

TEST_CASE("pgbouncer passes queries through in each pool mode") {
  const TestDatabase database;
  for (const auto mode : {PoolMode::session, PoolMode::transaction, PoolMode::statement}) {
    const PgBouncer pooler(database.server(), {.mode = mode, .pool_size = 2});
    PsqlSession session(pooler.url(database.name()));
    CHECK(session.run("select pg_catalog.current_database();") == database.name());
    CHECK(pooler.admin("show pools").find("|" + to_string(mode)) != std::string::npos);
  }
}

TEST_CASE("a private server can ask for a password and speak tls") {
  PgServer server({.settings = {"log_statement = 'all'"},
                   .hba = "local all all trust\nhostssl all all all scram-sha-256\n",
                   .tls = Tls::on});
  server.psql("postgres", "create role visitor login password 'geheim'");
  const auto psql = [&](const std::string& user, const std::string& options) {
    return run(
        {.argv = {PgServer::program("psql"), "-XAtw", "-d", server.url("postgres", user) + options, "-c",
                  "select ssl from pg_catalog.pg_stat_ssl where pid = pg_catalog.pg_backend_pid()"}});
  };
  CHECK(psql("visitor:geheim", "?sslmode=verify-full&sslrootcert=" + server.certificate().string()).out ==
        "t\n");
  CHECK(psql("visitor:falsch", "?sslmode=require").exit_code == 2);
  CHECK(psql("visitor:geheim", "?sslmode=disable").exit_code == 2);
  server.stop();
  CHECK_THROWS(server.psql("postgres", "select 1"));
  server.start();
  CHECK(server.psql("postgres", "select 1") == "1");
}

TEST_CASE("a directory of a test holds its files and goes with it") {
  std::filesystem::path path;
  {
    const TempDir dir;
    path = dir.write_file("a/b.sql", "select 1;\r\n");
    CHECK(read_file(path) == "select 1;\r\n");
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace lockstep::test
