#include "core/version.h"

#include <algorithm>
#include <cstddef>

namespace lockstep {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_leading_zeros(std::string_view digits) {
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

/// Cuts the first part off: of "1.20" the 1, and "20" is left.
std::string_view take_part(std::string_view& parts) {
  const auto end = std::min(parts.find('.'), parts.size());
  const auto part = parts.substr(0, end);
  parts.remove_prefix(std::min(end + 1, parts.size()));
  return part;
}

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
  Version version;
  std::size_t kept = 0;  // of the canonical form: up to the last part that is not zero
  for (std::size_t begin = 0;;) {
    const auto end = std::min(text.find_first_of("._", begin), text.size());
    const auto digits = text.substr(begin, end - begin);
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
    const auto part = without_leading_zeros(digits);
    if (begin > 0) version.canonical_ += '.';
    version.canonical_ += part;
    if (begin == 0 || part != "0") kept = version.canonical_.size();
    if (end == text.size()) break;
    begin = end + 1;
  }
  version.canonical_.resize(kept);
  version.text_ = text;
  std::replace(version.text_.begin(), version.text_.end(), '_', '.');
  return version;
}

/// Numbers without leading zeros: the longer one is the larger one. One that is not there is below zero, and
/// zeros at the end are not there.
std::strong_ordering operator<=>(const Version& a, const Version& b) {
  std::string_view rest_of_a = a.canonical_;
  std::string_view rest_of_b = b.canonical_;
  while (!rest_of_a.empty() && !rest_of_b.empty()) {
    const auto part_of_a = take_part(rest_of_a);
    const auto part_of_b = take_part(rest_of_b);
    if (part_of_a.size() != part_of_b.size()) return part_of_a.size() <=> part_of_b.size();
    if (const int order = part_of_a.compare(part_of_b); order != 0) return order <=> 0;
  }
  return rest_of_a.size() <=> rest_of_b.size();
}

}  // namespace lockstep
