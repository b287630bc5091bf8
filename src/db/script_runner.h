#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/migration.h"
#include "db/hashed_script.h"
#include "db/script_message.h"
#include "db/session.h"
#include "sql/script_reader.h"

namespace lockstep::db {

/// How far a file outside a transaction has come.
struct Done {
  std::size_t statements = 0;
  std::string digest = {};  ///< "sha256:<hex>" over their texts; what it is of none does not matter
};

/// The statements of ours around a file within one transaction.
struct Frame {
  std::vector<std::string> before = {};  ///< in a transaction of their own
  std::string begin = {};                ///< unless the file does so itself
  std::vector<std::string> after_begin = {};
  std::vector<std::string> closing = {};  ///< the first runs what is deferred, the last one commits
};

/// The error that ended the closing statements.
struct ClosingError {
  enum class Part { deferred, record, commit };
  Part part = Part::record;
  ServerError error = {};
};

/// Sends the statements of one migration file. Errors are Failures with the place in the file.
class ScriptRunner {
 public:
  ScriptRunner(Session& session, const OpenScript& open, const Migration& migration);

  /// Sends everything as few messages within one transaction; the last message closes it. Throws if a
  /// statement of the file fails, or before the end if the file is not the one that was checked.
  std::optional<ClosingError> run_in_transaction(const Frame& frame);

  /// Sends one statement after the other, each a transaction of its own, without those that are done. Calls
  /// `progress` after each one; those within a transaction that the file itself controls count at its end.
  /// Throws if what is done is not how the file begins.
  void run_one_by_one(const Done& before, const std::function<void(const Done&)>& progress);

  /// How many statements were sent.
  std::size_t statements() const { return statements_; }

  /// A statement may have changed what new sessions begin with.
  bool may_change_defaults() const { return may_change_defaults_; }

 private:
  std::optional<sql::Item> next_statement(ScriptMessage& message, sql::ScriptReader& reader);
  void echo(const sql::Item& item);
  void count(const sql::Item& item);
  void send(ScriptMessage& message, sql::ScriptReader& reader);
  std::optional<ServerError> try_send(const ScriptMessage& message, sql::ScriptReader& reader);
  std::optional<ClosingError> close(ScriptMessage& message, sql::ScriptReader& reader,
                                    const std::vector<std::string>& closing);
  void copy_in(sql::ScriptReader& reader, std::optional<ServerError>& error);
  void drain_copy_out();
  void refuse_unread(const sql::ScriptReader& reader) const;
  [[noreturn]] void fail(const ScriptMessage& message, const ServerError& error,
                         const sql::ScriptReader& reader) const;

  Session& session_;
  const OpenScript& open_;
  const Migration& migration_;
  std::size_t statements_ = 0;
  std::size_t completed_ = 0;  ///< of the last message
  bool may_change_defaults_ = false;
};

}  // namespace lockstep::db
