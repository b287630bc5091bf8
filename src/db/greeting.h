#pragma once

#include <string>

#include "core/database.h"
#include "core/session_options.h"
#include "db/history_format.h"
#include "db/identity.h"
#include "db/session.h"

namespace lockstep::db {

enum class Presence { missing, present };

/// What the first query of a session learned. It changes nothing, not even a setting, since it may have run
/// on a pooled backend.
struct Greeting {
  SessionFacts facts;
  Identity backend;
  Path path = Path::direct;
  std::string login;      ///< session_user
  std::string isolation;  ///< the role's default_transaction_isolation
  Presence history = Presence::missing;
  Presence schema = Presence::missing;
  int format = history_format;  ///< of the history, where that is present
};

/// Asks, and refuses a server that is too old, a history that is too new, or for writing a server that cannot
/// be written to. Throws Failure. A history of another format costs a second query.
Greeting greet(Session& session, const SessionOptions& options);

}  // namespace lockstep::db
