#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "files/fd.h"

namespace lockstep::ephemeral {

using files::Fd;

/// Both ends of a pipe that programs started later do not inherit.
struct Pipe {
  Fd read;
  Fd write;
};

Pipe make_pipe();

/// Whom a program runs as. Absent in a `Program`: as this process.
struct Identity {
  uid_t user;
  gid_t group;
  std::string name;
};

/// A program to start, with its whole environment. Everything is ready before the fork, so that the child
/// does nothing but system calls.
struct Program {
  std::vector<std::string> argv;  ///< argv[0] is a path
  std::vector<std::string> environment;
  std::string directory;  ///< where it runs
  int output = -1;        ///< its standard output and error
  std::optional<Identity> identity = std::nullopt;
};

/// Exit codes of a child that never became the program.
inline constexpr int directory_unreachable = 126;
inline constexpr int program_not_started = 127;

/// Starts a program as the leader of a process group. It is told to quit (SIGQUIT) when this process dies.
/// -1 when the system allows no more processes.
pid_t start(const Program& program);

/// Waits for the end of a child; its exit code, or 128 + signal. Empty when `deadline` passed.
std::optional<int> wait_for_end(pid_t pid, std::chrono::steady_clock::time_point deadline);

/// Closes every descriptor from `first` on.
void close_from(int first);

}  // namespace lockstep::ephemeral
