#pragma once

#include <string>

#include "core/session_options.h"
#include "db/identity.h"
#include "db/session.h"

namespace lockstep::db {

enum class PoolMode { session, transaction, undecidable };

struct Verdict {
  PoolMode mode;
  std::string evidence;
};

/// Finds out what a pooler does with this idle session. Only a session that keeps its backend while it is
/// idle can be sent a notification by a second connection; a pooler that shares backends has nobody to pass
/// it on to. Takes no lock and leaves nothing behind.
Verdict probe_pooler(Session& session, const SessionOptions& options, const Identity& first_seen);

/// The refusal that a verdict leads to: evidence, consequence, and what to change.
Failure pooler_refusal(PGconn* connection, PoolerPolicy policy, const Verdict& verdict,
                       const Identity& backend);

}  // namespace lockstep::db
