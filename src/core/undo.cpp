#include "core/undo.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/history_format.h"

namespace lockstep {
namespace {

Error problem(std::string code, std::string message, std::string hint) {
  return {.kind = ErrorKind::files,
          .code = std::move(code),
          .message = std::move(message),
          .hints = {std::move(hint)}};
}

Error stopped_part_way(const HistoryRow& row) {
  return problem("stopped_part_way",
                 fmt::format("version {} stopped part-way, so it cannot be undone", row.version->text()),
                 "Finish it first with: lockstep migrate");
}

Error no_undo_file(const HistoryRow& row) {
  return problem("undo_missing",
                 fmt::format("version {} cannot be undone: there is no file U{}__….sql for it",
                             row.version->text(), row.version->text()),
                 fmt::format("Write one that takes back what {} did, or add the directory that holds it with "
                             "--dir.",
                             row.script));
}

Error outside_transaction(const Migration& file) {
  auto error = problem(
      "undo_outside_transaction",
      fmt::format("an undo and its record must be one transaction, but this file runs outside of one: {}",
                  file.outside_because),
      "Use statements that can run in a transaction, such as DROP INDEX without CONCURRENTLY, and no "
      "transaction=off.");
  error.where = SourcePosition{.file = file.path};
  return error;
}

Error below_baseline(const Version& target, const Version& baseline) {
  return problem(
      "below_baseline",
      fmt::format("version {} is below {}, the baseline at which the history begins", target.text(),
                  baseline.text()),
      fmt::format("What lies below a baseline was not applied by lockstep, so it cannot be undone; "
                  "the lowest target is {}.",
                  baseline.text()));
}

Error not_newest(const Version& agreed, const Version& newest) {
  return problem("history_changed",
                 fmt::format("version {} was to be undone, but by now version {} is the newest one",
                             agreed.text(), newest.text()),
                 "Nothing was changed. Look at lockstep info, then run lockstep undo again.");
}

const Migration* undo_file(const std::vector<Migration>& files, const Version& version) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const Migration& file) {
    return file.name.kind == MigrationKind::undo && *file.name.version == version;
  });
  return found == files.end() ? nullptr : &*found;
}

bool is_counted(const HistoryRow& row, MigrationKind kind) {
  return row.counts() && row.version && row.kind == to_string(kind);
}

/// The highest version among the rows of a kind that count.
std::optional<Version> highest(const std::vector<HistoryRow>& history, MigrationKind kind) {
  std::optional<Version> version;
  for (const auto& row : history) {
    if (is_counted(row, kind) && (!version || *row.version > *version)) version = row.version;
  }
  return version;
}

/// The rows to take back, the newest version first.
std::vector<const HistoryRow*> chosen_rows(const std::vector<HistoryRow>& history,
                                           const std::optional<Version>& above, std::size_t at_most) {
  std::vector<const HistoryRow*> rows;
  for (const auto& row : history) {
    if (is_counted(row, MigrationKind::versioned) && (!above || *row.version > *above)) rows.push_back(&row);
  }
  std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return *a->version > *b->version; });
  if (rows.size() > at_most) rows.resize(at_most);
  return rows;
}

void add_step(Plan& plan, const HistoryRow& row, const Migration* file) {
  if (row.state != row_state::applied) return plan.problems.push_back(stopped_part_way(row));
  if (file == nullptr) return plan.problems.push_back(no_undo_file(row));
  if (file->transaction == TransactionMode::off) return plan.problems.push_back(outside_transaction(*file));
  plan.steps.push_back({.migration = *file, .undoes = row});
}

Plan checked_plan(const std::vector<Migration>& files, std::vector<HistoryRow> history,
                  const std::optional<Version>& target) {
  auto plan = make_undo_plan(files, std::move(history), target);
  if (!plan.problems.empty()) throw Failure(plan.problems);
  return plan;
}

/// While this run waited, another one may have undone the version that was meant: then the next one below it
/// must stay.
void keep_to(const Version& agreed, Plan& plan) {
  if (plan.steps.empty()) return;
  const auto& newest = *plan.steps.front().undoes->version;
  if (newest > agreed) throw Failure(not_newest(agreed, newest));
  if (newest < agreed) plan.steps.clear();
}

}  // namespace

Plan make_undo_plan(const std::vector<Migration>& files, std::vector<HistoryRow> history,
                    const std::optional<Version>& target) {
  Plan plan;
  plan.history = std::move(history);
  for (const auto& row : plan.history) plan.highest_rank = std::max(plan.highest_rank, row.rank);
  const auto baseline = highest(plan.history, MigrationKind::baseline);
  plan.newest_applied = std::max(baseline, highest(plan.history, MigrationKind::versioned));
  if (target && baseline && *target < *baseline) {
    plan.problems.push_back(below_baseline(*target, *baseline));
    return plan;
  }
  const auto above = std::max(target, baseline);
  for (const auto* row : chosen_rows(plan.history, above, target ? plan.history.size() : 1))
    add_step(plan, *row, undo_file(files, *row->version));
  return plan;
}

void undo(Database& database, const LocalMigrations& files, const UndoOptions& options, Reporter& reporter,
          MigrateResult& result) {
  result.plan = checked_plan(files.migrations, database.history(), options.target);
  if (result.plan.steps.empty()) return reporter.planned(result.plan);
  const auto agreed = *result.plan.steps.front().undoes->version;

  auto policy = options.lock;
  if (policy.on_busy == OnBusy::skip) policy.on_busy = OnBusy::fail;
  auto waited = acquire(database, policy, reporter, [&](std::vector<HistoryRow> history) {
    result.plan = checked_plan(files.migrations, std::move(history), options.target);
    if (!options.target) keep_to(agreed, result.plan);
    return !result.plan.steps.empty();
  });
  result.waited = waited.duration;
  reporter.planned(result.plan);
  if (!waited.lock) return;

  prepare_history(database, reporter);
  apply_steps(database, undo_callbacks(files.callbacks), options.retry, reporter, result);
  waited.lock->release();
}

}  // namespace lockstep
