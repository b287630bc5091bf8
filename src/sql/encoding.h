#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sql/source.h"

namespace lockstep::sql {

/// Watches the bytes of a file go by and finds the first that cannot be part of a script: not UTF-8 (RFC
/// 3629), a NUL, or a mark that says the file is UTF-16 or an archive of pg_dump.
class EncodingCheck {
 public:
  /// `file`: see Place.
  explicit EncodingCheck(std::size_t file = 0) : place_{.file = file} {}

  /// The next bytes of the file.
  void watch(std::string_view bytes);
  /// The file has ended.
  void finish();

  const std::optional<Problem>& problem() const { return problem_; }

 private:
  void check_start();
  void check(std::string_view bytes);
  void fail(std::string_view before, char byte);

  std::string head_;  ///< the first bytes, until there are enough to know the kind of file
  std::string cut_;   ///< the begin of a character that the last piece ended in
  Place place_;       ///< of the first byte not yet checked
  std::optional<Problem> problem_;
};

/// The first byte of `bytes` that does not belong to a whole character of UTF-8; npos if all do.
std::size_t find_non_utf8(std::string_view bytes);

}  // namespace lockstep::sql
