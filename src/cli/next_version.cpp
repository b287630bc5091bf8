#include "cli/next_version.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "cli/log.h"

namespace lockstep::cli {
namespace {

constexpr std::size_t time_digits = 14;  // yyyymmddhhmmss

/// Adds one to a decimal number of any length; leading zeros stay.
std::string incremented(std::string digits) {
  for (auto at = digits.size(); at > 0; --at) {
    if (digits[at - 1] != '9') {
      ++digits[at - 1];
      return digits;
    }
    digits[at - 1] = '0';
  }
  return "1" + digits;
}

std::string utc_digits(std::chrono::system_clock::time_point now) {
  auto text = utc_text(now).substr(0, 19);
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; }), text.end());
  return text;
}

bool looks_like_time(std::string_view text) {
  return text.size() == time_digits && (text.starts_with("19") || text.starts_with("20"));
}

}  // namespace

std::string next_version(const std::vector<Migration>& existing, std::chrono::system_clock::time_point now) {
  std::optional<Version> highest;
  for (const auto& migration : existing) {
    const auto& version = migration.name.version;
    if (version && (!highest || *highest < *version)) highest = version;
  }
  if (!highest) return "1";
  const auto& text = highest->text();
  if (looks_like_time(text)) {
    const auto time = utc_digits(now);
    return *highest < *Version::parse(time) ? time : incremented(text);
  }
  const auto last_part = text.rfind('.') + 1;  // 0 without a dot
  return text.substr(0, last_part) + incremented(text.substr(last_part));
}

std::string file_description(std::string_view description) {
  std::string name;
  for (const char c : description) {
    const auto byte = static_cast<unsigned char>(c);
    const bool fits = byte >= 0x80 || std::isalnum(byte) != 0 || c == '-' || c == '.';
    if (fits) {
      name += c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (!name.empty() && (name.back() == '_' || name.back() == '.')) name.pop_back();
  return name;
}

}  // namespace lockstep::cli
