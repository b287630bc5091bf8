#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/migration.h"
#include "core/plan.h"
#include "db/hashed_script.h"
#include "db/script_sender.h"
#include "db/session.h"

namespace lockstep::db {

/// The statement may have changed what new sessions begin with: ALTER DATABASE, ROLE or USER, or code that
/// could contain one.
bool may_change_defaults(const sql::Item& item);

/// The statements of ours around a file within one transaction.
struct Frame {
  std::vector<std::string> before = {};  ///< in a transaction of their own
  std::string begin = {};
  std::vector<std::string> after_begin = {};
  std::vector<std::string> closing = {};  ///< the first runs what is deferred, the last one commits
};

/// The error that ended the closing statements.
struct ClosingError {
  enum class Part { deferred, record, commit };
  Part part = Part::record;
  ServerError error = {};
};

/// Files in the order in which they run.
using Scripts = std::vector<const Migration*>;
Scripts scripts_of(std::span<const Migration> callbacks);
/// The step's own, with the callbacks within its transaction around it.
Scripts scripts_of(const Step& step);

/// Sends the statements of one migration file, and of callbacks, as few messages within one transaction.
/// Errors are Failures with the place in the file.
class ScriptRunner {
 public:
  ScriptRunner(Session& session, const OpenScript& open, const Migration& migration);

  /// Runs `scripts`: those that are not the migration are callbacks of it. The last message closes the
  /// transaction. Throws if a statement fails, or before the end if a file is not the one that was checked.
  std::optional<ClosingError> run(const Frame& frame, const Scripts& scripts);

  /// How many statements of the migration were sent.
  std::size_t statements() const { return statements_; }
  bool may_change_defaults() const { return may_change_defaults_; }

 private:
  void run_script(const Migration& script, ScriptMessage& message);
  void refuse_other(const Migration& script);
  std::optional<sql::Item> next_statement(ScriptMessage& message);
  void send(ScriptMessage& message);
  std::optional<ClosingError> close(ScriptMessage& message, const std::vector<std::string>& closing);

  Session& session_;
  const OpenScript& open_;
  const Migration& migration_;
  ScriptSender sender_;
  std::optional<HashedScript> script_;  ///< the one that was begun last
  std::size_t statements_ = 0;
  bool may_change_defaults_ = false;
};

}  // namespace lockstep::db
