#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "db/progress.h"
#include "db/script_sender.h"
#include "sql/target.h"

namespace lockstep::db {

/// How a statement runs outside a transaction of the file's own: it begins or ends one; or it commits
/// together with its note; or else it runs alone.
bool opens_transaction(const sql::Item& item);
bool runs_together(const sql::Item& item);

/// A setting of the session, which is made again when a file goes on in a new one.
bool is_kept_setting(const sql::Item& item);

/// Where a file outside a transaction writes down how far it has come (docs/history-table.md, "States").
struct Journal {
  /// Around a statement that commits by itself: the intent before it, the result after it.
  std::function<void(const Progress&)> note;
  /// Notes it and commits the open transaction, both or neither. What the transaction has put off to its end
  /// can fail: that is the statement's error.
  std::function<std::optional<ServerError>(const Progress&)> commit;
};

/// Sends the statements of one migration file one after the other. A statement that can run in a transaction
/// commits together with its note; another one is journaled: intent before, result after.
class JournaledRunner {
 public:
  JournaledRunner(Session& session, const OpenScript& open, const Migration& migration, Journal journal);

  /// Goes on behind what is done. Throws, with no statement run, if what is done is not how the file begins;
  /// or if the fate of a statement that was running when an earlier run died cannot be told. `begin` opens a
  /// transaction around one statement.
  void run(Progress before, const std::string& begin);

  /// How far it has come, also after a failure.
  const Progress& progress() const { return progress_; }
  bool may_change_defaults() const { return may_change_defaults_; }

 private:
  void skip(const sql::Item& item, ScriptMessage& settings);
  void run_next(const sql::Item& item, const Progress& next);
  void run_within(const sql::Item& item, const Progress& next);
  [[nodiscard]] bool run_together(const sql::Item& item, const Progress& next);
  void run_alone(const sql::Item& item, const Progress& next);
  void send_alone(const sql::Item& item, const Progress& next);
  void commit(const sql::Place& place, const Progress& next);
  [[nodiscard]] bool was_done(const sql::Item& item, const Progress& next);
  void done(const Progress& next);
  void refuse_unread() const;

  Session& session_;
  const OpenScript& open_;
  const Migration& migration_;
  const Journal journal_;
  ScriptSender sender_;
  sql::ScriptReader* reader_ = nullptr;  ///< while it runs
  std::string begin_;
  Progress progress_;
  bool may_change_defaults_ = false;
};

}  // namespace lockstep::db
