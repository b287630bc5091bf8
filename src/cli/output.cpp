#include "cli/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <ostream>

#include "core/error.h"

namespace lockstep::cli {
namespace {

Failure output_failed(int error_number) {
  Error error{.kind = ErrorKind::internal, .code = "output_failed"};
  error.message = "cannot write to standard output";
  if (error_number != 0) error.message += fmt::format(": {}", std::strerror(error_number));
  error.hints = {"Only the result could not be shown: what the command has done stays done."};
  return Failure(std::move(error));
}

}  // namespace

void Output::write(std::string_view text) {
  write_masked(redactor_(text));
}

void Output::write_sql(std::string_view text) {
  write_masked(redactor_.learned_only(text));
}

void Output::write_masked(std::string_view text) {
  errno = 0;
  stream_ << text << std::flush;
  if (!stream_) throw output_failed(errno);
}

}  // namespace lockstep::cli
