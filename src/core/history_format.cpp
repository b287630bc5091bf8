#include "core/history_format.h"

#include <fmt/format.h>

namespace lockstep {

Error newer_format(const SessionFacts& facts, int format, std::string_view written_by,
                   std::string_view tool_version) {
  Error error{.kind = ErrorKind::unsafe, .code = "history_newer"};
  error.message =
      fmt::format("the history table {}.{} has format {}, and this lockstep ({}) knows none above {}",
                  facts.schema, facts.table, format, tool_version, history_format);
  error.hints = {"Nothing was changed. Use the release of lockstep that upgraded the table, or a newer one."};
  if (!written_by.empty() && written_by != tool_version)
    error.detail = fmt::format("its newest row was written by lockstep {}", written_by);
  return error;
}

void prepare_history(Database& database, Reporter& reporter) {
  const auto older = database.prepare_history();
  if (!older) return;
  reporter.note(
      fmt::format("the history table had format {}: it was brought to format {}", *older, history_format));
}

}  // namespace lockstep
