#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "support/migrating.h"
#include "support/proxy.h"

// Files outside a transaction whose connection dies, at any moment: the next run knows what was done, looks
// it up in the catalog, or asks.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::string alone = "-- lockstep: transaction=off\n";

std::string row_of_1(const TestDatabase& database) {
  return database.psql(
      "select state, statements_done, intent is null from lockstep_history where version = '1'");
}

void wait_for_lock_to_be_free(const TestDatabase& database) {
  wait_until("the dead run's backend to end", [&] {
    return database.psql("select count(*) from pg_catalog.pg_locks where locktype = 'advisory'") == "0";
  });
}

/// Runs with a connection that is cut at the first message with `text`, and waits until its lock is free.
Outcome run_cut(const TestDatabase& database, const MigrationDir& files, const std::string& text,
                Fault::Moment moment) {
  const Proxy proxy(database.server(), {.fault = {.kind = Fault::Kind::cut, .moment = moment, .text = text}});
  auto outcome = run(files.migrate(proxy.url(database.name())));
  REQUIRE(proxy.fault_happened());
  wait_for_lock_to_be_free(database);
  return outcome;
}

TEST_CASE("whichever round trip the connection dies in, the next run ends the file and does nothing twice") {
  const MigrationDir files({{"V1__a.sql", alone + "create table t (i int);\n"
                                                  "create index concurrently t_i on t (i);\n"
                                                  "copy t from stdin;\n1\n\\.\n"
                                                  "begin;\ninsert into t values (2);\ncommit;\n"
                                                  "vacuum t;\n"
                                                  "insert into t values (3);\n"}});
  const auto moment = GENERATE(Fault::Moment::before, Fault::Moment::after);
  int cuts = 0;
  for (int trip = 1;; ++trip) {
    INFO("cut " << (moment == Fault::Moment::before ? "before" : "after") << " round trip " << trip);
    const TestDatabase database;
    bool cut = false;
    {
      const Proxy proxy(database.server(),
                        {.fault = {.kind = Fault::Kind::cut, .moment = moment, .round_trip = trip}});
      run(files.migrate(proxy.url(database.name())));
      cut = proxy.fault_happened();
    }
    wait_for_lock_to_be_free(database);
    const auto next = run(files.migrate(database.url()));
    INFO(next.err);
    REQUIRE(next.exit_code == 0);
    CHECK(database.psql("select string_agg(i::text, ' ' order by i) from t") == "1 2 3");
    CHECK(database.psql(
              "select count(*), bool_and(indisvalid) from pg_index where indrelid = 't'::regclass") == "1|t");
    CHECK(row_of_1(database) == "applied|8|t");
    if (!cut) break;
    ++cuts;
  }
  CHECK(cuts > 15);
}

TEST_CASE("an index whose build ended while the connection died is not built again") {
  const TestDatabase database;
  database.psql("create table t (i int)");
  const MigrationDir files({{"V1__a.sql", "create index concurrently i on t (i);\n"}});
  const auto lost = run_cut(database, files, "create index", Fault::Moment::after);
  CHECK(lost.exit_code == 7);
  wait_until("the index", [&] { return database.psql("select to_regclass('i') is not null") == "t"; });
  REQUIRE(row_of_1(database) == "running|0|f");
  const auto oid = database.psql("select 'i'::regclass::oid");

  const auto next = run(files.migrate(database.url()));
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK_THAT(next.err, ContainsSubstring("not run again"));
  CHECK(database.psql("select 'i'::regclass::oid") == oid);
  CHECK(row_of_1(database) == "applied|1|t");
}

TEST_CASE("a statement that no catalog can tell of is asked about, and repair takes the answer") {
  const TestDatabase database;
  database.psql(
      "create table t (i int); create procedure p() language plpgsql as "
      "'begin insert into t values (1); commit; end'");
  const MigrationDir files(
      {{"V1__a.sql", alone + "create table a (i int);\ncall p();\ninsert into t values (2);\n"}});
  const auto moment = GENERATE(Fault::Moment::before, Fault::Moment::after);
  run_cut(database, files, "call p()", moment);
  const bool was_done = moment == Fault::Moment::after;
  const std::string done = was_done ? "1" : "0";
  wait_until("the procedure", [&] { return database.psql("select count(*) from t") == done; });

  for (int again = 0; again < 2; ++again) {
    const auto asks = run(files.migrate(database.url()));
    INFO(asks.err);
    CHECK(asks.exit_code == 3);
    CHECK_THAT(asks.err, ContainsSubstring("3 | call p();"));
    CHECK_THAT(asks.err, ContainsSubstring("V1__a.sql:3:1") &&
                             ContainsSubstring("repair --statement-done V1:2") &&
                             ContainsSubstring("repair --statement-again V1:2"));
    CHECK(database.psql("select count(*) from t") == done);
    CHECK(row_of_1(database) == "failed|1|f");
  }

  auto repair =
      files.migrate(database.url(), {was_done ? "--statement-done" : "--statement-again", "V1:2", "--yes"});
  for (auto& argument : repair.argv) {
    if (argument == "migrate") argument = "repair";
  }
  const auto repaired = run(repair);
  INFO(repaired.out << repaired.err);
  CHECK(repaired.exit_code == 0);
  CHECK(row_of_1(database) == (was_done ? "failed|2|t" : "failed|1|t"));

  const auto next = run(files.migrate(database.url()));
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(database.psql("select string_agg(i::text, ' ' order by i) from t") == "1 2");
}

