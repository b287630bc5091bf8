#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>
#include <string>
#include <vector>

#include "support/postgres_lab.h"

// How scripts run and are recorded, on a real server.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

/// A locked session that applies one file after the other.
class Runner {
 public:
  Runner() : Runner(SessionOptions{}) {}
  explicit Runner(const SessionOptions& extra) {
    auto options = lab.options();
    options.role = extra.role;
    options.search_path = extra.search_path;
    database = lab.open(options);
    REQUIRE(database->try_lock().acquired);
    database->prepare_history();
  }

  AppliedStep apply(std::string_view script, std::string_view sql) { return apply(lab.file(script, sql)); }

  AppliedStep apply(const Migration& migration) {
    const auto applied =
        database->apply({.migration = migration}, rank_,
                        {.noticed = [this](const Notice& notice) { notices.push_back(notice); }});
    rank_ = applied.rank;
    return applied;
  }

  Error failure(std::string_view script, std::string_view sql) { return failure(lab.file(script, sql)); }

  Error failure(const Migration& migration) {
    try {
      apply(migration);
    } catch (const Failure& failed) {
      return failed.error();
    }
    FAIL("it did not fail");
    return {};
  }

  PostgresLab lab;
  std::unique_ptr<Database> database;
  std::vector<Notice> notices;

 private:
  std::int64_t rank_ = 0;
};

std::string place(const Error& error) {
  return error.where ? to_string(*error.where) : std::string{};
}

}  // namespace

TEST_CASE("an error is reported at its character, whatever line ends and letters stand before it") {
  Runner runner;
  const auto error =
      runner.failure("V1__a.sql", "create table a (id int);\r\n-- é\r\nselect 'é',\tuper('x');\r\n");
  CHECK(place(error) == "migrations/V1__a.sql:3:13");
  CHECK(error.excerpt == "select 'é',\tuper('x');");
  CHECK(error.sqlstate == "42883");
  CHECK(error.kind == ErrorKind::migration);
  CHECK(runner.lab.server().psql("select to_regclass('a') is null") == "t");
}

TEST_CASE("an error in a statement that does not begin its line keeps its column") {
  Runner runner;
  CHECK(place(runner.failure("V1__a.sql", "select 1; select nothing;")) == "migrations/V1__a.sql:1:18");
}

TEST_CASE("an error for which the server gives no position is reported at its statement") {
  Runner runner;
  const auto error = runner.failure("V1__a.sql", "select 1;\n\n  alter table missing add x int;\nselect 2;");
  CHECK(place(error) == "migrations/V1__a.sql:3:3");
  CHECK(error.sqlstate == "42P01");
}

TEST_CASE("a syntax error late in a file is found although nothing ran") {
  Runner runner;
  CHECK(place(runner.failure("V1__a.sql", "create table a (id int);\ncreate tabel b (id int);")) ==
        "migrations/V1__a.sql:2:8");
}

TEST_CASE("a malformed row of COPY data is reported at its line in the file") {
  Runner runner;
  const auto error =
      runner.failure("V1__a.sql", "create table a (id int);\ncopy a from stdin;\n1\n2\nthree\n\\.\n");
  CHECK(place(error) == "migrations/V1__a.sql:5");
  CHECK(error.sqlstate == "22P02");
}

TEST_CASE("an error carries what the server says of detail, hint, context and names") {
  Runner runner;
  const auto error = runner.failure("V1__a.sql",
                                    "create table a (id int constraint only_small check (id < 10));\n"
                                    "do $$ begin insert into a values (11); end $$;");
  CHECK(error.sqlstate == "23514");
  CHECK_THAT(error.detail, ContainsSubstring("Failing row contains (11)"));
  CHECK_THAT(error.detail, ContainsSubstring("constraint only_small"));
  CHECK_THAT(error.context, ContainsSubstring("PL/pgSQL function inline_code_block line 1"));
}

TEST_CASE("COPY data, functions and several statements run in one transaction with their row") {
  Runner runner;
  // PostgreSQL 14 was the first to know BEGIN ATOMIC.
  const std::string body =
      PgServer::version() >= 14 ? "begin atomic select 1; select 2; end" : "as 'select 1; select 2;'";
  const auto applied =
      runner.apply("V1__a.sql",
                   "create table a (id int, note text);\ncopy a from stdin;\n1\tone; two\n2\t\\N\n\\.\n"
                   "create function f() returns int language sql " +
                       body +
                       ";\n"
                       "insert into a values (3, 'x;y');");
  CHECK(applied.statements == 4);
  CHECK(runner.lab.server().psql("select string_agg(id || coalesce(note, '-'), ',' order by id) from a") ==
        "1one; two,2-,3x;y");
  CHECK(runner.lab.server().psql("select statements_done from lockstep_history") == "4");
}

