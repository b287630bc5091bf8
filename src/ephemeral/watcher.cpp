#include "ephemeral/watcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

namespace lockstep::ephemeral {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr int lifeline_fd = 3;
constexpr int status_fd = 4;
constexpr auto initdb_deadline = 180s;
constexpr auto start_deadline = 60s;
constexpr auto stop_deadline = 10s;

/// Leaves the terminal, the caller's signals and all of its descriptors but two.
void detach(const Fd& lifeline, const Fd& status) {
  ::setsid();
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);
  ::prctl(PR_SET_NAME, "lockstep-watch");
  const int high_lifeline = ::fcntl(lifeline.get(), F_DUPFD, 10);
  const int high_status = ::fcntl(status.get(), F_DUPFD, 10);
  ::dup3(high_lifeline, lifeline_fd, O_CLOEXEC);
  ::dup3(high_status, status_fd, O_CLOEXEC);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) ::dup2(null, fd);
  close_from(status_fd + 1);
  if (::chdir("/") != 0) ::_exit(program_not_started);
}

/// Waits up to `duration`; true as soon as nobody holds the other end any more.
bool lifeline_ended(std::chrono::milliseconds duration) {
  pollfd waited{lifeline_fd, POLLIN, 0};
  return ::poll(&waited, 1, static_cast<int>(duration.count())) > 0;
}

void stop(pid_t group, int signal) {
  ::kill(group, signal);
  if (!wait_for_end(group, Clock::now() + stop_deadline)) {
    ::kill(-group, SIGKILL);
    wait_for_end(group, Clock::now() + stop_deadline);
  }
  ::kill(-group, SIGKILL);
}

[[noreturn]] void finish(const WatcherTask& task) {
  std::error_code ignored;
  std::filesystem::remove_all(task.directory, ignored);
  ::_exit(0);
}

void tell(WatcherStatus::Step step, int exit_code) {
  const WatcherStatus status{step, exit_code};
  [[maybe_unused]] const auto written = ::write(status_fd, &status, sizeof status);
  ::close(status_fd);
}

/// The caller reads the log before it lets go.
[[noreturn]] void fail(const WatcherTask& task, WatcherStatus::Step step, int exit_code) {
  tell(step, exit_code);
  while (!lifeline_ended(1h)) {
  }
  finish(task);
}

pid_t start_logged(const WatcherTask& task, Program& program) {
  const Fd log(::open((task.directory + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  program.output = log.get();
  return start(program);
}

/// Both loops below look at the child, then at the lifeline, until one of them ends it.
void make_cluster(WatcherTask& task) {
  const auto deadline = Clock::now() + initdb_deadline;
  const pid_t pid = start_logged(task, task.initdb);
  if (pid < 0) fail(task, WatcherStatus::Step::initdb, program_not_started);
  while (true) {
    if (const auto code = wait_for_end(pid, Clock::now())) {
      if (*code != 0) fail(task, WatcherStatus::Step::initdb, *code);
      return;
    }
    const bool ended = lifeline_ended(2ms);
    if (!ended && Clock::now() < deadline) continue;
    stop(pid, SIGTERM);
    if (ended) finish(task);
    fail(task, WatcherStatus::Step::initdb, -1);
  }
}

/// The server says so in the last line of its pid file (PostgreSQL 10 and newer).
bool accepts_connections(const WatcherTask& task) {
  std::ifstream file(task.directory + "/data/postmaster.pid");
  std::string line;
  std::string last;
  while (std::getline(file, line)) last = line;
  return last.rfind("ready", 0) == 0;
}

pid_t run_server(WatcherTask& task) {
  const auto deadline = Clock::now() + start_deadline;
  const pid_t pid = start_logged(task, task.server);
  if (pid < 0) fail(task, WatcherStatus::Step::server, program_not_started);
  while (!accepts_connections(task)) {
    if (const auto code = wait_for_end(pid, Clock::now())) fail(task, WatcherStatus::Step::server, *code);
    const bool ended = lifeline_ended(2ms);
    if (!ended && Clock::now() < deadline) continue;
    stop(pid, SIGQUIT);
    if (ended) finish(task);
    fail(task, WatcherStatus::Step::server, -1);
  }
  return pid;
}

}  // namespace

void watch(WatcherTask& task, const Fd& lifeline, const Fd& status) {
  try {
    detach(lifeline, status);
    make_cluster(task);
    const pid_t server = run_server(task);
    tell(WatcherStatus::Step::ready, 0);
    while (!lifeline_ended(1h)) {
    }
    stop(server, SIGQUIT);
    finish(task);
  } catch (...) {
    finish(task);
  }
}

}  // namespace lockstep::ephemeral
