#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "sql/statement_reader.h"
#include "support/script_pieces.h"

namespace lockstep::sql {
namespace {

std::vector<std::string> statements_of(std::string_view script) {
  std::vector<std::string> found;
  for (const auto& piece : test::read_script(script).pieces) {
    if (piece.kind == test::ScriptPiece::Kind::statement) found.push_back(piece.text);
  }
  return found;
}

using Statements = std::vector<std::string>;

// The forms that psql knows are in tests/cases/sql.

TEST_CASE("an escape string goes on behind a line end, as the server has it and psql has not") {
  CHECK(statements_of("select E'a'\n'b\\';c'; x") == Statements{"select E'a'\n'b\\';c'", "x"});
  CHECK(statements_of("select E'a' -- note\n\n  'b\\';c'; x") ==
        Statements{"select E'a' -- note\n\n  'b\\';c'", "x"});
  CHECK(statements_of("select E'a' 'b\\';x") == Statements{"select E'a' 'b\\'", "x"});
  CHECK(statements_of("select E'a'\n/**/'b\\';x") == Statements{"select E'a'\n/**/'b\\'", "x"});
  CHECK(statements_of("select 'a'\n'b\\';x") == Statements{"select 'a'\n'b\\'", "x"});
}

TEST_CASE("standard_conforming_strings is followed through the file") {
  const std::string off = "set standard_conforming_strings = off;";
  CHECK(statements_of(off + "select '\\';';reset standard_conforming_strings;select '\\';x").back() == "x");
  CHECK(statements_of(off + "reset all;select '\\';x").back() == "x");
  CHECK(statements_of("begin;" + off + "rollback;select '\\';x").back() == "x");
  CHECK(statements_of("begin;" + off + "commit;select '\\';x'").back() == "select '\\';x'");
  CHECK(statements_of("begin;set local standard_conforming_strings = off;select '\\';';commit;select '\\';x")
            .back() == "x");
  CHECK(
      statements_of("select set_config('standard_conforming_strings', 'off', false);select '\\';x'").back() ==
      "select '\\';x'");
}

TEST_CASE("a session that already reads backslashes in strings can be told") {
  StatementReader reader(read_from("select '\\';x'; reset all; select '\\';y'"),
                         {.strings = Strings::backslash_escapes});
  CHECK(reader.next()->text == "select '\\';x'");
  CHECK(reader.next()->text == "reset all");
  CHECK(reader.next()->text == "select '\\';y'");
}

TEST_CASE("statements larger than the window come whole") {
  const std::string large =
      "select '" + std::string(3'000'000, ';') + "', $$" + std::string(500'000, '\n') + "$$";
  CHECK(statements_of("x;" + large + ";y") == Statements{"x", large, "y"});
  CHECK(test::read_script(large + ";y", 1000) == test::read_script(large + ";y"));
  CHECK(test::read_script(large + ";y").pieces.back().line == 500'001);
}

TEST_CASE("a statement beyond the limit is a problem at its start") {
  const std::string script = "x;\n select '" + std::string(2'000'000, 'a') + "';";
  StatementReader reader(read_from(script), {.statement_limit = 1'000'000});
  CHECK(reader.next()->text == "x");
  CHECK_FALSE(reader.next());
  REQUIRE(reader.problem());
  CHECK(reader.problem()->code == "statement_too_large");
  CHECK(reader.problem()->place == Place{4, 2, 2});
}

TEST_CASE("comments, COPY data and many statements do not count towards the limit") {
  const std::string comment = "/*" + std::string(2'000'000, 'a') + "*/";
  std::string script = comment + "copy t from stdin;\n" + std::string(2'000'000, 'b') + "\n\\.\n";
  for (int i = 0; i < 100'000; ++i) script += "select 'a long enough text';\n";
  StatementReader reader(read_from(script), {.statement_limit = 400'000});
  std::size_t statements = 0;
  while (reader.next()) ++statements;
  CHECK(statements == 100'001);
  CHECK_FALSE(reader.problem());
}

TEST_CASE("COPY data come in whole lines, however long the data are") {
  std::string data;
  for (int i = 0; i < 100'000; ++i) data += std::to_string(i) + "\t\\N\tsome text\n";
  const auto script = "x;\ncopy t from stdin;\n" + data + "\\.\ny";
  StatementReader reader(read_from(script, 10'007));
  reader.next();
  reader.next();
  std::string together;
  for (auto piece = reader.next_copy_data(); !piece.empty(); piece = reader.next_copy_data()) {
    CHECK(piece.ends_with('\n'));
    together += piece;
  }
  CHECK(together == data);
  CHECK(reader.copy_start() == Place{22, 3, 1});
  const auto last = reader.next();
  CHECK(last->text == "y");
  CHECK(last->place.line == 100'004);
}

TEST_CASE("a line of COPY data that is longer than the window comes in parts") {
  const std::string line(1'000'000, 'a');
  const std::string script = "copy t from stdin;\n" + line + "\n" + line + "\\.\n\\.\ny";
  StatementReader reader(read_from(script));
  reader.next();
  std::string together;
  for (auto piece = reader.next_copy_data(); !piece.empty(); piece = reader.next_copy_data())
    together += piece;
  CHECK(together == line + "\n" + line + "\\.\n");
  CHECK(reader.next()->text == "y");
}

TEST_CASE("COPY data that nobody reads are stepped over") {
  StatementReader reader(read_from("copy t from stdin;\nselect 1;\n\\.\nselect 2;"));
  CHECK(reader.next()->text == "copy t from stdin");
  CHECK(reader.next()->text == "select 2");
  CHECK_FALSE(reader.next());
  CHECK(reader.next_copy_data().empty());
}

TEST_CASE("places count lines from LF and columns from characters") {
  const auto pieces = test::read_script("\xEF\xBB\xBFx;\r\n\t\xC3\xA9; \xF0\x9F\x90\x98;\ry;\nz").pieces;
  REQUIRE(pieces.size() == 5);
  const auto at = [&](std::size_t i) { return Place{pieces[i].offset, pieces[i].line, pieces[i].column}; };
  CHECK(at(0) == Place{3, 1, 1});
  CHECK(at(1) == Place{8, 2, 2});
  CHECK(at(2) == Place{12, 2, 5});
  CHECK(at(3) == Place{18, 2, 8});
  CHECK(at(4) == Place{21, 3, 1});
}

TEST_CASE("the last token is whole wherever the window ends") {
  for (const std::string_view text :
       {"select abcdefghij", "select 1234567890", "select $12", "select a$b$", "x"}) {
    for (std::size_t window = 1; window <= 4 * text.size(); ++window) {
      StatementReader reader(read_from(text), {.window = window});
      const auto item = reader.next();
      REQUIRE(item);
      CHECK(item->text == text);
    }
  }
}

TEST_CASE("a directive behind many blanks is found or not, however the file arrives") {
  for (const std::size_t blanks : {1U, 55U, 60U, 250U, 300U}) {
    const auto text = "--" + std::string(blanks, ' ') + "lockstep: transaction=off\nselect 1";
    const auto found = test::read_script(text);
    CHECK(found.pieces.size() == (blanks < 250 ? 2 : 1));
    for (std::size_t piece = 1; piece <= 80; ++piece) CHECK(test::read_script(text, piece) == found);
  }
}

TEST_CASE("a comment ends at the same place wherever the window ends") {
  const std::string text = "/* outer /* inner; */ still; comment -- */\nselect 1; /* a /*/ b */ */ select 2";
  for (std::size_t window = 1; window <= text.size(); ++window) {
    StatementReader reader(read_from(text), {.window = window});
    for (const std::size_t at : {text.find("select 1"), text.find("select 2")}) {
      const auto item = reader.next();
      REQUIRE(item);
      CHECK(item->place.offset == at);
    }
    CHECK_FALSE(reader.next());
    CHECK_FALSE(reader.problem());
  }
}

}  // namespace
}  // namespace lockstep::sql