TEST_CASE("a constraint that fails at COMMIT rolls the file back and says so") {
  Runner runner;
  const auto error = runner.failure("V1__a.sql",
                                    "create table p (id int primary key);\n"
                                    "create table c (p int references p deferrable initially deferred);\n"
                                    "insert into c values (1);");
  CHECK_THAT(error.message, ContainsSubstring("COMMIT failed"));
  CHECK(error.sqlstate == "23503");
  CHECK(runner.lab.server().psql(
            "select to_regclass('c') is null, (select count(*) from lockstep_history)") == "t|0");
}

TEST_CASE("a deferred trigger runs with the role and search_path that its file has at its end") {
  Runner runner;
  runner.lab.server().psql("create role late_owner; create schema late authorization late_owner");
  runner.apply(
      "V1__a.sql",
      "set role late_owner; set search_path = late; create table a (i int); create table seen (who text);\n"
      "create function look() returns trigger language plpgsql as\n"
      "$$ begin insert into seen values (current_user); return null; end $$;\n"
      "create constraint trigger t after insert on a deferrable initially deferred\n"
      "for each row execute function look();\ninsert into a values (1);");
  CHECK(runner.lab.server().psql("select who from late.seen") == "late_owner");
  CHECK(runner.lab.server().psql("select tableowner from pg_tables where tablename = 'lockstep_history'") ==
        "postgres");
  runner.lab.server().psql("drop schema late cascade; drop role late_owner");
}

TEST_CASE("a file that changes client_encoding does not change how the next one is read") {
  Runner runner;
  runner.apply("V1__encoding.sql", "set client_encoding = 'LATIN1';");
  runner.apply("V2__text.sql", "create table word as select 'größe'::text as word;");
  CHECK(runner.lab.server().psql("select length(word) from word") == "5");
}

TEST_CASE("a file that changes client_encoding is recorded under its own name") {
  Runner runner;
  auto migration = runner.lab.file("V1__größe.sql", "set client_encoding = 'LATIN1'; select 1;");
  runner.apply(migration);
  CHECK(runner.lab.server().psql("select description, script from lockstep_history") ==
        "größe|V1__größe.sql");
  migration = runner.lab.file("V2__größe.sql", "set client_encoding = 'LATIN1'; select 1; select 2;");
  migration.transaction = TransactionMode::off;
  runner.apply(migration);
  CHECK(runner.lab.server().psql("select description from lockstep_history where rank = 2") == "größe");
}

TEST_CASE("nothing of a session leaks from one file to the next, and the lock stays") {
  Runner runner;
  runner.lab.server().psql("create role leaker; grant all on schema public to leaker; create schema other");
  runner.apply("V1__leak.sql",
               "create temp table t (id int); prepare p as select 1; declare c cursor with hold for select 1;"
               "listen news; set search_path = other; set statement_timeout = 12345; set work_mem = '123MB';"
               "select set_config('my.own', 'leaked', false); set session authorization leaker;");
  runner.apply(
      "V2__look.sql",
      "create table seen as select current_user::text as who, current_setting('search_path') as path,"
      " current_setting('statement_timeout') as timeout, current_setting('work_mem') as memory,"
      " coalesce(current_setting('my.own', true), '') as own, to_regclass('pg_temp.t') is null as no_temp,"
      " (select count(*) from pg_prepared_statements) + (select count(*) from pg_cursors)"
      " + (select count(*) from pg_listening_channels()) as things;");
  CHECK(runner.lab.server().psql("select * from seen") == "postgres|\"$user\", public|0|4MB||t|0");
  CHECK(runner.lab.server().psql(
            "select count(*) from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'") == "1");
  runner.database->unlock();
}

TEST_CASE("role and search_path of the settings hold in every file") {
  PostgresLab lab;
  lab.server().psql("create role owner_of_app; create schema \"App one\" authorization owner_of_app;");
  auto options = lab.options();
  options.role = "owner_of_app";
  options.search_path = "\"App one\", public";
  const auto database = lab.open(options);
  CHECK(database->facts().schema == "App one");
  REQUIRE(database->try_lock().acquired);
  database->prepare_history();
  database->apply({.migration = lab.file(
                       "V1__a.sql", "create table a (id int); set role postgres; set search_path = public;")},
                  0, {});
  database->apply({.migration = lab.file("V2__b.sql", "create table b (id int);")}, 1, {});
  CHECK(lab.server().psql("select schemaname, tablename, tableowner from pg_tables where tableowner = "
                          "'owner_of_app' order by 2") ==
        "App one|a|owner_of_app\nApp one|b|owner_of_app\nApp one|lockstep_history|owner_of_app");
  lab.server().psql("drop schema \"App one\" cascade; drop role owner_of_app");
}

