#include "core/script_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace lockstep {
namespace {

using sql::StatementKind;

Error problem_at(const sql::Place& place, const ScriptFiles& files, std::string code, std::string message,
                 std::vector<std::string> hints) {
  Error error{.kind = ErrorKind::files,
              .code = std::move(code),
              .message = std::move(message),
              .hints = std::move(hints)};
  set_place(error, place, files.script, files.includes);
  return error;
}

/// Reads the directives of the file and of the configuration beside it.
DirectivesRead read_directives(const sql::Survey& survey, const ScriptConfig& config,
                               const ScriptFiles& files) {
  DirectivesRead read;
  for (const auto& line : survey.directives) {
    read_directive_line(line.text, {files.script, line.place.line, line.place.column}, read);
  }
  for (const auto& line : survey.late_directives) {
    read.problems.push_back(problem_at(line.place, files, "directive_late",
                                       "this setting stands behind the first statement",
                                       {"Move the line to the top of the file."}));
  }
  merge_script_config(config.read, config.file, read);
  return read;
}

/// Where a statement is, said at another one.
std::string seen_from(const sql::Place& here, const sql::Place& there, const ScriptFiles& files) {
  if (here.file == there.file) return fmt::format("line {}", there.line);
  return fmt::format("{}:{}", there.file == 0 ? files.script : files.includes[there.file - 1].file,
                     there.line);
}

/// A file in which some statements need a transaction and others cannot have one.
Error mixed_file(const sql::Mark& alone, const sql::Mark& ordinary, const ScriptFiles& files) {
  return problem_at(alone.place, files, "mixed_transaction_modes",
                    fmt::format("{} cannot run in a transaction, but {} in {} should", alone.name,
                                ordinary.name, seen_from(alone.place, ordinary.place, files)),
                    {fmt::format("Move {} into a migration of its own, with the next version.", alone.name),
                     "Or write -- lockstep: transaction=off in the first line: then each statement commits "
                     "by itself, and a "
                     "failure leaves those before it applied."});
}

Error contradicted_mode(const sql::Mark& alone, const ScriptFiles& files) {
  return problem_at(
      alone.place, files, "transaction_impossible",
      fmt::format("{} cannot run in a transaction, and this file asks for one", alone.name),
      {"Remove transaction=on (or executeInTransaction=true); what cannot run in a transaction is "
       "recognised without it."});
}

/// Decides on the transaction, and adds a problem where that is not possible.
TransactionMode decide_mode(const sql::Survey& survey, const Directives& directives, const ScriptFiles& files,
                            std::vector<Error>& problems) {
  if (directives.transaction == TransactionMode::off) return TransactionMode::off;
  if (survey.non_transactional.empty()) return TransactionMode::on;
  const auto& alone = survey.non_transactional.front();
  if (directives.transaction == TransactionMode::on) {
    problems.push_back(contradicted_mode(alone, files));
  } else if (survey.first_ordinary) {
    problems.push_back(mixed_file(alone, *survey.first_ordinary, files));
  }
  return TransactionMode::off;
}

std::string reason_of(const sql::Survey& survey, const Directives& directives, const ScriptFiles& files) {
  if (directives.transaction == TransactionMode::off) return "it says transaction=off";
  if (survey.non_transactional.empty()) return {};
  const auto& alone = survey.non_transactional.front();
  return fmt::format("{} in {} cannot run in one", alone.name, seen_from({}, alone.place, files));
}

Error refused_control(const sql::Mark& mark, const ScriptFiles& files, TransactionMode mode) {
  if (mode == TransactionMode::off) {
    return problem_at(mark.place, files, "transaction_control",
                      fmt::format("{} stands in a file that cannot run in a transaction", mark.name),
                      {"Remove it: each statement of this file commits by itself."});
  }
  return problem_at(
      mark.place, files, "transaction_control",
      fmt::format("{} would break up the transaction in which this file is applied and recorded", mark.name),
      {"Remove it: lockstep begins the transaction and commits it. One pair of BEGIN and COMMIT "
       "around the whole file does no harm, and savepoints are free to use.",
       "Or write -- lockstep: transaction=off in the first line, and the file controls its "
       "transactions itself."});
}

/// COMMIT PREPARED and its like are among the statements that cannot run in a transaction, so that a file of
/// them runs outside.
bool is_at_home(const sql::Mark& mark, const sql::Survey& survey, TransactionMode mode) {
  if (!splits_transaction(mark.statement.kind)) return true;
  if (mode == TransactionMode::off) return mark.statement.not_in_transaction_since > 0;
  const bool outermost =
      mark.statement.kind == StatementKind::begin || mark.statement.kind == StatementKind::commit;
  return survey.wrapped && outermost;
}

void check_transaction_control(const sql::Survey& survey, const Directives& directives, TransactionMode mode,
                               const ScriptFiles& files, std::vector<Error>& problems) {
  if (directives.transaction == TransactionMode::off) return;
  for (const auto& mark : survey.transaction_control) {
    if (!is_at_home(mark, survey, mode)) problems.push_back(refused_control(mark, files, mode));
  }
}

void check_lock_releases(const sql::Survey& survey, const ScriptFiles& files, std::vector<Error>& problems) {
  for (const auto& mark : survey.lock_releases) {
    problems.push_back(problem_at(
        mark.place, files, "lock_dropped",
        fmt::format("{} would drop the lock that keeps other migrations away", mark.name),
        {"Remove it: lockstep cleans the session between files. RESET ALL resets settings within one."}));
  }
}

void sort_by_place(std::vector<Error>& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Error& a, const Error& b) {
    return std::tie(a.where->file, a.where->line, a.where->column) <
           std::tie(b.where->file, b.where->line, b.where->column);
  });
}

