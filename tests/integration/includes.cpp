#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "sql/include.h"
#include "support/migrating.h"
#include "support/psql_sends.h"
#include "support/recording_server.h"

// Included files and \echo, run by the built program.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using nlohmann::json;

/// The lines of a text that begin with a notice's label.
std::string notices(const std::string& log) {
  static const std::regex label("  (ECHO|WARNING|NOTICE): ");
  std::string found;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, label, std::regex_constants::match_continuous))
      found += line.substr(2) + "\n";
  }
  return found;
}

}  // namespace

TEST_CASE("an error in an included file is reported there, with its line and the way to it") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table a (x int);\n\\ir x/b.sql\n"},
                            {"x/b.sql", "\xEF\xBB\xBF\r\n\\ir c.sql\r\n"},
                            {"x/c.sql", "select 1;\n\nselect y from a;\n"}});
  const auto outcome = run(files.migrate(database.socket_url(), {"--output", "json"}));
  CHECK(outcome.exit_code == 6);
  const auto error = json::parse(outcome.out).at("error");
  CHECK(error.at("file") == files.path() + "/x/c.sql");
  CHECK(error.at("line") == 3);
  CHECK(error.at("column") == 8);
  CHECK(error.at("included_from") ==
        json::parse(R"([{"file": ")" + files.path() + R"(/x/b.sql", "line": 2, "column": 1},
                        {"file": ")" +
                    files.path() + R"(/V1__a.sql", "line": 2, "column": 1}])"));
  const auto text = run(files.migrate(database.socket_url())).err;
  CHECK_THAT(text, ContainsSubstring("  3 | select y from a;\n"));
  CHECK_THAT(text, ContainsSubstring("  included from: " + files.path() +
                                     "/x/b.sql:2:1\n  included from: " + files.path() + "/V1__a.sql:2:1\n"));
  CHECK(database.psql("select to_regclass('a') is null") == "t");
}

TEST_CASE("a bad row of COPY data in an included file is reported at its line there") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table a (x int);\n\\i data.sql\n"},
                            {"data.sql", "-- rows\ncopy a from stdin;\n1\ntwo\n\\.\n"}});
  const auto outcome = run(files.migrate(database.socket_url(), {"--output", "json"}));
  const auto error = json::parse(outcome.out).at("error");
  CHECK_THAT(error.at("file").get<std::string>(), EndsWith("/data.sql"));
  CHECK(error.at("line") == 4);
}

TEST_CASE("a file outside a transaction goes on in the included file where it stopped") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__a.sql", "-- lockstep: transaction=off\n\\echo begin\n\\i b.sql\n\\echo end\n"},
       {"b.sql", "create table a (x int);\n\\echo middle\nselect 1 / (select count(*) from a);\n"}});
  const auto first = run(files.migrate(database.socket_url()));
  CHECK(first.exit_code == 7);
  CHECK(notices(first.err) == "ECHO: begin\nECHO: middle\n");
  database.psql("insert into a values (1)");
  const auto second = run(files.migrate(database.socket_url()));
  CHECK(second.exit_code == 0);
  CHECK(notices(second.err) == "ECHO: middle\nECHO: end\n");
}

TEST_CASE("an included file that was changed after it had been applied is named") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__a.sql", "\\i b.sql\n\\i c.sql\n"}, {"b.sql", "select 1;"}, {"c.sql", "select 2;"}});
  CHECK(run(files.migrate(database.socket_url())).exit_code == 0);
  CHECK(run(files.migrate(database.socket_url())).exit_code == 0);
  files.write("c.sql", "select 3;");
  const auto outcome = run(files.migrate(database.socket_url()));
  CHECK(outcome.exit_code == 3);
  CHECK_THAT(outcome.err, ContainsSubstring("V1__a.sql: this file, or one that it includes, was changed"));
  CHECK_THAT(outcome.err,
             ContainsSubstring("this file or in: " + files.path() + "/b.sql, " + files.path() + "/c.sql."));
}

TEST_CASE("what a migration echoes comes in order between the server's notices") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql",
                             "\\echo first\nbegin isolation level serializable;\n"
                             "do $$ begin raise notice 'one'; end $$;\n\\qecho -n 'after  one'\n"
                             "do $$ begin raise notice 'two'; end $$;\n\\i b.sql\n"
                             "do $$ begin raise notice 'three'; end $$;\ncommit;\n\\echo last\n"},
                            {"b.sql", "\\warn in \"the file\"\n"}});
  const auto outcome = run(files.migrate(database.socket_url()));
  CHECK(outcome.exit_code == 0);
  CHECK(notices(outcome.err) ==
        "ECHO: first\nNOTICE: one\nECHO: after  one\nNOTICE: two\nWARNING: in \"the file\"\nNOTICE: "
        "three\nECHO: last\n");
}

TEST_CASE("an echo that is longer than what is read at a time comes whole behind the statements before it") {
  const TestDatabase database;
  const std::string text(700'000, 'x');
  const MigrationDir files(
      {{"V1__a.sql", "do $$ begin raise notice 'before'; end $$;\n\\echo " + text + "\nselect 1;\n"}});
  const auto outcome = run(files.migrate(database.url()));
  CHECK(outcome.exit_code == 0);
  CHECK((notices(outcome.err) == "NOTICE: before\nECHO: " + text + "\n"));
}

TEST_CASE("\\echo prints what psql prints") {
  RecordingServer server;
  for (const char* const argument :
       {"a  b   'c  d' \"e  f\" 'it''s' 'tab\\tx' 'oct\\101\\x42' end", "-n no newline", "'-n' x", "-n -n",
        "a'b\"c'd ; semicolon;", "'' x", "-- comment", "Note: x := y", "", "'a\\\\b'"}) {
    INFO(argument);
    const auto psql =
        run({.argv = {PgServer::program("psql"), "-XqAt", "-h", server.host(), "-U", "x", "-d", "x"},
             .input = std::string("\\echo ") + argument + "\n\\echo\n"});
    auto printed = psql.out;
    while (printed.ends_with('\n')) printed.pop_back();
    CHECK(printed == sql::echoed_text(argument));
  }
}

TEST_CASE("plan shows included files in their place") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "select 'one';\n\\i b.sql\nselect 'three';\n"},
                            {"b.sql", "\\echo hello\nselect 'two';"}});
  auto command = files.migrate(database.socket_url());
  command.argv[1] = "plan";
  const auto outcome = run(command);
  CHECK_THAT(outcome.out,
             ContainsSubstring("select 'one';\n-- " + files.path() +
                               "/b.sql\n-- \\echo hello\nselect 'two';\n-- V1__a.sql\nselect 'three';\n"));
}

TEST_CASE("every problem of included files is told before a connection is opened") {
  const MigrationDir files(
      {{"V1__a.sql", "\\i b.sql\n\\i none.sql\n"}, {"b.sql", "\\set x 1\nselect 'a;\n"}});
  const auto outcome = run(files.migrate("postgresql:///x?host=/nowhere", {"--output", "json"}));
  CHECK(outcome.exit_code == 3);
  const auto errors = json::parse(outcome.out).at("errors");
  REQUIRE(errors.size() == 2);
}

}  // namespace lockstep::test
