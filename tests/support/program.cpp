#include "support/program.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "test_paths.h"

namespace lockstep::test {
namespace {

constexpr const char* default_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables that tools of the build need in every process of it.
constexpr std::array kept_variables = {
    "TMPDIR",      "ASAN_OPTIONS",      "UBSAN_OPTIONS",     "LSAN_OPTIONS",   "TSAN_OPTIONS",
    "GCOV_PREFIX", "GCOV_PREFIX_STRIP", "LLVM_PROFILE_FILE", "LD_LIBRARY_PATH"};

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + std::strerror(errno));
}

std::map<std::string, std::string> clean_environment() {
  const auto path = environment("PATH");
  std::map<std::string, std::string> result{{"PATH", path.empty() ? default_path : path}};
  for (const char* name : kept_variables) {
    if (const auto value = environment(name); !value.empty()) result[name] = value;
  }
  return result;
}

struct User {
  uid_t uid;
  gid_t gid;
};

/// Nothing to change when we are not root.
std::optional<User> user_for(RunAs run_as) {
  if (run_as == RunAs::same_user || ::geteuid() != 0) return std::nullopt;
  const passwd* user = unprivileged_user();
  return User{user->pw_uid, user->pw_gid};
}

Fd memory_file(const char* name) {
  Fd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file.open()) fail("memfd_create");
  return file;
}

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(fd, text.data(), text.size());
    if (done < 0 && errno != EINTR) fail("write");
    if (done > 0) text.remove_prefix(static_cast<std::size_t>(done));
  }
}

std::string content(int fd) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) fail("fstat");
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  const ssize_t got = ::pread(fd, text.data(), text.size(), 0);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

struct Input {
  Fd child;
  Fd parent;  ///< only with Stdin::pipe
};

Input make_input(const Command& command) {
  if (command.standard_input == Stdin::pipe) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
    return {Fd(ends[0]), Fd(ends[1])};
  }
  Fd file = memory_file("stdin");
  write_all(file.get(), command.input);
  if (::lseek(file.get(), 0, SEEK_SET) != 0) fail("lseek");
  return {std::move(file), Fd()};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_block(const Command& command) {
  auto variables = clean_environment();
  for (const auto& [name, value] : command.env) variables[name] = value;
  std::vector<std::string> block;
  for (const auto& [name, value] : variables) block.push_back(name + "=" + value);
  return block;
}

std::string find_program(const std::string& name, const Command& command) {
  if (name.find('/') != std::string::npos) return name;
  const auto given = command.env.find("PATH");
  std::string rest = given != command.env.end() ? given->second : clean_environment()["PATH"];
  rest += std::string(":") + default_path;
  for (std::size_t begin = 0; begin < rest.size();) {
    const std::size_t end = std::min(rest.find(':', begin), rest.size());
    const std::string candidate = rest.substr(begin, end - begin) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  throw std::runtime_error("command not found: " + name);
}

/// Everything the child needs, made before the fork: after it only async-signal-safe calls are allowed.
struct Prepared {
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> env;
  std::string cwd;
  std::optional<User> user;
  OnParentDeath on_parent_death;
  pid_t parent;
  int input, out, err;
};

[[noreturn]] void become(const Prepared& prepared) {
  ::setpgid(0, 0);
  ::dup2(prepared.input, 0);
  ::dup2(prepared.out, 1);
  ::dup2(prepared.err, 2);
  const auto& user = prepared.user;
  if (user && (::setgroups(0, nullptr) != 0 || ::setgid(user->gid) != 0 || ::setuid(user->uid) != 0))
    ::_exit(126);
  if (prepared.on_parent_death == OnParentDeath::die) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != prepared.parent) ::_exit(126);
  }
  if (!prepared.cwd.empty() && ::chdir(prepared.cwd.c_str()) != 0) ::_exit(126);
  ::signal(SIGPIPE, SIG_DFL);
  ::execve(prepared.program.c_str(), prepared.argv.data(), prepared.env.data());
  ::_exit(127);
}

Outcome outcome(int status, std::string out, std::string err) {
  const bool exited = WIFEXITED(status);
  return {.exit_code = exited ? WEXITSTATUS(status) : -1,
          .signal = exited ? 0 : WTERMSIG(status),
          .out = std::move(out),
          .err = std::move(err)};
}

}  // namespace

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

const passwd* unprivileged_user() {
  for (const char* name : {"postgres", "nobody"}) {
    if (const passwd* entry = ::getpwnam(name)) return entry;
  }
  throw std::runtime_error("no user to run a server as: neither postgres nor nobody exists");
}

Running::Running(const Command& command)
    : name_(command.argv.at(0)), out_(memory_file("stdout")), err_(memory_file("stderr")) {
  auto arguments = command.argv;
  auto variables = environment_block(command);
  auto input = make_input(command);
  const Prepared prepared{.program = find_program(name_, command),
                          .argv = pointers(arguments),
                          .env = pointers(variables),
                          .cwd = command.cwd.string(),
                          .user = user_for(command.run_as),
                          .on_parent_death = command.on_parent_death,
                          .parent = ::getpid(),
                          .input = input.child.get(),
                          .out = out_.get(),
                          .err = err_.get()};
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) become(prepared);
  input_ = std::move(input.parent);
}

Running::Running(Running&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, -1)),
      input_(std::move(other.input_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      status_(other.status_) {}

Running::~Running() {
  if (pid_ < 0 || finished()) return;
  ::kill(-pid_, SIGKILL);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Running::finished() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_.has_value();
}

std::string Running::out() const {
  return content(out_.get());
}
std::string Running::err() const {
  return content(err_.get());
}

void Running::write(std::string_view text) {
  write_all(input_.get(), text);
}

void Running::signal(int number) const {
  if (!status_) ::kill(pid_, number);
}

Outcome Running::wait(std::chrono::milliseconds deadline) {
  if (holds_within(deadline, [this] { return finished(); })) return outcome(*status_, out(), err());
  ::kill(-pid_, SIGKILL);
  throw std::runtime_error(name_ + " still ran after " + std::to_string(deadline.count()) +
                           " ms; its output: " + out() + "\nits error output: " + err());
}

void Running::wait_for_output(std::string_view text, std::chrono::milliseconds deadline) {
  const auto written = [&] {
    return out().find(text) != std::string::npos || err().find(text) != std::string::npos;
  };
  const bool settled = holds_within(deadline, [&] { return written() || (finished() && !written()); });
  if (settled && written()) return;
  throw std::runtime_error(name_ + " did not write \"" + std::string(text) + "\"; its output: " + out() +
                           "\nits error output: " + err());
}

Outcome run(const Command& command, std::chrono::milliseconds deadline) {
  return Running(command).wait(deadline);
}

std::string output_of(const Command& command, std::chrono::milliseconds deadline) {
  auto outcome = run(command, deadline);
  if (outcome.exit_code == 0) return outcome.out;
  throw std::runtime_error(command.argv.front() + " failed (" + std::to_string(outcome.exit_code) +
                           "): " + outcome.err);
}

std::string lockstep_binary() {
  const auto given = environment("LOCKSTEP_BINARY");
  return given.empty() ? LOCKSTEP_PROGRAM : given;
}

Command lockstep(std::vector<std::string> args) {
  args.insert(args.begin(), lockstep_binary());
  return {.argv = std::move(args)};
}

}  // namespace lockstep::test
