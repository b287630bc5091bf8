#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace lockstep {

/// A migration's version: numbers of any length, compared number by number. 1 = 1.0 = 001, and 1.10 is
/// above 1.9.
class Version {
 public:
  /// Reads digits separated by single dots or underscores; nothing else is a version.
  static std::optional<Version> parse(std::string_view text);

  /// As written, with underscores shown as dots ("001.2").
  const std::string& text() const { return text_; }

  /// One spelling for all equal versions ("1.2" for "001.2.0"): the key that history and maps compare.
  const std::string& canonical() const { return canonical_; }

  friend std::strong_ordering operator<=>(const Version& a, const Version& b);
  friend bool operator==(const Version& a, const Version& b) { return a.canonical_ == b.canonical_; }

 private:
  std::string text_;
  std::string canonical_;
};

}  // namespace lockstep
