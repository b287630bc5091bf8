#include "core/baseline.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/history_format.h"

namespace lockstep {
namespace {

Error not_empty(const HistoryRow& row) {
  Error error{.kind = ErrorKind::files, .code = "history_not_empty"};
  error.message = fmt::format("this database already has a history: it begins with {}",
                              row.script.empty() ? row.description : row.script);
  error.hints = {"A baseline is for a database that lockstep has never migrated. See it with: lockstep info"};
  return error;
}

bool is_this_baseline(const HistoryRow& row, const Version& version) {
  return row.kind == to_string(MigrationKind::baseline) && row.version && *row.version == version;
}

}  // namespace

BaselineOutcome baseline(Database& database, const Version& version, std::string_view description,
                         const LockPolicy& policy, Reporter& reporter) {
  std::vector<HistoryRow> history;
  auto lock = acquire(database, policy, reporter, history);
  const auto first =
      std::find_if(history.begin(), history.end(), [](const HistoryRow& row) { return row.counts(); });
  if (first != history.end()) {
    if (!is_this_baseline(*first, version)) throw Failure(not_empty(*first));
    lock.release();
    return BaselineOutcome::already_there;
  }
  prepare_history(database, reporter);
  database.record_baseline(version, description, history.empty() ? 0 : history.back().rank);
  lock.release();
  return BaselineOutcome::recorded;
}

}  // namespace lockstep