TEST_CASE("a BEGIN and COMMIT around a whole file are absorbed, with the isolation level of the BEGIN") {
  Runner runner;
  runner.apply("V1__a.sql",
               "begin isolation level serializable;\ncreate table a as select "
               "current_setting('transaction_isolation') as level;\ncommit;");
  CHECK(runner.lab.server().psql("select level from a") == "serializable");
  runner.apply("V2__b.sql",
               "begin isolation level repeatable read;\ncreate table b as select "
               "current_setting('transaction_isolation') as level;\ncommit;");
  CHECK(runner.lab.server().psql("select level from b") == "repeatable read");
}

TEST_CASE("a file runs at the isolation level that its role has by default") {
  PostgresLab lab;
  lab.server().psql("alter database \"" + lab.server().name() +
                    "\" set default_transaction_isolation = 'serializable'");
  const auto database = lab.open();
  REQUIRE(database->try_lock().acquired);
  database->prepare_history();
  for (int i = 0; i < 2; ++i) {
    const auto name = "V" + std::to_string(i + 1) + "__a.sql";
    database->apply(
        {.migration = lab.file(name, "create table t" + std::to_string(i) +
                                         " as select current_setting('transaction_isolation') as level;")},
        i, {});
  }
  CHECK(lab.server().psql("select level from t0 union all select level from t1") ==
        "serializable\nserializable");
}

TEST_CASE("a settings change within a file changes how the rest of it is read") {
  Runner runner;
  runner.apply("V1__a.sql",
               "set standard_conforming_strings = off; set escape_string_warning = off;\n"
               "create table a as select 'it\\'s; one' as text;\nset standard_conforming_strings = "
               "on;\ninsert into a values ('back\\slash');");
  CHECK(runner.lab.server().psql("select text from a order by 1 desc") == "it's; one\nback\\slash");
}

TEST_CASE("notices reach the sink while their file runs") {
  Runner runner;
  runner.apply("V1__a.sql",
               "do $$ begin raise notice 'hello'; raise warning 'careful' using hint = 'slowly'; end $$;");
  REQUIRE(runner.notices.size() == 2);
  CHECK(runner.notices[0].severity == "NOTICE");
  CHECK(runner.notices[0].message == "hello");
  CHECK(runner.notices[1].severity == "WARNING");
  CHECK(runner.notices[1].hint == "slowly");
}

TEST_CASE("rows that nobody reads do not stop a file") {
  Runner runner;
  CHECK(
      runner
          .apply(
              "V1__a.sql",
              "select repeat('x', 100) from generate_series(1, 300000); copy (select 1) to stdout; select 1;")
          .statements == 3);
}

TEST_CASE("a file that changed after it was checked is rolled back") {
  Runner runner;
  auto migration = runner.lab.file("V1__a.sql", "create table a (id int);");
  migration.checksum = "sha256:of something else";
  CHECK(runner.failure(migration).code == "file_changed");
  CHECK(runner.lab.server().psql("select to_regclass('a') is null") == "t");

  migration.transaction = TransactionMode::off;
  CHECK(runner.failure(migration).code == "file_changed");
  CHECK(runner.lab.server().psql("select to_regclass('a') is null") == "t");
}

TEST_CASE("a non-transactional file goes on at the statement that failed") {
  Runner runner;
  runner.apply("V1__t.sql", "create table t (a int, b int); insert into t values (1, 1), (1, 2);");
  const std::string_view sql =
      "create index concurrently t_b on t (b);\ncreate unique index concurrently t_a on t (a);\n";
  auto migration = runner.lab.file("V2__i.sql", sql);
  migration.transaction = TransactionMode::off;
  const auto error = runner.failure(migration);
  CHECK(error.kind == ErrorKind::part_way);
  CHECK(place(error) == "migrations/V2__i.sql:2:1");
  CHECK(error.sqlstate == "23505");
  CHECK(runner.lab.server().psql("select state, statements_done from lockstep_history where version = '2'") ==
        "failed|1");

  runner.lab.server().psql("delete from t where b = 2");
  const auto history = runner.database->history();
  const auto resumed = runner.database->apply({.migration = migration, .resumes = history[1]}, 2, {});
  CHECK(resumed.rank == 2);
  CHECK(resumed.statements == 1);
  CHECK(runner.lab.server().psql("select state, statements_done from lockstep_history where version = '2'") ==
        "applied|2");
  CHECK(runner.lab.server().psql(
            "select count(*) from pg_index where indrelid = 't'::regclass and indisvalid") == "2");
}

