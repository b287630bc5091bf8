#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/migrating.h"

// Placeholders, replaced by the built program.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using nlohmann::json;

const std::vector<std::string> values{
    "--set",   "schema=a_long_name_of_a_schema", "--set", "e=", "--set", "lines=1,\n2,\n3", "--set",
    "bad=nope"};

json error_of(const TestDatabase& database, const MigrationDir& files) {
  auto more = values;
  more.insert(more.end(), {"--output", "json"});
  const auto outcome = run(files.migrate(database.socket_url(), more));
  INFO(outcome.out << outcome.err);
  CHECK(outcome.exit_code >= 6);
  return json::parse(outcome.out).at("error");
}

std::string place_of(const json& error) {
  const auto file = error.at("file").get<std::string>();
  const auto column = error.at("column");
  return file.substr(file.rfind('/') + 1) + ":" + error.at("line").dump() + ":" + column.dump();
}

std::string place_in(const std::string& script) {
  const TestDatabase database;
  return place_of(error_of(database, MigrationDir({{"V1__a.sql", script}})));
}

}  // namespace

TEST_CASE("an error behind a placeholder is placed in the file as it is written") {
  CHECK(place_in("select '${schema}', nope;\n") == "V1__a.sql:1:21");
  CHECK(place_in("\xEF\xBB\xBFselect\t'é${lines}', '${e}',\r\n\tnope;\n") == "V1__a.sql:2:2");
  CHECK(place_in("select '${lines}é'\t, nope;\r\n") == "V1__a.sql:1:22");
  CHECK(place_in("select ${lines};\nselect ${e}nope;") == "V1__a.sql:2:12");
}

TEST_CASE("an error in a value is placed where the placeholder begins") {
  CHECK(place_in("select 1, ${bad};\n") == "V1__a.sql:1:11");
  CHECK(place_in("select 1;\nselect ${none:1, nope};\n") == "V1__a.sql:2:8");
}

TEST_CASE("an error in COPY data behind values of several lines is placed in its line") {
  CHECK(place_in("select ${lines};\ncreate table t (a int, b int);\ncopy t -- ${lines}\n  "
                 "(${none:a,b})\nfrom stdin;\n"
                 "1\t2\n${schema}\t4\n\\.\n") == "V1__a.sql:7:null");
}

TEST_CASE("an error in a body is placed in its line, whatever values are before or in it") {
  CHECK(
      place_in(
          "select ${lines};\ndo /* ${lines} */ $$ begin\n  perform 1;\n  raise exception 'x';\nend $$;\n") ==
      "V1__a.sql:4:null");
  CHECK(place_in(
            "-- lockstep: placeholders=bodies\ndo $$ begin\n  perform ${lines};\n  raise exception '${e}';\n"
            "end $$;\n") == "V1__a.sql:4:null");
}

TEST_CASE("an error behind a placeholder of an included file is placed there, and its line is shown") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "select '${lines}'; \\i b.sql\n"},
                            {"b.sql", "select '${schema}';\nselect '${lines}', nope;\n"}});
  const auto error = error_of(database, files);
  CHECK(place_of(error) == "b.sql:2:20");
  CHECK(error.at("included_from").at(0).at("column") == 20);
  CHECK_THAT(run(files.migrate(database.socket_url(), values)).err,
             ContainsSubstring("  2 | select '${lines}', nope;\n    |                    ^\n"));
}

TEST_CASE("what a placeholder brings in decides on the transaction") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table t (a int);"},
                            {"V2__b.sql", "create index ${how:concurrently} i on t (a);"},
                            {"V3__c.sql", "${begin:commit};"}});
  const auto outcome = run(files.migrate(database.socket_url(), {"--set", "begin=commit"}));
  CHECK(outcome.exit_code == 3);
  CHECK_THAT(outcome.err, ContainsSubstring("V3__c.sql:1:1: COMMIT would break up the transaction"));
  files.write("V3__c.sql", "select 1;");
  CHECK(run(files.migrate(database.socket_url(), {"--set", "begin=commit"})).exit_code == 0);
  CHECK(database.psql("select indisvalid from pg_index where indexrelid = 'i'::regclass") == "t");
}

TEST_CASE("a file outside a transaction resumes with the same values, and refuses others for what is done") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql",
                             "-- lockstep: transaction=off\ncreate table ${name}_t (x int);\n"
                             "select 1 / (select count(*) from ${name}_t);\n"}});
  CHECK(run(files.migrate(database.socket_url(), {"--set", "name=a"})).exit_code == 7);
  const auto other = run(files.migrate(database.socket_url(), {"--set", "name=b"}));
  CHECK_THAT(other.err, ContainsSubstring("does not begin with it any more"));
  database.psql("insert into a_t values (1)");
  CHECK(run(files.migrate(database.socket_url(), {"--set", "name=a"})).exit_code == 0);
}

TEST_CASE("values are no part of a checksum, but those of a repeatable stand behind it") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__a.sql", "select '${x}';"}, {"R__b.sql", "select '${x}';"}, {"R__c.sql", "select 1;"}});
  CHECK(run(files.migrate(database.socket_url(), {"--set", "x=1"})).exit_code == 0);
  const std::string of_file = database.psql("select checksum from lockstep_history where version = '1'");
  CHECK(of_file.size() == std::string("sha256:").size() + 64);
  CHECK(database.psql("select checksum ~ ('^" + of_file +
                      "[+][0-9a-f]{16}$') from lockstep_history where description = 'b'") == "t");
  CHECK(database.psql("select length(checksum) from lockstep_history where description = 'c'") == "71");
}

TEST_CASE("plan shows the statements with their values, and masks those that look secret") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "select '${x}', '${api_key}';"}});
  auto command = files.migrate(database.socket_url(), {"--set", "x=one", "--set", "api_key=hunter22"});
  command.argv[1] = "plan";
  const auto outcome = run(command);
  CHECK_THAT(outcome.out, ContainsSubstring("select 'one', '***';\n"));
}

TEST_CASE("the server's message about a secret value is masked") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "select '${api_key}'::int;"}});
  const auto outcome = run(files.migrate(database.socket_url(), {"--set", "api_key=hunter22"}));
  CHECK(outcome.exit_code == 6);
  CHECK_THAT(outcome.err, ContainsSubstring("invalid input syntax for type integer: \"***\""));
  CHECK_THAT(outcome.out + outcome.err, !ContainsSubstring("hunter22"));
}

TEST_CASE("undo files have placeholders, too") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table ${name} ();"}, {"U1__a.sql", "drop table ${name};"}});
  auto command = files.migrate(database.socket_url(), {"--set", "name=t"});
  CHECK(run(command).exit_code == 0);
  command.argv[1] = "undo";
  command.env["LOCKSTEP_UNDO_ENABLED"] = "true";
  CHECK(run(command).exit_code == 0);
  CHECK(database.psql("select to_regclass('t') is null") == "t");
}

TEST_CASE("callbacks have placeholders, too, and an error in one is placed in its file") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table t (x text);"},
                            {"afterEachMigrate.sql", "insert into t values ('${lines}');"},
                            {"afterMigrate.sql", "insert into t values ('${e}');"}});
  CHECK(run(files.migrate(database.socket_url(), values)).exit_code == 0);
  CHECK(database.psql("select array_agg(x) = array[E'1,\\n2,\\n3', ''] from t") == "t");
  files.write("V2__b.sql", "select '${lines}';");
  files.write("afterEachMigrate.sql", "select '${lines}', nope;");
  CHECK(place_of(error_of(database, files)) == "afterEachMigrate.sql:1:20");
}

}  // namespace lockstep::test
