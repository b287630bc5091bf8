#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/duration.h"

namespace lockstep {

/// What to do about a connection pooler between us and the server.
enum class PoolerPolicy {
  detect,          ///< accept a proven session pooler, refuse the rest
  refuse,          ///< accept a direct connection only
  assume_session,  ///< the user states that it is session mode; the guards stay on
};

/// What a command does to the database. Reading works on standbys and through any pooler, since it leaves no
/// trace.
enum class Access { read, write };

/// How to open the migration session.
struct SessionOptions {
  std::string conninfo;  ///< whatever libpq takes; empty: libpq's own environment variables
  std::optional<std::string> password = std::nullopt;
  Access access = Access::write;
  std::string command;  ///< for application_name
  std::string run_id;   ///< uuid
  std::string tool_version;
  std::string role = {};            ///< SET ROLE after connecting; empty: none
  std::string search_path = {};     ///< as in SET search_path; empty: the server's
  std::string history_schema = {};  ///< empty: the session's current_schema
  std::string history_table = "lockstep_history";
  std::int32_t lock_namespace = 1280262987;
  std::optional<std::int32_t> lock_resource =
      std::nullopt;  ///< absent: derived from the history table's name
  PoolerPolicy pooler = PoolerPolicy::detect;
  Milliseconds wait_for_db{0};
  Milliseconds lock_timeout{5000};
};

}  // namespace lockstep