TEST_CASE("an error inside a block or a function of the file is placed on its line there") {
  Runner runner;
  const auto place_of = [&](std::string_view sql) {
    const auto error = runner.failure("V1__a.sql", sql);
    return place(error) + " " + error.excerpt;
  };
  CHECK(place_of("select 1;\ndo $$\nbegin\n  raise 'oh';\nend $$;\n") ==
        "migrations/V1__a.sql:4   raise 'oh';");
  CHECK(place_of("do 'begin\r\n  perform 1;\r\n  perform 1 / 0;\r\nend';\r\n") ==
        "migrations/V1__a.sql:3   perform 1 / 0;");
  const std::string function =
      "create function \"F\"(a int) returns int language plpgsql as $body$\n"
      "declare b int;\nbegin\n  insert into nowhere values (a);\n  return 1;\nend $body$;\n";
  CHECK(place_of(function + "select 1;\nselect \"F\"(3);\n") ==
        "migrations/V1__a.sql:4   insert into nowhere values (a);");
  CHECK(place_of(function + "do $$\nbegin\n  perform \"F\"(3);\nend $$;\n") ==
        "migrations/V1__a.sql:4   insert into nowhere values (a);");
  runner.lab.server().psql(
      "create function elsewhere() returns int language plpgsql as 'begin raise ''x''; end'");
  CHECK(place_of("select 1;\nselect elsewhere();\n") == "migrations/V1__a.sql:2:1 select elsewhere();");
  CHECK(place_of("select 1;\ndo $$\nbegin\n\n  perform elsewhere();\nend $$;\n") ==
        "migrations/V1__a.sql:5   perform elsewhere();");
}

TEST_CASE("a timeout that a directive asks for holds in its file only") {
  Runner runner;
  auto migration =
      runner.lab.file("V1__a.sql", "create table a as select current_setting('lock_timeout') as t;");
  migration.directives.lock_timeout = Milliseconds(2000);
  runner.apply(migration);
  runner.apply("V2__b.sql", "insert into a select current_setting('lock_timeout');");
  CHECK(runner.lab.server().psql("select string_agg(t, ',') from a") == "2s,5s");
}

TEST_CASE("a backend that is ended in the middle of a file leaves nothing of it") {
  Runner runner;
  const auto error = runner.failure(
      "V1__a.sql",
      "create table a (id int); select pg_terminate_backend(pg_backend_pid()); create table b (id int);");
  INFO(render(error));
  CHECK(error.sqlstate == "57P01");
  CHECK(error.code == "connection_lost");
  CHECK(runner.lab.server().psql("select count(*) from pg_tables where tablename in ('a', 'b')") == "0");
  CHECK(runner.lab.open()->try_lock().acquired);
}

TEST_CASE("a file that releases the lock by its key is rolled back when somebody else could take it") {
  Runner runner;
  const auto& facts = runner.database->facts();
  const auto key =
      "(" + std::to_string(facts.lock_namespace) + ", " + std::to_string(facts.lock_resource) + ")";
  SECTION("in both forms") {
    const auto error = runner.failure("V1__a.sql", "create table a (id int); select pg_advisory_unlock" +
                                                       key + ", pg_advisory_unlock_shared" + key + ";");
    CHECK(error.code == "lock_lost");
    CHECK(runner.lab.server().psql("select to_regclass('a') is null") == "t");
  }
  SECTION("in the exclusive form only, which still keeps others out") {
    runner.apply("V1__a.sql", "create table a (id int); select pg_advisory_unlock" + key + ";");
    CHECK_FALSE(runner.lab.open()->try_lock().acquired);
  }
}

TEST_CASE("a file that waits for a lock gives up after lock_timeout, and its blocker is seen meanwhile") {
  PostgresLab lab;
  lab.server().psql("create table busy (id int)");
  PsqlSession other(lab.server());
  other.run("begin; lock table busy;");
  auto options = lab.options();
  options.lock_timeout = Milliseconds(1500);
  const auto database = lab.open(options);
  REQUIRE(database->try_lock().acquired);
  database->prepare_history();

  std::vector<Activity> seen;
  const auto migration = lab.file("V1__a.sql", "select 1;\nalter table busy add note text;");
  try {
    database->apply({.migration = migration}, 0,
                    {.running = [&](const Activity& activity) { seen.push_back(activity); }});
    FAIL("it did not fail");
  } catch (const Failure& failure) {
    CHECK(failure.error().sqlstate == "55P03");
    CHECK(place(failure.error()) == "migrations/V1__a.sql:2:1");
  }
  REQUIRE_FALSE(seen.empty());
  CHECK(seen[0].waits_for == "Lock: relation");
  REQUIRE(seen[0].blockers.size() == 1);
  CHECK(seen[0].blockers[0].pid == other.backend_pid());
  CHECK_THAT(seen[0].blockers[0].query,
             ContainsSubstring("pg_backend_pid") || ContainsSubstring("lock table busy"));
}

}  // namespace lockstep::test
