#include "ephemeral/server.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "core/error.h"
#include "core/text.h"
#include "ephemeral/server_programs.h"
#include "ephemeral/watcher.h"

namespace lockstep::ephemeral {
namespace {

constexpr std::string_view user = "postgres";
constexpr std::string_view database = "postgres";
constexpr int port = 5432;

Error start_error(std::string message, std::vector<std::string> hints) {
  return {.kind = ErrorKind::config,
          .code = "ephemeral_server_failed",
          .message = std::move(message),
          .hints = std::move(hints)};
}

/// PostgreSQL refuses to be root.
std::optional<Identity> server_identity() {
  if (::geteuid() != 0) return std::nullopt;
  for (const char* name : {"postgres", "nobody"}) {
    const auto* const entry = ::getpwnam(name);
    if (entry != nullptr && entry->pw_uid != 0) return Identity{entry->pw_uid, entry->pw_gid, name};
  }
  throw Failure(
      start_error("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as",
                  {"Run lockstep as another user, or create the user postgres."}));
}

/// The socket's name must fit into what the system's calls take, and commas and quotes mean something to the
/// server and to clients.
bool can_hold_socket(const std::string& directory) {
  const auto socket = fmt::format("{}/.s.PGSQL.{}", directory, port);
  return directory[0] == '/' && socket.size() < sizeof(sockaddr_un{}.sun_path) &&
         directory.find_first_of(",\"'\\") == std::string::npos;
}

/// A new directory that only `owner` can look into.
std::string make_directory(const std::string& temp_dir, const std::optional<Identity>& owner) {
  std::string path = (temp_dir.empty() ? "/tmp" : temp_dir) + "/lockstep-XXXXXX";
  if (!can_hold_socket(path)) path = "/tmp/lockstep-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    throw Failure(start_error(fmt::format("cannot make a directory {}: {}", path, std::strerror(errno)),
                              {"Set TMPDIR to a directory in which files can be made."}));
  }
  if (owner && ::chown(path.c_str(), owner->user, owner->group) != 0) {
    const int error = errno;
    ::rmdir(path.c_str());
    throw Failure(
        start_error(fmt::format("cannot give {} to user {}: {}", path, owner->name, std::strerror(error)),
                    {"Run lockstep as another user than root."}));
  }
  return path;
}

/// The variables that programs need to be found, and nothing of the caller's database settings.
std::vector<std::string> clean_environment(const std::string& path) {
  std::vector<std::string> variables = {"PATH=" + path, "TZ=UTC"};
  if (const char* const libraries = std::getenv("LD_LIBRARY_PATH")) {
    variables.push_back(fmt::format("LD_LIBRARY_PATH={}", libraries));
  }
  return variables;
}

/// Sorts by bytes, and still knows letters beyond ASCII where the system can.
std::string locale_name() {
  for (const char* name : {"C.UTF-8", "C.utf8"}) {
    const auto locale = ::newlocale(LC_ALL_MASK, name, nullptr);
    if (locale == nullptr) continue;
    ::freelocale(locale);
    return name;
  }
  return "C";
}

std::vector<std::string> initdb_command(const std::string& programs) {
  return {
      programs + "/initdb",       "-D", "data", "-U", std::string(user), "-A", "trust", "-E", "UTF8", "-N",
      "--locale=" + locale_name()};
}

/// Fast at the price of durability, and reachable over the socket only.
std::vector<std::string> server_command(const std::string& programs, const std::string& directory,
                                        const std::vector<std::string>& more) {
  std::vector<std::string> settings = {"listen_addresses=",
                                       "unix_socket_directories=" + directory,
                                       fmt::format("port={}", port),
                                       "fsync=off",
                                       "synchronous_commit=off",
                                       "full_page_writes=off",
                                       "autovacuum=off",
                                       "jit=off",
                                       "shared_buffers=64MB",
                                       "max_wal_size=1GB",
                                       "max_connections=100",
                                       "logging_collector=off",
                                       "log_destination=stderr",
                                       "lc_messages=C",
                                       "timezone=UTC",
                                       "log_timezone=UTC"};
  settings.insert(settings.end(), more.begin(), more.end());
  std::vector<std::string> command = {programs + "/postgres", "-D", "data"};
  for (auto& setting : settings) {
    command.emplace_back("-c");
    command.push_back(std::move(setting));
  }
  return command;
}

