#include "support/daemon.h"

#include <arpa/inet.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

#include "support/temp_dir.h"

namespace lockstep::test {
namespace {

/// $1: stop signal; the rest: the server's command. Standard input is a pipe whose end means "stop". When the
/// server ends before that, the file "ended" tells.
constexpr const char* watcher_script = R"(
exec 3<&0 </dev/null
signal=$1; shift
"$@" >>log 2>&1 3<&- & server=$!
(cat <&3 >/dev/null; [ -e ended ] || kill -s "$signal" "$server") &
wait "$server"; echo "$?" >ended
cat <&3 >/dev/null
)";

/// Removes the directory at the end of the pipe. After a kill of the tests the server may still write a
/// little.
constexpr const char* cleaner_script = R"(
cat >/dev/null
for attempt in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$PWD" 2>/dev/null && exit; sleep 0.2; done
)";

Command watcher(std::vector<std::string> argv, const std::filesystem::path& dir) {
  argv.insert(argv.begin(), {"sh", "-c"});
  return {.argv = std::move(argv),
          .cwd = dir,
          .standard_input = Stdin::pipe,
          .run_as = RunAs::unprivileged,
          .on_parent_death = OnParentDeath::survive};
}

std::string text_of(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? read_file(path) : std::string("(no log)");
}

}  // namespace

Daemon::Daemon(const std::string& name) : dir_(make_temp_dir("lockstep-" + name + "-")) {
  own(dir_);
  cleaner_ = std::make_unique<Running>(watcher({cleaner_script}, dir_));
}

Daemon::~Daemon() {
  stop();
  cleaner_->close_input();
  holds_within(20s, [this] { return cleaner_->finished(); });
}

void Daemon::own(const std::filesystem::path& path) const {
  if (::geteuid() != 0) return;
  const passwd* user = unprivileged_user();
  if (::lchown(path.c_str(), user->pw_uid, user->pw_gid) != 0) {
    throw std::runtime_error("cannot give away " + path.string());
  }
}

void Daemon::start(const std::vector<std::string>& argv, const std::string& stop_signal,
                   const std::function<bool()>& ready) {
  std::filesystem::remove(dir_ / "ended");
  if (!std::filesystem::exists(log())) write_file(log(), "");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_)) own(entry.path());
  std::vector<std::string> command{watcher_script, "watcher", stop_signal};
  command.insert(command.end(), argv.begin(), argv.end());
  watcher_ = std::make_unique<Running>(watcher(std::move(command), dir_));
  const auto ended = [this] { return watcher_->finished() || std::filesystem::exists(dir_ / "ended"); };
  wait_until(argv.front() + " to be ready", [&] { return ended() || ready(); });
  if (ended()) throw std::runtime_error(argv.front() + " did not start: " + text_of(log()));
}

void Daemon::stop() {
  if (!watcher_) return;
  watcher_->close_input();
  holds_within(20s, [this] { return watcher_->finished(); });
  watcher_.reset();
}

std::string Daemon::run_inside(std::vector<std::string> argv) const {
  return output_of({.argv = std::move(argv), .cwd = dir_, .run_as = RunAs::unprivileged});
}

int free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), generic, size) != 0 || ::getsockname(socket.get(), generic, &size) != 0) {
    throw std::runtime_error("no free port");
  }
  return ntohs(address.sin_port);
}

}  // namespace lockstep::test
