#pragma once

#include <optional>

#include "core/database.h"
#include "db/observer.h"
#include "db/session.h"

namespace lockstep::db {

/// While it lives, the session's events go to one migration.
class Listening {
 public:
  Listening(Session& session, Observer& observer, const StepEvents& events,
            std::optional<Milliseconds> lock_timeout);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  Session& session_;
};

}  // namespace lockstep::db