WatcherTask make_task(const EphemeralOptions& options, const std::string& programs,
                      const std::string& directory, const std::optional<Identity>& identity) {
  const auto environment = clean_environment(options.path);
  const auto program = [&](std::vector<std::string> argv) {
    return Program{std::move(argv), environment, directory, -1, identity};
  };
  return {directory, program(initdb_command(programs)),
          program(server_command(programs, directory, options.settings))};
}

/// The last lines of the log, as they may be shown.
std::string log_tail(const std::string& directory) {
  constexpr std::size_t lines = 20;
  std::ifstream file(directory + "/log", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t begin = text.size();
  for (std::size_t i = 0; i < lines && begin != std::string::npos && begin > 0; ++i) {
    begin = text.rfind('\n', begin - 1);
  }
  return printable(begin == std::string::npos || begin == 0 ? text : text.substr(begin + 1));
}

Error failed_start(const WatcherStatus& status, const std::string& directory,
                   const std::optional<Identity>& identity) {
  const bool initdb = status.step == WatcherStatus::Step::initdb;
  auto error = start_error(
      initdb ? "cannot make a throwaway database with initdb" : "the throwaway PostgreSQL did not start", {});
  error.detail = log_tail(directory);
  if (status.exit_code == directory_unreachable) {
    error.hints.push_back(fmt::format("Set TMPDIR to a directory that user {} can reach, such as /tmp.",
                                      identity ? identity->name : "lockstep"));
  } else if (status.exit_code < 0) {
    error.hints.emplace_back("It did not finish in time; look at the load of this machine and its disk.");
  } else {
    error.hints.emplace_back("The detail is the end of the server's log; mend what it names and try again.");
  }
  return error;
}

/// Waits for the watcher's word; when it died without one, the server did not start.
WatcherStatus read_status(const Fd& status_pipe) {
  WatcherStatus status{};
  ssize_t size = 0;
  do {
    size = ::read(status_pipe.get(), &status, sizeof status);
  } while (size < 0 && errno == EINTR);
  if (size == sizeof status) return status;
  return {WatcherStatus::Step::server, program_not_started};
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-_.~").find(c) != std::string_view::npos;
    if (plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace

EphemeralServer EphemeralServer::start(const EphemeralOptions& options) {
  const auto programs = find_server_programs(options.programs, options.path);
  const auto identity = server_identity();
  auto lifeline = make_pipe();
  auto status = make_pipe();
  const auto directory = make_directory(options.temp_dir, identity);
  auto task = make_task(options, programs, directory, identity);

  const pid_t watcher = ::fork();
  if (watcher == 0) watch(task, lifeline.read, status.write);
  status.write.close();
  lifeline.read.close();
  EphemeralServer server(directory, std::move(lifeline.write), watcher);
  const auto told = read_status(status.read);
  if (told.step != WatcherStatus::Step::ready) throw Failure(failed_start(told, directory, identity));
  return server;
}

EphemeralServer::~EphemeralServer() {
  if (!lifeline_) return;
  lifeline_.close();
  while (watcher_ > 0 && ::waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
  // The watcher has done this already, unless somebody killed it.
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string EphemeralServer::url() const {
  return fmt::format("postgresql://{}@/{}?host={}&port={}", user, database, percent_encoded(directory_),
                     port);
}

std::vector<std::pair<std::string, std::string>> EphemeralServer::environment() const {
  return {{"LOCKSTEP_URL", url()},
          {"DATABASE_URL", url()},
          {"PGHOST", directory_},
          {"PGPORT", std::to_string(port)},
          {"PGUSER", std::string(user)},
          {"PGDATABASE", std::string(database)},
          {"PGHOSTADDR", ""},
          {"PGSERVICE", ""},
          {"PGPASSWORD", ""},
          {"PGREQUIREAUTH", ""},
          {"PGCHANNELBINDING", ""},
          {"PGTARGETSESSIONATTRS", ""}};
}

}  // namespace lockstep::ephemeral