TEST_CASE("a statement in doubt that was edited is asked about, not run") {
  const TestDatabase database;
  database.psql("create table t (i int)");
  const MigrationDir files({{"V1__a.sql", "create index concurrently i on t (i);\n"}});
  run_cut(database, files, "create index", Fault::Moment::before);
  REQUIRE(row_of_1(database) == "running|0|f");

  files.write("V1__a.sql", "create index concurrently j on t (i);\n");
  const auto changed = run(files.migrate(database.url()));
  INFO(changed.err);
  CHECK(changed.exit_code == 3);
  CHECK_THAT(changed.err, ContainsSubstring("another statement") && ContainsSubstring("V1:1"));
  files.write("V1__a.sql", alone + "-- nothing\n");
  const auto gone = run(files.migrate(database.url()));
  CHECK(gone.exit_code == 3);
  CHECK_THAT(gone.err, ContainsSubstring("no statement there any more"));
  files.write("V1__a.sql", "create table u (i int);\n");
  CHECK(run(files.migrate(database.url())).exit_code == 3);

  files.write("V1__a.sql", "create index concurrently i on t (i);\n");
  CHECK(run(files.migrate(database.url())).exit_code == 0);
  CHECK(database.psql("select indisvalid from pg_index where indexrelid = 'i'::regclass") == "t");
}

TEST_CASE("a partition whose detaching was cut off is detached to the end") {
  const TestDatabase database;
  database.psql(
      "create table m (i int) partition by list (i);"
      "create table m1 partition of m for values in (1)");
  const MigrationDir files({{"V1__a.sql", "alter table m detach partition m1 concurrently;\n"}});
  if (PgServer::version() < 14) {  // the statement is new in 14
    const auto refused = run(files.migrate(database.url()));
    CHECK(refused.exit_code == 7);
    CHECK_THAT(refused.err, ContainsSubstring("V1__a.sql:1:35: syntax error at or near \"concurrently\""));
    files.write("V1__a.sql", "alter table m detach partition m1;\n");
    CHECK(run(files.migrate(database.url())).exit_code == 0);
    CHECK(database.psql("select count(*) from pg_inherits") == "0");
    return;
  }
  PsqlSession reader(database);
  reader.run("begin; select * from m;");
  Running migrator(files.migrate(database.url()));
  wait_until("the partition to be on its way",
             [&] { return database.psql("select count(*) from pg_inherits where inhdetachpending") == "1"; });
  database.psql(
      "select pg_terminate_backend(pid) from pg_stat_activity where query like 'alter table m detach%' "
      "and pid <> pg_backend_pid()");
  CHECK(migrator.wait().exit_code == 7);
  reader.run("commit;");
  wait_for_lock_to_be_free(database);

  const auto next = run(files.migrate(database.url()));
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(database.psql("select count(*) from pg_inherits") == "0");
  CHECK(row_of_1(database) == "applied|1|t");
}

TEST_CASE("settings of the statements that are done hold again when a file goes on") {
  const TestDatabase database;
  database.psql("create schema app; create schema other");
  const auto text = [](const std::string& last) {
    return alone +
           "set search_path = app;\nselect set_config('work_mem', '9MB', false);\n"
           "begin;\nset local search_path = other;\ncommit;\n" +
           last;
  };
  const MigrationDir files({{"V1__a.sql", text("select 1 / 0;\n")}});
  CHECK(run(files.migrate(database.url())).exit_code == 7);
  files.write("V1__a.sql", text("create table t as select current_setting('work_mem') as m;\n"));
  const auto next = run(files.migrate(database.url()));
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(database.psql("select m from app.t") == "9MB");
}

}  // namespace
}  // namespace lockstep::test
