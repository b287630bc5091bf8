#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/database.h"
#include "core/session_options.h"
#include "db/result.h"

namespace lockstep::db {

/// Columns about a session of pg_stat_activity `a`; `since` is the time column of it that matters.
std::string session_columns(std::string_view since);
/// Reads these columns; `first` is the index of the first one.
LockHolder session_at(const PGresult* result, int row, int first);

/// Sees from a second connection what a long statement waits for and who blocks it. Opened when it is first
/// needed; never holds a transaction open, and never fails: why it cannot see anything is all it tells then.
class Observer {
 public:
  /// `watched` must outlive the observer.
  Observer(PGconn* watched, int backend_pid, const SessionOptions& options);
  ~Observer();

  /// Nothing when the statement has just ended.
  std::optional<Activity> look(Milliseconds running);

 private:
  bool connected();
  Result ask(const std::string& query);
  Result wait_for_answer();

  PGconn* watched_;
  int backend_pid_;
  const SessionOptions& options_;
  PGconn* connection_ = nullptr;
  bool given_up_ = false;
  std::string trouble_;  ///< why there is no second connection
};

}  // namespace lockstep::db
