#pragma once

#include <chrono>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

#include "cli/redact.h"
#include "cli/settings.h"
#include "cli/style.h"
#include "core/reporter.h"

namespace lockstep::cli {

enum class Verbosity { quiet, normal, verbose };

/// How progress is shown.
enum class Progress {
  none,
  plain,  ///< a line when a migration starts
  live,   ///< a line that is written over, for terminals only
};

struct LogOptions {
  LogFormat format = LogFormat::text;
  Verbosity verbosity = Verbosity::normal;
  Progress progress = Progress::none;
  Coloring coloring = Coloring::off;
  std::size_t width = 80;  ///< of the terminal, for Progress::live
  std::string command = {};
  std::string run_id = {};
  std::int32_t lock_namespace = 0;
  std::optional<std::int32_t> lock_resource = std::nullopt;  ///< absent until a session knows it
  std::function<std::chrono::system_clock::time_point()> now = {};
};

/// The log of a run, on standard error. A stream that cannot be written to does not end the run.
class Log : public Reporter {
 public:
  virtual void connected(const SessionFacts& facts) = 0;
  virtual void failed(const Error& error) = 0;
  /// Removes the progress line, so that others may write.
  virtual void settle() = 0;
};

/// `stream` and `redactor` must outlive the log.
std::unique_ptr<Log> make_log(std::ostream& stream, const Redactor& redactor, LogOptions options);
std::unique_ptr<Log> make_text_log(std::ostream& stream, const Redactor& redactor, LogOptions options);
std::unique_ptr<Log> make_json_log(std::ostream& stream, const Redactor& redactor, LogOptions options);

/// "2026-11-29T17:41:17.123Z"
std::string utc_text(std::chrono::system_clock::time_point time);

/// What the steps of a plan do: "apply" or "undo".
std::string_view verb(const Plan& plan);

/// "1 statement", "3 statements", "2 migrations".
std::string counted(std::size_t number, std::string_view noun);

}  // namespace lockstep::cli
