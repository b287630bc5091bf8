#pragma once

#include <pwd.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/fd.h"
#include "support/wait.h"

namespace lockstep::test {

/// Who runs the command when the tests run as root. Servers refuse to be root.
enum class RunAs { same_user, unprivileged };

/// What the command finds on its standard input.
enum class Stdin {
  text,  ///< `Command::input`, then the end
  pipe,  ///< a pipe that Running::write fills and Running::close_input ends
};

/// What becomes of the command when this whole process is killed.
enum class OnParentDeath { die, survive };

/// A command to run. The environment is clean: PATH and what sanitizers and coverage need, then `env`; so
/// there is no HOME, no PG* and no LOCKSTEP_* unless the test gives one.
struct Command {
  std::vector<std::string> argv;  ///< argv[0] is looked up in PATH
  std::map<std::string, std::string> env = {};
  std::filesystem::path cwd = {};  ///< empty: that of the tests
  std::string input = {};
  Stdin standard_input = Stdin::text;
  RunAs run_as = RunAs::same_user;
  OnParentDeath on_parent_death = OnParentDeath::die;
};

/// How a command ended.
struct Outcome {
  int exit_code = -1;  ///< -1: ended by `signal`
  int signal = 0;
  std::string out;
  std::string err;
};

/// A command that has been started in a process group of its own. Its output can be read at any time. When
/// this object goes, or this whole process is killed, the command is killed.
class Running {
 public:
  explicit Running(const Command& command);
  Running(Running&& other) noexcept;
  Running& operator=(Running&&) = delete;
  ~Running();

  pid_t pid() const { return pid_; }
  bool finished();
  /// Everything written so far.
  std::string out() const;
  std::string err() const;

  void write(std::string_view text);
  void close_input() { input_.reset(); }
  /// To the process alone, not to its group.
  void signal(int number) const;
  /// Waits for the end. After `deadline` the command is killed and std::runtime_error tells what it had
  /// written.
  Outcome wait(std::chrono::milliseconds deadline = 60s);
  /// Waits until `text` is somewhere in what it wrote to either stream. Fails at once if it ends without.
  void wait_for_output(std::string_view text, std::chrono::milliseconds deadline = 30s);

 private:
  std::string name_;
  pid_t pid_ = -1;
  Fd input_, out_, err_;
  std::optional<int> status_;
};

/// Runs a command to its end.
Outcome run(const Command& command, std::chrono::milliseconds deadline = 60s);

/// The same for a tool that must succeed: its standard output, else std::runtime_error with its error output.
std::string output_of(const Command& command, std::chrono::milliseconds deadline = 60s);

/// The user that servers run as when the tests run as root: postgres if it exists, else nobody.
const passwd* unprivileged_user();

/// The lockstep binary under test: $LOCKSTEP_BINARY, else the one that this build made.
std::string lockstep_binary();

/// `lockstep ARGS...` as a command.
Command lockstep(std::vector<std::string> args);

/// A variable of the tests' own environment; empty when it is not set.
std::string environment(const char* name);

}  // namespace lockstep::test
