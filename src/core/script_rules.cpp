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
  read.problems.leave_out(survey.late_directives.left_out());
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

/// What was found so far in a file, in no order yet.
struct Found {
  std::vector<Error> problems = {};
  std::size_t left_out = 0;

  template <typename Kind, typename MakeError>
  void add(const sql::Firsts<Kind>& list, MakeError error) {
    for (const auto& one : list) problems.push_back(error(one));
    left_out += list.left_out();
  }
};

void check_transaction_control(const sql::Survey& survey, const Directives& directives, TransactionMode mode,
                               const ScriptFiles& files, Found& found) {
  const bool harmless = survey.wrapped && mode == TransactionMode::on;
  if (harmless || directives.transaction == TransactionMode::off) return;
  found.add(survey.transaction_control,
            [&](const sql::Mark& mark) { return refused_control(mark, files, mode); });
}

void check_lock_releases(const sql::Survey& survey, const ScriptFiles& files, Found& found) {
  found.add(survey.lock_releases, [&](const sql::Mark& mark) {
    return problem_at(
        mark.place, files, "lock_dropped",
        fmt::format("{} would drop the lock that keeps other migrations away", mark.name),
        {"Remove it: lockstep cleans the session between files. RESET ALL resets settings within one."});
  });
}

void sort_by_place(std::vector<Error>& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Error& a, const Error& b) {
    return std::tie(a.where->file, a.where->line, a.where->column) <
           std::tie(b.where->file, b.where->line, b.where->column);
  });
}

/// What is wrong with a file whatever it is for.
Found common_problems(const sql::Survey& survey, const ScriptFiles& files) {
  Found found{.left_out = survey.more_problems + survey.directives.left_out()};
  found.add(files.problems, [](const Error& problem) { return problem; });
  for (const auto& problem : survey.problems) {
    std::vector<std::string> hints;
    if (!problem.hint.empty()) hints.push_back(problem.hint);
    found.problems.push_back(
        problem_at(problem.place, files, problem.code, problem.message, std::move(hints)));
  }
  found.add(survey.meta_commands,
            [&](const sql::Remark& command) { return refused_meta_command(command, files); });
  return found;
}

Error more_problems(std::size_t count, const ScriptFiles& files) {
  return {.kind = ErrorKind::files,
          .code = "more_problems",
          .message = fmt::format("{} more problem{} of this migration {} not shown", count,
                                 count == 1 ? "" : "s", count == 1 ? "is" : "are"),
          .where = SourcePosition{files.script},
          .hints = {"Mend those that are shown, then look again."}};
}

/// In the order of the file, the directives standing at its top, and no more than anybody reads.
std::vector<Error> in_order(Found found, const DirectivesRead& read, const ScriptFiles& files) {
  std::vector<Error> problems(read.problems.begin(), read.problems.end());
  sort_by_place(found.problems);
  std::move(found.problems.begin(), found.problems.end(), std::back_inserter(problems));
  auto left_out = found.left_out + read.problems.left_out();
  if (problems.size() > sql::Firsts<Error>::most) {
    left_out += problems.size() - sql::Firsts<Error>::most;
    problems.resize(sql::Firsts<Error>::most);
  }
  if (left_out > 0) problems.push_back(more_problems(left_out, files));
  return problems;
}

Error callback_outside_transaction(const sql::Place& place, const ScriptFiles& files, std::string message) {
  return problem_at(
      place, files, "callback_outside_transaction", std::move(message),
      {"A callback that fails must leave nothing half-done, and only migrations have a journal. "
       "Write what cannot run in a transaction into a migration."});
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
  auto found = common_problems(survey, files);
  Judgement judgement{.directives = read.directives};
  judgement.transaction = decide_mode(survey, read.directives, files, found.problems);
  judgement.outside_because = reason_of(survey, read.directives, files);
  check_transaction_control(survey, read.directives, judgement.transaction, files, found);
  check_lock_releases(survey, files, found);
  judgement.problems = in_order(std::move(found), read, files);
  return judgement;
}

Judgement judge_callback(const sql::Survey& survey, const ScriptConfig& config, const ScriptFiles& files,
                         CallbackPlace place) {
  auto read = read_directives(survey, config, files);
  auto found = common_problems(survey, files);
  check_callback_settings(read.directives, place, files, found.problems);
  found.add(survey.non_transactional, [&](const sql::Mark& mark) {
    return callback_outside_transaction(
        mark.place, files,
        fmt::format("{} cannot run in a transaction, but callbacks run in one", mark.name));
  });
  if (!survey.wrapped || place == CallbackPlace::within_migration) {
    found.add(survey.transaction_control,
              [&](const sql::Mark& mark) { return refused_control(mark, files, place); });
  }
  check_lock_releases(survey, files, found);
  return {.directives = read.directives, .problems = in_order(std::move(found), read, files)};
}

}  // namespace lockstep
