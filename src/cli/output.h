#pragma once

#include <iosfwd>
#include <string_view>

#include "cli/redact.h"

namespace lockstep::cli {

/// Standard output: what is written is masked, and that it arrived is checked.
class Output {
 public:
  /// Both must outlive this object.
  Output(std::ostream& stream, const Redactor& redactor) : stream_(stream), redactor_(redactor) {}

  /// Throws Failure (internal, "output_failed") when the other end is closed or the disk is full.
  void write(std::string_view text);
  /// For SQL: masks only what was learned.
  void write_sql(std::string_view text);
  /// For text that is masked already and whose form must not change.
  void write_masked(std::string_view text);

 private:
  std::ostream& stream_;
  const Redactor& redactor_;
};

}  // namespace lockstep::cli
