#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "support/migrating.h"

// Files outside a transaction, on a real server: what is done stays done, and nothing is left out or done
// twice.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

const std::string alone = "-- lockstep: transaction=off\n";

std::string state_of_1(const TestDatabase& database) {
  return database.psql("select state, statements_done from lockstep_history where version = '1'");
}

TEST_CASE("a transaction in a file that controls its own runs as the file says") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__a.sql", alone + "begin;\ncreate table t (i int);\ninsert into t values (1);\n"
                             "commit;\ninsert into t values (2);\n"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(database.psql("select string_agg(i::text, ' ' order by i) from public.t") == "1 2");
  CHECK(state_of_1(database) == "applied|5");
}

TEST_CASE("a transaction of a file's own that fails is done again from its BEGIN") {
  const TestDatabase database;
  const auto text = [](const std::string& last) {
    return alone + "create table t (i int);\nbegin;\ninsert into t values (1);\n" + last + ";\ncommit;\n";
  };
  const MigrationDir files({{"V1__a.sql", text("select 1 / 0")}});
  CHECK(run(files.migrate(database.url())).exit_code == 7);
  CHECK(state_of_1(database) == "failed|1");
  CHECK(database.psql("select count(*) from t") == "0");

  files.write("V1__a.sql", text("insert into t values (2)"));
  const auto next = run(files.migrate(database.url()));
  INFO(next.err);
  CHECK(next.exit_code == 0);
  CHECK(next.err.find("WARNING") == std::string::npos);
  CHECK(database.psql("select string_agg(i::text, ' ' order by i) from t") == "1 2");
  CHECK(state_of_1(database) == "applied|5");
}

/// A file of which one statement is done and the second has failed.
struct PartWay {
  TestDatabase database{};
  MigrationDir files{{"V1__a.sql", alone + "create table a (i int);\ncreate table b (i nonsense);\n"}};

  PartWay() {
    REQUIRE(run(files.migrate(database.url())).exit_code == 7);
    REQUIRE(state_of_1(database) == "failed|1");
  }
  Outcome run_with(const std::string& text) {
    files.write("V1__a.sql", text);
    return run(files.migrate(database.url()));
  }
  void check_untouched(const Outcome& outcome) {
    INFO(outcome.err);
    CHECK(outcome.exit_code == 3);
    CHECK_THAT(outcome.err, ContainsSubstring("V1__a.sql") && ContainsSubstring("done"));
    CHECK(state_of_1(database) == "failed|1");
    CHECK(database.psql("select to_regclass('b') is null, to_regclass('c') is null") == "t|t");
  }
};

TEST_CASE("a file whose done statements were taken out or changed does not go on behind others") {
  PartWay way;
  way.check_untouched(way.run_with(alone + "create table b (i int);\ncreate table c (i int);\n"));
  way.check_untouched(way.run_with(alone + "create table a (i text);\ncreate table b (i int);\n"));
  way.check_untouched(way.run_with(alone + "-- nothing is left\n"));

  const auto mended =
      way.run_with(alone + "-- a comment\r\ncreate table a (i int);\r\ncreate table b (i int);\r\n");
  INFO(mended.err);
  CHECK(mended.exit_code == 0);
  CHECK(state_of_1(way.database) == "applied|2");
  CHECK(run(way.files.migrate(way.database.url())).exit_code == 0);
}

TEST_CASE("plan shows how a file outside a transaction is journaled, and where it goes on") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql",
                             "-- lockstep: transaction=off, lock_timeout=3s\nset search_path = public;\n"
                             "create table a (i int);\nvacuum a;\nselect 1 / 0;\n"}});
  auto plan = files.migrate(database.url());
  plan.argv[1] = "plan";
  const auto order = [](const std::string& text, const std::vector<std::string>& parts) {
    std::size_t at = 0;
    for (const auto& part : parts) {
      INFO(part);
      at = text.find(part, at);
      REQUIRE(at != std::string::npos);
    }
  };
  const auto fresh = run(plan).out;
  INFO(fresh);
  order(fresh, {"set lock_timeout = 3000;\n", "insert into", "\nbegin;\nset search_path = public;\n",
                "update", "\ncommit;\nbegin;\ncreate table a", "\ncommit;\nwith done as (update",
                "intent = 'sha256:", ";\nvacuum a;\nwith done as (update", "intent = null",
                ";\nbegin;\nselect 1 / 0;\n", "state = 'applied'"});

  REQUIRE(run(files.migrate(database.url())).exit_code == 7);
  const auto resumed = run(plan).out;
  INFO(resumed);
  order(resumed, {"update", "not run again", "\nset search_path = public;\n", "\nbegin;\nselect 1 / 0;\n"});
  CHECK(resumed.find("create table a") == std::string::npos);
  CHECK(resumed.find("(rank, version") == std::string::npos);
}

TEST_CASE("a file of which something is done does not begin again in a transaction") {
  PartWay way;
  way.check_untouched(way.run_with("create table if not exists a (i int);\ncreate table b (i int);\n"));
}

TEST_CASE("a file that leaves its own transaction open is rolled back to its BEGIN and not applied") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__a.sql", alone + "create table t (i int);\nbegin;\ninsert into t values (1);\n"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 7);
  CHECK_THAT(outcome.err, ContainsSubstring("does not end it"));
  CHECK(state_of_1(database) == "failed|1");
  CHECK(database.psql("select count(*) from t") == "0");

  files.write("V1__a.sql", alone + "create table t (i int);\nbegin;\ninsert into t values (1);\ncommit;\n");
  CHECK(run(files.migrate(database.url())).exit_code == 0);
  CHECK(database.psql("select count(*) from t") == "1");
}

TEST_CASE("a file whose history row is taken away under it is not said to be applied") {
  for (const std::string last :
       {"delete from lockstep_history;\n", "delete from lockstep_history;\nvacuum t;\n"}) {
    const TestDatabase database;
    const MigrationDir files({{"V1__a.sql", alone + "create table t (i int);\n" + last}});
    const auto outcome = run(files.migrate(database.url()));
    INFO(outcome.err);
    CHECK(outcome.exit_code == 7);
    CHECK_THAT(outcome.err,
               ContainsSubstring("V1__a.sql") && ContainsSubstring("without holding the migration lock"));
    CHECK(state_of_1(database) == "failed|1");
  }
}

}  // namespace
}  // namespace lockstep::test
