#include "core/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/history_format.h"

namespace lockstep {
namespace {

RowChange align(const PlanEntry& entry) {
  return {.action = RowChange::Action::align,
          .rank = entry.row->rank,
          .checksum = recorded_checksum(*entry.file),
          .description = entry.file->name.description,
          .script = entry.file->script};
}

Error changed_meanwhile() {
  return {.kind = ErrorKind::files,
          .code = "history_changed",
          .message = "the history changed while the repair was being agreed on",
          .hints = {"Nothing was changed. Run lockstep repair again and look at its new plan."}};
}

Failure no_such_question(const StatementAnswer& answer) {
  return Failure(
      Error{.kind = ErrorKind::usage,
            .code = "not_in_doubt",
            .message = fmt::format("statement {} of {} is not in doubt", answer.number, answer.name),
            .hints = {"Copy the command from the error of lockstep migrate: it names the statement."}});
}

bool is_of(const HistoryRow& row, const std::string& name) {
  if (row.script == name) return true;
  if (!row.version || name.empty() || (name.front() != 'V' && name.front() != 'v')) return false;
  return Version::parse(std::string_view(name).substr(1)) == row.version;
}

RowChange change_by(const StatementAnswer& answer, const Plan& plan) {
  for (const auto& row : plan.history) {
    const bool asked = row.counts() && !row.intent.empty() && row.statements_done + 1 == answer.number &&
                       is_of(row, answer.name);
    if (!asked) continue;
    if (answer.fate == StatementAnswer::Fate::again)
      return {.action = RowChange::Action::statement_again, .rank = row.rank};
    return {.action = RowChange::Action::statement_done, .rank = row.rank, .checksum = row.intent};
  }
  throw no_such_question(answer);
}

}  // namespace

StatementAnswer parse_answer(StatementAnswer::Fate fate, std::string_view text) {
  StatementAnswer answer{.fate = fate, .name = std::string(text.substr(0, text.rfind(':'))), .number = 0};
  const auto digits = text.substr(std::min(text.size(), answer.name.size() + 1));
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), answer.number);
  if (read.ec == std::errc() && read.ptr == digits.data() + digits.size() && answer.number > 0) return answer;
  throw Failure(
      Error{.kind = ErrorKind::usage,
            .code = "bad_statement",
            .message = fmt::format("\"{}\" does not name a statement", text),
            .hints = {"Write the migration and the number of the statement in its file, such as V7:3."}});
}

std::vector<RowChange> repair_changes(const Plan& plan, const std::vector<StatementAnswer>& answers) {
  const auto wrong_place = std::find_if(plan.problems.begin(), plan.problems.end(),
                                        [](const Error& error) { return error.code == "no_migrations"; });
  if (wrong_place != plan.problems.end()) throw Failure(*wrong_place);

  std::vector<RowChange> changes;
  for (const auto& answer : answers) changes.push_back(change_by(answer, plan));
  if (!answers.empty()) return changes;
  for (const auto& entry : plan.entries) {
    if (entry.state == MigrationState::changed) changes.push_back(align(entry));
    if (entry.state != MigrationState::missing) continue;
    changes.push_back({.action = RowChange::Action::mark_deleted, .rank = entry.row->rank});
  }
  return changes;
}

void repair(Database& database, const std::vector<Migration>& files,
            const std::vector<StatementAnswer>& answers, const std::vector<RowChange>& agreed,
            const LockPolicy& policy, Reporter& reporter) {
  std::vector<HistoryRow> history;
  auto lock = acquire(database, policy, reporter, history);
  const auto plan = make_plan(files, std::move(history), {});
  if (repair_changes(plan, answers) != agreed) throw Failure(changed_meanwhile());
  prepare_history(database, reporter);
  database.repair(agreed, plan.highest_rank);
  lock.release();
}

}  // namespace lockstep
