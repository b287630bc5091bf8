#include "core/version.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

namespace lockstep {

TEST_CASE("versions compare number by number, whatever the length of the numbers") {
  // Each one is above the one before it.
  const std::vector<std::string> rising{"0",
                                        "0.0.1",
                                        "0.1",
                                        "1",
                                        "1.1",
                                        "1.2",
                                        "1.9",
                                        "1.10",
                                        "1.10.1",
                                        "2",
                                        "9",
                                        "10",
                                        "20240101",
                                        "20240101120000",
                                        "18446744073709551615",
                                        "18446744073709551616",
                                        "99999999999999999999999999"};
  for (std::size_t i = 0; i + 1 < rising.size(); ++i) {
    CAPTURE(rising[i], rising[i + 1]);
    CHECK(*Version::parse(rising[i]) < *Version::parse(rising[i + 1]));
    CHECK(*Version::parse(rising[i + 1]) > *Version::parse(rising[i]));
  }
}

TEST_CASE("zeros before a number and zero parts at the end make no difference") {
  const std::vector<std::pair<std::string, std::string>> equal{
      {"1", "1.0"}, {"1", "001"}, {"1_2", "1.2"}, {"0", "0.0.0"}, {"1.02.0", "1.2"}, {"00", "0"}};
  for (const auto& [a, b] : equal) {
    CAPTURE(a, b);
    CHECK(*Version::parse(a) == *Version::parse(b));
    CHECK(Version::parse(a)->canonical() == Version::parse(b)->canonical());
  }
}

TEST_CASE("a version is shown as it was written, with dots") {
  CHECK(Version::parse("001_2")->text() == "001.2");
  CHECK(Version::parse("001_2.0")->canonical() == "1.2");
}

TEST_CASE("anything but digits with single separators is no version") {
  for (const auto* text :
       {"", ".", "1.", ".1", "1..2", "1._2", "a", "1a", "-1", "+1", "1 ", " 1", "1-2", "١"}) {
    CAPTURE(text);
    CHECK_FALSE(Version::parse(text));
  }
}

}  // namespace lockstep