/// What is wrong with a file whatever it is for.
std::vector<Error> common_problems(const sql::Survey& survey, const ScriptFiles& files) {
  auto problems = files.problems;
  for (const auto& found : survey.problems) {
    std::vector<std::string> hints;
    if (!found.hint.empty()) hints.push_back(found.hint);
    problems.push_back(problem_at(found.place, files, found.code, found.message, std::move(hints)));
  }
  for (const auto& command : survey.meta_commands) problems.push_back(refused_meta_command(command, files));
  return problems;
}

/// In the order of the file; the directives stand at its top.
void finish(Judgement& judgement, const sql::Survey& survey, const ScriptFiles& files, DirectivesRead read) {
  auto& problems = judgement.problems;
  check_lock_releases(survey, files, problems);
  sort_by_place(problems);
  problems.insert(problems.begin(), std::make_move_iterator(read.problems.begin()),
                  std::make_move_iterator(read.problems.end()));
  judgement.directives = read.directives;
}

Error callback_outside_transaction(const sql::Place& place, const ScriptFiles& files, std::string message) {
  return problem_at(
      place, files, "callback_outside_transaction", std::move(message),
      {"A callback that fails must leave nothing half-done, and only migrations have a journal. "
       "Write what cannot run in a transaction into a migration."});
}

/// COMMIT PREPARED and its like are told of as what cannot run in a transaction.
bool is_at_home_in_callback(const sql::Mark& mark, const sql::Survey& survey, CallbackPlace place) {
  if (!splits_transaction(mark.statement.kind) || mark.statement.not_in_transaction_since > 0) return true;
  return place == CallbackPlace::of_its_own && is_at_home(mark, survey, TransactionMode::on);
}

Error refused_control(const sql::Mark& mark, const ScriptFiles& files, CallbackPlace place) {
  const bool within = place == CallbackPlace::within_migration;
  return problem_at(mark.place, files, "transaction_control",
                    fmt::format("{} would break up the transaction in which this callback runs", mark.name),
                    {within ? "Remove it: the callback runs in the transaction of the migration. Savepoints "
                              "are free to use."
                            : "Remove it: lockstep begins the transaction and commits it. One pair of BEGIN "
                              "and COMMIT around the whole file does no harm."});
}

void check_callback_settings(const Directives& directives, CallbackPlace place, const ScriptFiles& files,
                             std::vector<Error>& problems) {
  if (directives.transaction == TransactionMode::off) {
    problems.push_back(callback_outside_transaction(
        {.line = 0, .column = 0}, files, "this callback says transaction=off, but callbacks run in one"));
  }
  const bool timeouts = directives.lock_timeout || directives.statement_timeout;
  if (!timeouts || place == CallbackPlace::of_its_own) return;
  problems.push_back(
      problem_at({.line = 0, .column = 0}, files, "callback_setting",
                 "this callback runs in the transaction of the migration, whose time-outs hold",
                 {"Remove lock_timeout and statement_timeout here, and write them into the "
                  "migrations that need them."}));
}

}  // namespace

bool splits_transaction(StatementKind kind) {
  switch (kind) {
    case StatementKind::begin:
    case StatementKind::commit:
    case StatementKind::rollback:
    case StatementKind::prepare_transaction:
    case StatementKind::commit_prepared:
    case StatementKind::rollback_prepared:
      return true;
    default:
      return false;
  }
}

Judgement judge_script(const sql::Survey& survey, const ScriptConfig& config, const ScriptFiles& files) {
  auto read = read_directives(survey, config, files);
  Judgement judgement{.problems = common_problems(survey, files)};
  judgement.transaction = decide_mode(survey, read.directives, files, judgement.problems);
  judgement.outside_because = reason_of(survey, read.directives, files);
  check_transaction_control(survey, read.directives, judgement.transaction, files, judgement.problems);
  finish(judgement, survey, files, std::move(read));
  return judgement;
}

Judgement judge_callback(const sql::Survey& survey, const ScriptConfig& config, const ScriptFiles& files,
                         CallbackPlace place) {
  auto read = read_directives(survey, config, files);
  Judgement judgement{.problems = common_problems(survey, files)};
  auto& problems = judgement.problems;
  check_callback_settings(read.directives, place, files, problems);
  for (const auto& mark : survey.non_transactional) {
    problems.push_back(callback_outside_transaction(
        mark.place, files,
        fmt::format("{} cannot run in a transaction, but callbacks run in one", mark.name)));
  }
  for (const auto& mark : survey.transaction_control) {
    if (!is_at_home_in_callback(mark, survey, place)) problems.push_back(refused_control(mark, files, place));
  }
  finish(judgement, survey, files, std::move(read));
  return judgement;
}

}  // namespace lockstep
