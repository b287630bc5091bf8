#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/system.h"
#include "core/error.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

volatile sig_atomic_t running_program = 0;

void pass_on(int number) {
  if (running_program > 0) ::kill(running_program, number);
}

/// While it lives, SIGTERM goes to the program, and the keys of the terminal, which the program gets by
/// itself, do not end us before it.
class PassSignals {
 public:
  PassSignals() {
    set(SIGTERM, pass_on, old_term_);
    set(SIGINT, SIG_IGN, old_int_);
    set(SIGQUIT, SIG_IGN, old_quit_);
  }
  ~PassSignals() {
    ::sigaction(SIGTERM, &old_term_, nullptr);
    ::sigaction(SIGINT, &old_int_, nullptr);
    ::sigaction(SIGQUIT, &old_quit_, nullptr);
  }
  PassSignals(const PassSignals&) = delete;
  PassSignals& operator=(const PassSignals&) = delete;

 private:
  static void set(int number, void (*handler)(int), struct sigaction& old) {
    struct sigaction action{};
    action.sa_handler = handler;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(number, &action, &old);
  }

  struct sigaction old_term_{}, old_int_{}, old_quit_{};
};

/// Holds SIGTERM back until there is somebody to pass it on to.
class HoldTerm {
 public:
  HoldTerm() {
    sigset_t term;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &term, &before_);
  }
  ~HoldTerm() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  HoldTerm(const HoldTerm&) = delete;
  HoldTerm& operator=(const HoldTerm&) = delete;
  const sigset_t& before() const { return before_; }

 private:
  sigset_t before_{};
};

/// The program starts with the signals as a shell would give them: ignored ones stay ignored otherwise.
class SpawnAttributes {
 public:
  explicit SpawnAttributes(const sigset_t& mask) {
    sigset_t defaults;
    ::sigemptyset(&defaults);
    for (const int number : {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGXFSZ}) ::sigaddset(&defaults, number);
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setsigdefault(&attributes_, &defaults);
    ::posix_spawnattr_setsigmask(&attributes_, &mask);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<std::string> environment_with(const Environment& variables) {
  auto environment = environment_of(environ);
  for (const auto& [name, value] : variables) {
    if (value.empty()) {
      environment.erase(name);
    } else {
      environment.insert_or_assign(name, value);
    }
  }
  std::vector<std::string> entries;
  for (const auto& [name, value] : environment) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Failure cannot_start(const std::string& program, int number) {
  Error error{.kind = ErrorKind::usage, .code = "program_not_started"};
  error.message = fmt::format("cannot run {}: {}", printable(program), std::strerror(number));
  error.hints = {"Give the name of a program in PATH, or its path."};
  return Failure(std::move(error));
}

pid_t start(const std::vector<std::string>& argv, const Environment& variables) {
  auto words = argv;
  auto environment = environment_with(variables);
  const HoldTerm hold;
  const SpawnAttributes attributes(hold.before());
  pid_t program = 0;
  const int problem = ::posix_spawnp(&program, words.front().c_str(), nullptr, attributes.get(),
                                     pointers_to(words).data(), pointers_to(environment).data());
  if (problem != 0) throw cannot_start(words.front(), problem);
  running_program = program;
  return program;
}

}  // namespace

int run_program(const std::vector<std::string>& argv, const Environment& variables) {
  const PassSignals signals;
  const pid_t program = start(argv, variables);
  int status = 0;
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  running_program = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace lockstep::cli
