#pragma once

#include <regex>
#include <string>

namespace lockstep::test {

/// An output without what differs from run to run: durations, times and digests.
inline std::string steady(std::string text) {
  text = std::regex_replace(text, std::regex(R"([0-9]+ ms\b|([0-9]+ m )?[0-9.]+ s\b)"), "N ms");
  text = std::regex_replace(text, std::regex("20[0-9]{2}-[0-9]{2}-[0-9]{2}[ T][0-9:.]+Z?"), "TIME");
  return std::regex_replace(text, std::regex("sha256:[0-9a-f]{64}"), "DIGEST");
}

}  // namespace lockstep::test
