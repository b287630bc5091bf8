#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "sql/survey.h"

namespace lockstep::sql {
namespace {

using namespace std::string_literals;

Survey look(std::string_view script) {
  return survey(read_from(script));
}

struct Wrong {
  std::string script;
  std::string code;
  Place place;
};

const std::vector<Wrong> wrong = {
    {"select 'it''s", "unterminated_string", {7, 1, 8}},
    {"x;\r\nselect E'a\\'", "unterminated_string", {11, 2, 8}},
    {"select 'a'\n 'b", "unterminated_string", {12, 2, 2}},
    {"select é, \"a\"\"", "unterminated_identifier", {11, 1, 11}},
    {"x;\ndo $a$ $A$", "unterminated_dollar_quote", {6, 2, 4}},
    {"/* a /* b */", "unterminated_comment", {0, 1, 1}},
    {"x /*", "unterminated_comment", {2, 1, 3}},
    {"x;\n copy t from stdin;\n1\n", "copy_without_end", {4, 2, 2}},
    {"copy t from stdin; select 1;\n\\.\n", "text_after_copy", {0, 1, 1}},
    {"copy t from stdin (format binary);\n\\.\n", "copy_binary", {0, 1, 1}},
    {"x;\n\\.\n", "stray_copy_end", {3, 2, 1}},
    {"\\restrict a\nx;\n", "unpaired_restrict", {0, 1, 1}},
    {"\\restrict a\nx;\n\\unrestrict b\n", "unpaired_restrict", {15, 3, 1}},
    {"\\unrestrict a\n", "unpaired_restrict", {0, 1, 1}},
    {"-- caf\xE9\n", "not_utf8", {6, 1, 7}},
    {"\xEF\xBB\xBF\n\xED\xA0\x80", "not_utf8", {4, 2, 1}},
    {"select 'é\xC3", "not_utf8", {10, 1, 10}},
    {"-- \xE0\x9F\xBF\n", "not_utf8", {3, 1, 4}},                       // U+07FF in three bytes
    {"-- \xE0\xA0\x80 \xF0\x8F\xBF\xBF\n", "not_utf8", {7, 1, 6}},      // U+FFFF in four
    {"-- \xF4\x8F\xBF\xBF \xF4\x90\x80\x80\n", "not_utf8", {8, 1, 6}},  // behind the last code point
    {"\xFF\xFEs\0e\0"s, "utf16", {0, 1, 1}},
    {"\xFE\xFF\0s"s, "utf16", {0, 1, 1}},
    {"sel\0ect"s, "nul_byte", {3, 1, 4}},
    {"PGDMP\1\x0e"s, "pg_dump_archive", {0, 1, 1}},
};

TEST_CASE("what makes a file unreadable is told with its place") {
  for (const auto& [script, code, place] : wrong) {
    INFO(script);
    const auto seen = look(script);
    REQUIRE_FALSE(seen.problems.empty());
    const bool lexical_first = seen.problems.front().code != code && seen.problems.size() > 1;
    const auto& problem = seen.problems[lexical_first ? 1 : 0];
    CHECK(problem.code == code);
    CHECK(problem.place.offset == place.offset);
    CHECK(problem.place.line == place.line);
    CHECK(problem.place.column == place.column);
  }
}

TEST_CASE("several problems of one file are told together, in its order") {
  const auto seen = look("\\.\nselect '\xE9");
  REQUIRE(seen.problems.size() == 3);
  CHECK(seen.problems[0].code == "stray_copy_end");
  CHECK(seen.problems[1].code == "unterminated_string");
  CHECK(seen.problems[2].code == "not_utf8");
}

TEST_CASE("bytes behind a problem are still read and checked") {
  std::size_t seen_bytes = 0;
  const std::string script = "copy t from stdin; x\n" + std::string(1000000, 'a') + "\xFF";
  const auto read = read_from(script);
  const auto seen = survey([&](char* to, std::size_t at_most) {
    const auto got = read(to, at_most);
    seen_bytes += got;
    return got;
  });
  CHECK(seen_bytes == script.size());
  REQUIRE(seen.problems.size() == 2);
  CHECK(seen.problems[1].place.offset == script.size() - 1);
}

TEST_CASE("a file without problems has none") {
  CHECK(look("\xEF\xBB\xBF-- é\r\nselect '\xF0\x9F\x90\x98';\r\n").problems.empty());
  CHECK(look("\\restrict a\nselect 1;\n\\unrestrict a\n").problems.empty());
  CHECK(look("").problems.empty());
}

TEST_CASE("a character cut by the end of a piece is not a fault") {
  const std::string script = "-- \xF0\x9F\x90\x98 é\nselect 'ü';";
  for (const std::size_t piece : {1U, 2U, 3U, 5U}) CHECK(survey(read_from(script, piece)).problems.empty());
}

TEST_CASE("statements that matter are marked with number, place and name") {
  const auto seen =
      look("set lock_timeout = '5s';\n create index concurrently i on t (a);\nalter table t add b int;\n");
  CHECK(seen.statements == 3);
  REQUIRE(seen.non_transactional.size() == 1);
  CHECK(seen.non_transactional[0].number == 2);
  CHECK(seen.non_transactional[0].place == Place{26, 2, 2});
  CHECK(seen.non_transactional[0].name == "CREATE INDEX CONCURRENTLY");
  REQUIRE(seen.first_ordinary);
  CHECK(seen.first_ordinary->name == "ALTER TABLE");
  CHECK(seen.first_ordinary->place.line == 3);
}

TEST_CASE("settings alone do not make a file a mixed one") {
  CHECK_FALSE(look("set a = 1; vacuum; reset a; select set_config('a', '1', false);").first_ordinary);
}

TEST_CASE("one pair of BEGIN and COMMIT around everything is recognised") {
  CHECK(look("-- x\nbegin; select 1; commit; -- y\n").wrapped);
  CHECK(look("start transaction; select 1; end").wrapped);
  CHECK(look("begin; savepoint a; select 1; release a; commit;").wrapped);
  CHECK(look("begin isolation level serializable; commit;").begin_text ==
        "begin isolation level serializable");
  CHECK_FALSE(look("begin; select 1; commit; select 2;").wrapped);
  CHECK_FALSE(look("select 1; begin; commit;").wrapped);
  CHECK_FALSE(look("begin; commit; begin; commit;").wrapped);
  CHECK_FALSE(look("begin; select 1; rollback;").wrapped);
  CHECK_FALSE(look("begin; select 1;").wrapped);
  CHECK_FALSE(look("begin; select 1; commit and chain;").wrapped);
  CHECK(look("begin; select 1; rollback;").transaction_control.size() == 2);
}

TEST_CASE("directives count before the first statement only") {
  const auto seen =
      look("-- a\n--lockstep: transaction=off\n  -- lockstep:lock_timeout=1s \r\nx;\n-- lockstep: y=1\n");
  REQUIRE(seen.directives.size() == 2);
  CHECK(seen.directives[0].argument == "transaction=off");
  CHECK(seen.directives[0].place == Place{5, 2, 1});
  CHECK(seen.directives[1].argument == "lock_timeout=1s");
  CHECK(seen.directives[1].place.column == 3);
  REQUIRE(seen.late_directives.size() == 1);
  CHECK(seen.late_directives[0].place.line == 5);
}

TEST_CASE("a comment inside a statement, or one that only mentions us, is no directive") {
  const auto seen = look("-- see lockstep: the manual\n/* -- lockstep: a=1 */\nselect 1 -- lockstep: b=1\n;");
  CHECK(seen.directives.empty());
  CHECK(seen.late_directives.empty());
}

TEST_CASE("psql commands are listed with what they say") {
  const auto seen =
      look("\\set ON_ERROR_STOP on\n\\cd 'a b.sql'\nselect 1 \\gexec\nselect 2;\\unset x \\\\ select 3;\n");
  REQUIRE(seen.meta_commands.size() == 4);
  CHECK(seen.meta_commands[0].name == "set");
  CHECK(seen.meta_commands[0].argument == "ON_ERROR_STOP on");
  CHECK(seen.meta_commands[1].argument == "'a b.sql'");
  CHECK(seen.meta_commands[2].inside_statement);
  CHECK(seen.meta_commands[2].place == Place{45, 3, 10});
  CHECK(seen.meta_commands[3].argument == "x");
  CHECK(seen.statements == 2);  // the first goes on behind \gexec
}

TEST_CASE("what may release our lock is marked") {
  CHECK(look("select pg_advisory_unlock(1); discard all; x;").lock_releases.size() == 1);
}

}  // namespace
}  // namespace lockstep::sql
