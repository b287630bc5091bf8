#include "core/duration.h"

#include <catch2/catch_test_macros.hpp>
#include <utility>

using namespace lockstep;
using namespace std::chrono_literals;

TEST_CASE("durations are numbers with units, from large to small") {
  const std::pair<std::string_view, Milliseconds> table[] = {
      {"0", 0ms},
      {"0s", 0ms},
      {"250ms", 250ms},
      {"5s", 5s},
      {"10m", 10min},
      {"2h", 2h},
      {"1m30s", 90s},
      {"90s", 90s},
      {"1h2m3s4ms", 1h + 2min + 3s + 4ms},
      {"1h500ms", 1h + 500ms},
      {"007s", 7s},
      {"9223372036854775807ms", Milliseconds::max()},
  };
  for (const auto& [text, expected] : table) {
    CAPTURE(text);
    CHECK(parse_duration(text) == expected);
  }
}

TEST_CASE("everything else is not a duration") {
  for (const std::string_view text :
       {"", "5", "00", "s", "5 s", " 5s", "5s ", "-5s", "+5s", "1.5s", "5S", "5sec", "5d", "30s1m", "1s1s",
        "1m1", "9223372036854775808ms", "9223372036854775807s", "99999999999999999999999h"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).has_value());
  }
}

TEST_CASE("a duration is written as it can be read back") {
  const std::pair<Milliseconds, std::string_view> table[] = {
      {0ms, "0"},          {5s, "5s"}, {90s, "1m30s"},     {250ms, "250ms"},
      {1500ms, "1s500ms"}, {2h, "2h"}, {1h + 1ms, "1h1ms"}};
  for (const auto& [duration, text] : table) {
    CHECK(to_string(duration) == text);
    CHECK(parse_duration(text) == duration);
  }
}

TEST_CASE("people read durations with the precision that matters") {
  const std::pair<Milliseconds, std::string_view> table[] = {
      {0ms, "0 ms"},      {12ms, "12 ms"},           {999ms, "999 ms"},        {1s, "1.0 s"},
      {1449ms, "1.4 s"},  {1450ms, "1.5 s"},         {59'949ms, "59.9 s"},     {59'950ms, "1 m 00 s"},
      {185s, "3 m 05 s"}, {3599'499ms, "59 m 59 s"}, {3599'500ms, "1 h 00 m"}, {26h + 3min, "26 h 03 m"}};
  for (const auto& [duration, text] : table) CHECK(human(duration) == text);
}
