#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/program.h"

namespace lockstep::test {

/// A server program in a private directory of an unprivileged user. It is stopped and the directory removed
/// when this object goes, and also when this whole process is killed: a watcher waits for the end of a pipe
/// that only this process holds.
class Daemon {
 public:
  /// Makes the directory. Files for the server go there before `start`.
  explicit Daemon(const std::string& name);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon();

  const std::filesystem::path& dir() const { return dir_; }
  std::filesystem::path log() const { return dir_ / "log"; }

  /// Gives the files to the unprivileged user, starts `argv` with its output going to `log()` and waits until
  /// `ready` holds. `stop_signal` is a name as kill(1) takes it. Throws with the log's text when the server
  /// ends.
  void start(const std::vector<std::string>& argv, const std::string& stop_signal,
             const std::function<bool()>& ready);
  /// Stops the server and keeps the directory. A second call does nothing.
  void stop();

  /// Runs a command in the directory as the server's user and returns its output.
  std::string run_inside(std::vector<std::string> argv) const;

 private:
  void own(const std::filesystem::path& path) const;

  std::filesystem::path dir_;
  std::unique_ptr<Running> cleaner_, watcher_;
};

/// A TCP port of the loopback interface that nobody listens on at the moment.
int free_port();

}  // namespace lockstep::test
