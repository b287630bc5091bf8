#pragma once

#include <sys/types.h>

#include <optional>

namespace lockstep::db {

/// The process that listens at the other end of a connected unix socket (unix(7), SO_PEERCRED). Absent for
/// other sockets, and where its pid namespace cannot be seen from here.
std::optional<pid_t> listener_of(int socket);

/// Whether `listener` is the parent of the process that calls its own pid `child`, as the postmaster is of
/// each backend. The child's pid may be that of a container which `listener` runs in. False if it cannot be
/// seen.
bool is_parent(pid_t listener, pid_t child);

}  // namespace lockstep::db
