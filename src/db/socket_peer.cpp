#include "db/socket_peer.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <fstream>
#include <sstream>
#include <string>

namespace lockstep::db {
namespace {

/// The numbers of one line of /proc/PID/status (proc_pid_status(5)); the last one, which is absent with the
/// process.
std::optional<pid_t> last_number(pid_t process, std::string_view name) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream words(line.substr(name.size()));
    std::optional<pid_t> last;
    for (pid_t number = 0; words >> number;) last = number;
    return last;
  }
  return std::nullopt;
}

/// Where the kernel does not list children there are none.
bool has_child_of_a_container(pid_t listener, pid_t child) {
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", listener));
  for (pid_t outer = 0; children >> outer;) {
    if (last_number(outer, "NSpid:") == child) return true;
  }
  return false;
}

}  // namespace

std::optional<pid_t> listener_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.pid <= 0) return std::nullopt;
  return peer.pid;
}

bool is_parent(pid_t listener, pid_t child) {
  return last_number(child, "PPid:") == listener || has_child_of_a_container(listener, child);
}

}  // namespace lockstep::db
