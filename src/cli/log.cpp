#include "cli/log.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "core/text.h"

namespace lockstep::cli {

std::unique_ptr<Log> make_log(std::ostream& stream, const Redactor& redactor, LogOptions options) {
  return options.format == LogFormat::json ? make_json_log(stream, redactor, std::move(options))
                                           : make_text_log(stream, redactor, std::move(options));
}

std::string utc_text(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto milliseconds_part = duration_cast<milliseconds>(time.time_since_epoch()).count() % 1000;
  const auto seconds_part = system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds_part, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds_part);
}

std::string_view verb(const Plan& plan) {
  return !plan.steps.empty() && plan.steps.front().undoes ? "undo" : "apply";
}

std::string counted(std::size_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace lockstep::cli
