#include <catch2/catch_test_macros.hpp>
#include <string>

#include "sql/position.h"

namespace lockstep::sql {
namespace {

const Place start{100, 7, 3};

TEST_CASE("the server's character position becomes a place in the file") {
  CHECK(place_of_character("selec 1", start, 1) == start);
  CHECK(place_of_character("a 'é' b", start, 7) == Place{107, 7, 9});
  CHECK(place_of_character("a\n  b", start, 5) == Place{104, 8, 3});
  CHECK(place_of_character("a\r\n  b", start, 6) == Place{105, 8, 3});
  CHECK(place_of_character("\xF0\x9F\x90\x98 x", start, 3) == Place{105, 7, 5});
}

TEST_CASE("a position behind the text is its end") {
  CHECK(place_of_character("ab", start, 3) == Place{102, 7, 5});
  CHECK(place_of_character("ab", start, 99) == Place{102, 7, 5});
  CHECK(place_of_character("ab", start, 0) == start);
}

std::string line_of(std::string_view text, std::size_t character) {
  return source_line(text, start, place_of_character(text, start, character));
}

TEST_CASE("the source line is the one on which the place stands") {
  CHECK(line_of("select 1,\r\n\tuper('x')\r\nfrom t", 13) == "\tuper('x')");
  CHECK(line_of("select 1,\nfrom t", 13) == "from t");
  CHECK(line_of("select 1,\n", 11).empty());
}

TEST_CASE("columns of the first line stay right although what stands before is unknown") {
  CHECK(line_of("selec 1\n+ 2", 1) == "  selec 1");
}

TEST_CASE("a long line is cut behind the place, and one too far out is not shown") {
  const std::string text = "select " + std::string(1000, 'x');
  CHECK(line_of(text, 8).size() < 200);
  CHECK(line_of(text, 900).empty());
}

}  // namespace
}  // namespace lockstep::sql
