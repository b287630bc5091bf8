#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <string>

#include "support/migrating.h"

// Time limits of a role or database that would end a session or a transaction of ours. Each newer server has
// more of them: idle_session_timeout since 14, transaction_timeout since 17.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// For all sessions that begin from now on.
void limit_sessions(const TestDatabase& database) {
  const auto limit = [&](const std::string& name, const std::string& time) {
    database.psql("alter database " + database.name() + " set " + name + " = '" + time + "'");
  };
  limit("idle_in_transaction_session_timeout", "250ms");
  if (PgServer::version() >= 14) limit("idle_session_timeout", "250ms");
  if (PgServer::version() >= 17) limit("transaction_timeout", "400ms");
}

}  // namespace

TEST_CASE(
    "time limits on sessions and transactions end neither a run that waits nor a migration that takes long") {
  const TestDatabase database;
  PsqlSession holder(database);
  holder.run("select pg_advisory_lock(1280262987, -507739328);");
  limit_sessions(database);

  const MigrationDir files({{"V1__long.sql", "create table a (); select pg_sleep(0.7);"},
                            {"V2__in_pieces.sql",
                             "-- lockstep: transaction=off\nbegin; create table b (); select pg_sleep(0.7); "
                             "commit; select pg_sleep(0.7);"},
                            {"V3__alone.sql", "create index concurrently on lockstep_history (script);"}});
  Running waiter(files.migrate(database.url()));
  wait_until("the waiting session to be idle for longer than it may", [&] {
    return database.psql(
               "select count(*) from pg_stat_activity where application_name like 'lockstep migrate%'"
               " and state = 'idle' and clock_timestamp() - state_change > '500ms'") == "1";
  });
  holder.run("select pg_advisory_unlock_all();");
  const auto outcome = waiter.wait();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(applied_versions(database) == "1\n2\n3");
  CHECK(database.errors().empty());
}

TEST_CASE("a statement that no second session may look at gives signs of life, and says why it is not more") {
  const TestDatabase database;
  const auto role = "limited_" + database.name();
  database.psql("create role " + role + " login connection limit 1; grant postgres to " + role);
  Gate gate(database);
  const MigrationDir files({{"V1__a.sql", Gate::knock}});
  Running migrator(files.migrate(database.url(role)));
  gate.wait_for_knock();
  migrator.wait_for_output("no second connection");
  gate.open();
  const auto outcome = migrator.wait();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("too many connections for role"));
  database.psql("drop owned by " + role + "; drop role " + role);
}

TEST_CASE("the session that looks for blockers outlives a time limit on idle sessions") {
  const TestDatabase database;
  database.psql("create table first (); create table second ()");
  PsqlSession first(database), second(database);
  first.run("begin; lock table first;");
  second.run("begin; lock table second;");
  const auto pids = std::pair{std::to_string(first.backend_pid()), std::to_string(second.backend_pid())};
  limit_sessions(database);

  const MigrationDir files({{"V1__a.sql", "alter table first add a int;"},
                            {"V2__quiet.sql", "select pg_sleep(0.8);"},
                            {"V3__b.sql", "alter table second add b int;"}});
  Running migrator(files.migrate(database.url()));
  migrator.wait_for_output(pids.first);
  first.run("rollback;");
  migrator.wait_for_output(pids.second);
  second.run("rollback;");
  const auto outcome = migrator.wait();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("blocked by"));
  CHECK(database.errors().empty());
}

TEST_CASE("a time limit that ends what lockstep itself asks is named, with what to do about it") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table a ();"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  PsqlSession holder(database);
  holder.run("begin; lock table lockstep_history;");
  const auto info = [&](const std::string& limit) {
    database.psql("alter database " + database.name() + " reset all");
    database.psql("alter database " + database.name() + " set " + limit + " = '300ms'");
    return run(lockstep({"info", "--url", database.url(), "--dir", files.path()}));
  };
  const auto statement = info("statement_timeout");
  CHECK(statement.exit_code == 4);
  CHECK_THAT(statement.err, ContainsSubstring("alter role … set statement_timeout"));
  if (PgServer::version() < 17) return;
  const auto transaction = info("transaction_timeout");
  CHECK(transaction.exit_code == 4);
  CHECK_THAT(transaction.err, ContainsSubstring("alter role … set transaction_timeout"));
}

TEST_CASE("a migration that statement_timeout ends is told how to set its own") {
  const TestDatabase database;
  database.psql("alter database " + database.name() + " set statement_timeout = '200ms'");
  const std::string slow = "select pg_sleep(0.5);";
  const auto ended = run(MigrationDir({{"V1__slow.sql", slow}}).migrate(database.url()));
  CHECK(ended.exit_code == 6);
  CHECK_THAT(ended.err, ContainsSubstring("-- lockstep: statement_timeout="));
  const auto done = run(MigrationDir({{"V1__slow.sql", "-- lockstep: statement_timeout=10m\n" + slow}})
                            .migrate(database.url()));
  INFO(done.err);
  CHECK(done.exit_code == 0);
}

}  // namespace lockstep::test
