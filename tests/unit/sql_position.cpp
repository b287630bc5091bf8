#include <catch2/catch_test_macros.hpp>

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

}  // namespace
}  // namespace lockstep::sql
