#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "ephemeral/process.h"

namespace lockstep::ephemeral {

struct EphemeralOptions {
  std::string programs = {};               ///< folder of initdb and postgres; empty: found
  std::string path = {};                   ///< as in PATH: where else to look
  std::string temp_dir = {};               ///< TMPDIR; empty, or no place for a socket: /tmp
  std::vector<std::string> settings = {};  ///< of the server, "name=value"; stronger than ours
};

/// A PostgreSQL that lives as long as this object and not longer than this process, even when that is killed.
/// It is reachable over a unix socket in a private directory only, by its superuser postgres, and does not
/// care about a power failure. When this process is root, the server runs as postgres or nobody.
class EphemeralServer {
 public:
  /// Makes and starts it. Throws Failure with the end of the server's log.
  static EphemeralServer start(const EphemeralOptions& options);

  EphemeralServer(EphemeralServer&&) noexcept = default;
  EphemeralServer& operator=(EphemeralServer&&) = delete;
  /// Stops the server and returns when its directory is gone.
  ~EphemeralServer();

  std::string url() const;

  /// What a child's environment needs to reach the server, whatever client library it uses. An empty value
  /// means that the variable must not be there.
  std::vector<std::pair<std::string, std::string>> environment() const;

  /// Where data, socket and log are.
  const std::string& directory() const { return directory_; }

 private:
  EphemeralServer(std::string directory, Fd lifeline, pid_t watcher)
      : directory_(std::move(directory)), lifeline_(std::move(lifeline)), watcher_(watcher) {}

  std::string directory_;
  Fd lifeline_;
  pid_t watcher_;
};

}  // namespace lockstep::ephemeral
