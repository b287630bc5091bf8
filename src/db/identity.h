#pragma once

#include <libpq-fe.h>
#include <sys/types.h>

#include <optional>

namespace lockstep::db {

/// Which backend answered, as the server sees it: its pid and the port that its client connected from.
struct Identity {
  int pid = 0;
  std::optional<int> client_port = std::nullopt;  ///< absent on a unix socket

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// What our end of the connection knows of itself.
struct OwnEnd {
  int handshake_pid = 0;  ///< from BackendKeyData
  std::optional<int> port = std::nullopt;
  std::optional<pid_t> listener = std::nullopt;  ///< the process at the other end of a unix socket
};

OwnEnd own_end(PGconn* connection);

/// Whether something sits between us and the backend.
enum class Path { direct, indirect };

/// Nothing sits between us and a backend that has the pid of the handshake and sees our very socket, or, over
/// a unix socket, is a child of who listens there. Equal pids alone prove nothing, since some poolers hand
/// out small numbers or real pids.
Path path_to(const OwnEnd& own, const Identity& backend);

}  // namespace lockstep::db
