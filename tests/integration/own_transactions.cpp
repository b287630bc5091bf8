#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "support/migrating.h"

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

std::string journal(const TestDatabase& database) {
  return database.psql("select state, statements_done from lockstep_history");
}

TEST_CASE("a file that controls its transactions finds its own names and role in each of them") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__own.sql",
        "-- lockstep: transaction=off\n"
        "begin;\ncreate table a (i int);\ninsert into a values (1);\ncommit;\n"
        "begin;\nalter table a add column t text default current_schema();\ncommit;\n"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(database.psql("select * from public.a") == "1|public");
  CHECK(journal(database) == "applied|7");
}

TEST_CASE("a failure inside a transaction of the file's own is resumed at its beginning") {
  const TestDatabase database;
  const auto text = [](const std::string& last) {
    return "-- lockstep: transaction=off\n"
           "create table a (i int);\nbegin;\ninsert into a values (1);\n" +
           last + "\ncommit;\n";
  };
  const MigrationDir files({{"V1__own.sql", text("insert into b values (2);")}});
  CHECK(run(files.migrate(database.url())).exit_code == 7);
  CHECK(journal(database) == "failed|1");
  CHECK(database.psql("select count(*) from a") == "0");

  files.write("V1__own.sql", text("insert into a values (2);"));
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(database.psql("select string_agg(i::text, ' ' order by i) from a") == "1 2");
  CHECK(applied_versions(database) == "1");
}

TEST_CASE("a file that leaves its transaction open is rolled back to its BEGIN and not called applied") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__open.sql",
        "-- lockstep: transaction=off\ncreate table a (i int);\nbegin;\ninsert into a values (1);\n"},
       {"V2__next.sql", "create table b (i int);"}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 7);
  CHECK_THAT(outcome.err, ContainsSubstring("V1__open.sql") && ContainsSubstring("COMMIT"));
  CHECK(journal(database) == "failed|1");
  CHECK(database.psql("select count(*) from a") == "0");
}

}  // namespace
}  // namespace lockstep::test
