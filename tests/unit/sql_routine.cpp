#include <catch2/catch_test_macros.hpp>

#include "sql/routine.h"

namespace lockstep::sql {
namespace {

TEST_CASE("the frames of a call stack are read as the server prints them, the innermost first") {
  const auto frames = routine_frames(
      "SQL statement \"insert into t values (1)\"\n"
      "PL/pgSQL function app.\"My \"\"F\"\".x\"(integer,text) line 12 at SQL statement\n"
      "PL/pgSQL function inline_code_block line 3 at PERFORM\n"
      "PL/pgSQL function g() during statement block local variable initialization");
  REQUIRE(frames.size() == 2);
  CHECK(frames[0].name == "My \"F\".x");
  CHECK(frames[0].line == 12);
  CHECK(frames[1].name.empty());
  CHECK(frames[1].line == 3);
  CHECK(routine_frames("COPY t, line 3").empty());
}

TEST_CASE("the body of a routine is found behind its opening quote") {
  const Place start{.offset = 100, .line = 10, .column = 5};
  const auto function =
      routine_text("CREATE OR REPLACE FUNCTION App.F(a int)\nreturns int as $body$\nx", start);
  REQUIRE(function);
  CHECK(function->name == "f");
  CHECK(function->body.line == 11);
  const auto quoted = routine_text("create procedure \"P q\"()\nlanguage plpgsql as\n'begin end'", start);
  REQUIRE(quoted);
  CHECK(quoted->name == "P q");
  CHECK(quoted->body.line == 12);
  const auto block = routine_text("do language plpgsql\n\n$$begin end$$", start);
  REQUIRE(block);
  CHECK(block->name.empty());
  CHECK(block->body.line == 12);
  CHECK_FALSE(routine_text("create table f (a text default $$x$$)", start));
  CHECK_FALSE(routine_text("create function f() returns int return 1", start));
  CHECK_FALSE(routine_text("document $$x$$", start));
}

}  // namespace
}  // namespace lockstep::sql
