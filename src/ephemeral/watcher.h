#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ephemeral/process.h"

namespace lockstep::ephemeral {

/// How far the watcher got, told once through its status pipe.
struct WatcherStatus {
  enum class Step : int { ready, initdb, server };
  Step step;
  int exit_code;  ///< of what failed; -1: it did not finish in time
};

/// What the watcher runs, and where.
struct WatcherTask {
  std::string directory;  ///< private; removed in the end
  Program initdb;
  Program server;
};

/// Becomes the process that owns the server: makes the cluster, runs the server, waits until the other end of
/// `lifeline` is closed, which also happens when its holder is killed, and then stops the server and removes
/// the directory. Keeps nothing else open. Never returns; call it in a forked child.
[[noreturn]] void watch(WatcherTask& task, const Fd& lifeline, const Fd& status);

}  // namespace lockstep::ephemeral
