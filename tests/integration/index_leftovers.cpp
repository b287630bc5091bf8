#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "support/migrating.h"

// CREATE INDEX CONCURRENTLY and REINDEX CONCURRENTLY end to end: no INVALID index is left, and none is taken
// for success.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string indexes_of_t(const TestDatabase& database) {
  return database.psql(
      "select string_agg(indexrelid::regclass || case when indisvalid then '' else ' INVALID' end, ', ' "
      "order by indexrelid::regclass::text) from pg_index where indrelid = 't'::regclass");
}

/// A table with two equal rows, and the INVALID unique index `i` that a failed build has left on it.
struct Invalid {
  TestDatabase database{};

  explicit Invalid(const std::string& name = "i") {
    database.psql("create table t (a int); insert into t values (1), (1)");
    CHECK_THROWS(database.psql("create unique index concurrently " + name + " on t (a)"));
    REQUIRE(indexes_of_t(database) == name + " INVALID");
    database.psql("delete from t where ctid = '(0,2)'");
  }
  Outcome migrate(const std::string& sql) {
    const MigrationDir files({{"V1__i.sql", sql}});
    return run(files.migrate(database.url()));
  }
};

TEST_CASE("an INVALID index that an earlier try left is dropped and built again") {
  Invalid lab;
  const auto outcome = lab.migrate("create unique index concurrently i on t (a);\n");
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, ContainsSubstring("dropped index public.i") && ContainsSubstring("INVALID"));
  CHECK(indexes_of_t(lab.database) == "i");
}

TEST_CASE("IF NOT EXISTS does not take an INVALID index for success") {
  Invalid lab;
  const auto outcome = lab.migrate("create unique index concurrently if not exists I on public.t (a);\n");
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(indexes_of_t(lab.database) == "i");
}

TEST_CASE("other INVALID indexes of the table are not touched") {
  Invalid lab("other");
  CHECK(lab.migrate("create index concurrently i on t (a);\n").exit_code == 0);
  CHECK(indexes_of_t(lab.database) == "i, other INVALID");
}

TEST_CASE("a build that fails on a duplicate names the key and leaves no index behind") {
  for (const std::string name : {"i", "\"I with space\"", ""}) {
    const TestDatabase database;
    database.psql("create table t (a int); insert into t values (7), (7)");
    const MigrationDir files({{"V1__i.sql", "create unique index concurrently " + name + " on t (a);\n"}});
    const auto outcome = run(files.migrate(database.url()));
    INFO(outcome.err);
    CHECK(outcome.exit_code == 7);
    CHECK_THAT(outcome.err, ContainsSubstring("V1__i.sql:1:1") && ContainsSubstring("23505") &&
                                ContainsSubstring("(a)=(7)"));
    CHECK(indexes_of_t(database).empty());

    database.psql("delete from t where ctid = '(0,1)'");
    CHECK(run(files.migrate(database.url())).exit_code == 0);
    CHECK(database.psql("select count(*) from pg_index where indrelid = 't'::regclass and indisvalid") ==
          "1");
  }
}

TEST_CASE("what a failed REINDEX CONCURRENTLY has left goes with the next one") {
  for (const std::string what : {"index concurrently i", "table concurrently t"}) {
    const TestDatabase database;
    database.psql("create table t (a int); create index i on t (a)");
    PsqlSession reader(database);
    reader.run("begin; select * from t;");
    Running reindex({.argv = {PgServer::program("psql"), "-X", "-d", database.url(), "-c",
                              "reindex index concurrently i"}});
    const auto is_left = [&] { return indexes_of_t(database).starts_with("i, i_cc"); };
    wait_until("the new index", is_left);
    database.psql(
        "select pg_terminate_backend(pid) from pg_stat_activity where query like 'reindex%' and pid <> "
        "pg_backend_pid()");
    reindex.wait();
    reader.run("commit;");
    REQUIRE(is_left());

    const MigrationDir files({{"V1__i.sql", "reindex " + what + ";\n"}});
    const auto outcome = run(files.migrate(database.url()));
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK(indexes_of_t(database) == "i");
  }
}

TEST_CASE("an index that another session is building is waited for, not dropped") {
  const TestDatabase database;
  database.psql("create table t (a int); insert into t values (1)");
  PsqlSession writer(database);
  writer.run("begin; insert into t values (2);");
  Running builder({.argv = {PgServer::program("psql"), "-X", "-d", database.url(), "-c",
                            "create index concurrently i on t (a)"}});
  wait_until("the other session's index", [&] { return indexes_of_t(database) == "i INVALID"; });
  const auto oid = database.psql("select 'i'::regclass::oid");

  const MigrationDir files({{"V1__i.sql", "create index concurrently if not exists i on t (a);\n"}});
  Running migrator(files.migrate(database.url()));
  migrator.wait_for_output("waiting until it has ended");
  writer.run("commit;");
  CHECK(builder.wait().exit_code == 0);
  const auto outcome = migrator.wait();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(indexes_of_t(database) == "i");
  CHECK(database.psql("select 'i'::regclass::oid") == oid);
}

TEST_CASE("an index on a partitioned table gets the recipe") {
  const TestDatabase database;
  database.psql("create table t (a int) partition by list (a)");
  const MigrationDir files({{"V1__i.sql", "create index concurrently i on t (a);\n"}});
  const auto outcome = run(files.migrate(database.url()));
  CHECK(outcome.exit_code == 7);
  CHECK_THAT(outcome.err, ContainsSubstring("0A000") && ContainsSubstring("ATTACH PARTITION"));
}

TEST_CASE("a statement that only the server knows not to run in a transaction runs outside one") {
  const TestDatabase database;
  database.psql(
      "create table t (a int) partition by list (a); create table t1 partition of t for values in (1);"
      "create index i on t (a)");
  const MigrationDir files({{"V1__i.sql",
                             "-- lockstep: transaction=off\ncreate table u (a int);\nreindex table t;\n"
                             "insert into u values (1);\n"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(database.psql("select count(*) from u") == "1");
  CHECK(database.psql("select state, statements_done from lockstep_history") == "applied|3");
}

}  // namespace
}  // namespace lockstep::test
