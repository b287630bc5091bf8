#include "ephemeral/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "core/error.h"

namespace lockstep::ephemeral {
namespace {

/// Pointers into `texts`, as execve takes them.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void give_up(int output, const char* what, int error, int code) {
  for (const std::string_view part : {std::string_view(what), std::string_view(": "),
                                      std::string_view(::strerrordesc_np(error)), std::string_view("\n")}) {
    if (::write(output, part.data(), part.size()) < 0) break;
  }
  ::_exit(code);
}

void reset_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ, SIGCHLD, SIGUSR1, SIGUSR2}) {
    std::signal(signal, SIG_DFL);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool become(const Identity& identity) {
  return ::setgroups(1, &identity.group) == 0 && ::setgid(identity.group) == 0 &&
         ::setuid(identity.user) == 0;
}

/// What happens between fork and exec. The parent's death is asked for after the change of user, which clears
/// the request.
[[noreturn]] void turn_into(const Program& program, char* const* argv, char* const* environment) {
  ::setpgid(0, 0);
  reset_signals();
  if (program.identity && !become(*program.identity)) {
    give_up(program.output, "cannot change the user", errno, program_not_started);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGQUIT);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(program.output, STDOUT_FILENO);
  ::dup2(program.output, STDERR_FILENO);
  if (::chdir(program.directory.c_str()) != 0) {
    give_up(STDERR_FILENO, program.directory.c_str(), errno, directory_unreachable);
  }
  close_from(STDERR_FILENO + 1);
  ::execve(argv[0], argv, environment);
  give_up(STDERR_FILENO, argv[0], errno, program_not_started);
}

}  // namespace

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw Failure(Error{.kind = ErrorKind::internal,
                        .code = "no_file_descriptors",
                        .message = std::string("cannot make a pipe: ") + std::strerror(errno)});
  }
  return {Fd(ends[0]), Fd(ends[1])};
}

pid_t start(const Program& program) {
  const auto argv = pointers(program.argv);
  const auto environment = pointers(program.environment);
  const pid_t pid = ::fork();
  if (pid == 0) turn_into(program, argv.data(), environment.data());
  if (pid > 0) ::setpgid(pid, pid);
  return pid;
}

std::optional<int> wait_for_end(pid_t pid, std::chrono::steady_clock::time_point deadline) {
  while (true) {
    int status = 0;
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (ended < 0 && errno != EINTR) return 0;
    if (std::chrono::steady_clock::now() >= deadline) return std::nullopt;
    ::poll(nullptr, 0, 2);
  }
}

void close_from(int first) {
  if (::close_range(static_cast<unsigned>(first), ~0U, 0) == 0) return;
  const long open_max = std::min(::sysconf(_SC_OPEN_MAX), 65536L);
  for (int fd = first; fd < open_max; ++fd) ::close(fd);
}

}  // namespace lockstep::ephemeral
