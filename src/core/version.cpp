#include "core/version.h"

#include <algorithm>
#include <cstddef>

namespace lockstep {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string without_leading_zeros(std::string_view digits) {
  const auto first = digits.find_first_not_of('0');
  return first == std::string_view::npos ? std::string{} : std::string(digits.substr(first));
}

std::strong_ordering compare_numbers(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
  Version version;
  std::size_t begin = 0;
  while (true) {
    const auto end = std::min(text.find_first_of("._", begin), text.size());
    const auto digits = text.substr(begin, end - begin);
    if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
    version.parts_.push_back(without_leading_zeros(digits));
    if (end == text.size()) break;
    begin = end + 1;
  }
  while (version.parts_.size() > 1 && version.parts_.back().empty()) version.parts_.pop_back();
  version.text_ = std::string(text);
  std::replace(version.text_.begin(), version.text_.end(), '_', '.');
  return version;
}

std::string Version::canonical() const {
  std::string text;
  for (const auto& part : parts_) {
    if (!text.empty()) text += '.';
    text += part.empty() ? "0" : part;
  }
  return text;
}

std::strong_ordering operator<=>(const Version& a, const Version& b) {
  const auto common = std::min(a.parts_.size(), b.parts_.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (const auto order = compare_numbers(a.parts_[i], b.parts_[i]); order != 0) return order;
  }
  return a.parts_.size() <=> b.parts_.size();
}

}  // namespace lockstep
