#pragma once

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// Why a command ended without doing what was asked. The list is also the list of exit codes
/// (docs/exit-codes.md).
enum class ErrorKind {
  negative,     ///< the answer is no: pending with --check, findings, drift
  usage,        ///< wrong flag or argument
  config,       ///< wrong or missing setting
  files,        ///< migration files are invalid, or files and history disagree
  connection,   ///< the server cannot be reached or refuses the login, or the session was lost
  unsafe,       ///< no safe session: pooler, standby, read-only server, lost lock
  migration,    ///< a migration failed and was rolled back
  part_way,     ///< a non-transactional migration stopped part-way
  internal,     ///< our own fault
  lock_busy,    ///< the lock was not free in time
  interrupted,  ///< SIGINT
  terminated,   ///< SIGTERM
};

/// The process exit status of a kind. Scripts depend on it.
int exit_code(ErrorKind kind);

/// A place in a file. Lines and columns count from 1; columns count characters (code points), not bytes.
struct SourcePosition {
  std::string file;
  std::size_t line = 0;    ///< 0: the whole file
  std::size_t column = 0;  ///< 0: the whole line
};

/// What went wrong, where, and what to do about it. A value: shown as text, written as JSON, collected in
/// lists.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string code = {};     ///< stable and machine-readable, such as "checksum_changed"
  std::string message = {};  ///< lower case, no full stop, names the thing
  std::optional<SourcePosition> where = std::nullopt;
  /// When `where` is in a file that another one includes: the commands that do so, the innermost first.
  std::vector<SourcePosition> included_from = {};
  std::string excerpt = {};   ///< the source line at `where`
  std::string sqlstate = {};  ///< five characters, of the server's error
  std::string detail = {};
  std::string context = {};
  std::vector<std::string> hints = {};  ///< each one a sentence that says what to do
  std::optional<long> retry_after_ms = std::nullopt;
};

/// There is less memory than was needed. `where`, if it is known.
Error out_of_memory(std::optional<SourcePosition> where = std::nullopt);

/// The only exception thrown on purpose. It carries at least one error; the first one decides the exit
/// status.
class Failure : public std::exception {
 public:
  explicit Failure(Error error);
  /// All problems of one report. `errors` must not be empty.
  explicit Failure(std::vector<Error> errors);

  const char* what() const noexcept override { return errors_.front().message.c_str(); }
  const Error& error() const { return errors_.front(); }
  const std::vector<Error>& errors() const { return errors_; }

 private:
  std::vector<Error> errors_;
};

/// "file:line:column", shorter where line or column is unknown.
std::string to_string(const SourcePosition& position);

/// An error as people read it: place and message on the first line, excerpt with caret, then detail, context
/// and hints.
std::string render(const Error& error);

}  // namespace lockstep
