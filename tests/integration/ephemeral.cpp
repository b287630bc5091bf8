#include <libpq-fe.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <csignal>
#include <filesystem>

#include "core/error.h"
#include "ephemeral/server.h"
#include "support/fd.h"
#include "support/program.h"
#include "support/temp_dir.h"
#include "support/wait.h"

using namespace lockstep;
using namespace lockstep::test;
using Catch::Matchers::ContainsSubstring;
using ephemeral::EphemeralOptions;
using ephemeral::EphemeralServer;
namespace fs = std::filesystem;

namespace {

EphemeralOptions options() {
  return {.programs = environment("LOCKSTEP_TEST_PG_BIN"), .path = environment("PATH")};
}

/// The first value that `sql` returns, or the server's error.
std::string ask(const EphemeralServer& server, const char* sql) {
  PGconn* const connection = PQconnectdb(server.url().c_str());
  PGresult* const result = PQexec(connection, sql);
  const bool rows = PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0;
  std::string answer = rows ? PQgetvalue(result, 0, 0) : PQerrorMessage(connection);
  PQclear(result);
  PQfinish(connection);
  return answer;
}

/// Processes whose command line or working directory is below `directory`.
bool anyone_uses(const fs::path& directory) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", none)) {
    const auto cwd = fs::read_symlink(entry.path() / "cwd", none);
    if (!cwd.empty() && cwd.string().find(directory.string()) == 0) return true;
  }
  return false;
}

void check_gone(const fs::path& directory) {
  wait_until("the directory is gone", [&] { return !fs::exists(directory); });
  wait_until("the server is gone", [&] { return !anyone_uses(directory); });
}

std::string failure_of(const EphemeralOptions& bad) {
  try {
    const auto server = EphemeralServer::start(bad);
  } catch (const Failure& failure) {
    CHECK(failure.error().kind == ErrorKind::config);
    CHECK_FALSE(failure.error().hints.empty());
    return render(failure.error());
  }
  return "it started";
}

bool is_empty(const TempDir& directory) {
  return fs::is_empty(directory.path());
}

}  // namespace

TEST_CASE("a throwaway server answers, and leaves nothing behind") {
  fs::path directory;
  {
    const auto server = EphemeralServer::start(options());
    directory = server.directory();
    CHECK(ask(server, "select 6 * 7") == "42");
    CHECK(ask(server, "select current_user || ' ' || current_database()") == "postgres postgres");
    CHECK(ask(server, "show fsync") == "off");
    CHECK(ask(server, "show listen_addresses").empty());
    CHECK(ask(server, "show server_encoding") == "UTF8");

    struct stat facts = {};
    REQUIRE(::stat(directory.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777U) == 0700);
    CHECK(facts.st_uid != 0);
  }
  CHECK_FALSE(fs::exists(directory));
  CHECK_FALSE(anyone_uses(directory));
}

TEST_CASE("a child finds the throwaway server through its environment alone") {
  const auto server = EphemeralServer::start(options());
  Command psql{.argv = {"psql", "-XAtc", "select 'found'"}};
  for (const auto& [name, value] : server.environment()) {
    if (!value.empty()) psql.env[name] = value;
  }
  CHECK(output_of(psql) == "found\n");
}

TEST_CASE("two throwaway servers live side by side, and each goes alone") {
  const auto first = EphemeralServer::start(options());
  {
    const auto second = EphemeralServer::start(options());
    CHECK(first.directory() != second.directory());
    CHECK(ask(second, "create table t (id int)").empty());
  }
  CHECK_THAT(ask(first, "select count(*) from t"), ContainsSubstring("\"t\" does not exist"));
}

TEST_CASE("settings of the caller are stronger than the usual ones") {
  auto with_settings = options();
  with_settings.settings = {"wal_level=logical", "timezone=Europe/Vienna"};
  const auto server = EphemeralServer::start(with_settings);
  CHECK(ask(server, "show wal_level") == "logical");
  CHECK(ask(server, "show timezone") == "Europe/Vienna");
}

TEST_CASE("a throwaway server survives neither the kill of its owner nor holds its output") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  Fd read(ends[0]);
  Fd write(ends[1]);
  const pid_t owner = ::fork();
  if (owner == 0) {
    ::dup2(write.get(), STDOUT_FILENO);
    ::dup2(write.get(), STDERR_FILENO);
    const auto server = EphemeralServer::start(options());
    const auto line = server.directory() + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) ::_exit(1);
    while (true) ::pause();
  }
  write.reset();
  std::string directory;
  for (char c = 0; ::read(read.get(), &c, 1) == 1 && c != '\n';) directory += c;
  REQUIRE(fs::exists(directory));
  CHECK(anyone_uses(directory));

  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  pollfd output{read.get(), POLLIN, 0};
  CHECK(::poll(&output, 1, 10'000) == 1);
  char more = 0;
  CHECK(::read(read.get(), &more, 1) == 0);
  check_gone(directory);
}

TEST_CASE("an owner that is killed while the cluster is being made leaves nothing either") {
  const TempDir temp;
  fs::permissions(temp.path(), fs::perms::all);
  auto in_temp = options();
  in_temp.temp_dir = temp.string();
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto server = EphemeralServer::start(in_temp);
    while (true) ::pause();
  }
  wait_until("initdb works", [&] {
    return std::any_of(fs::directory_iterator(temp.path()), {}, [](const auto& entry) {
      std::error_code none;
      return fs::exists(entry.path() / "data" / "base", none);
    });
  });
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  wait_until("the directory is gone", [&] { return is_empty(temp); });
  CHECK_FALSE(anyone_uses(temp.path()));
}

TEST_CASE("a server that does not start tells why, with the end of its log, and leaves nothing") {
  const TempDir temp;
  fs::permissions(temp.path(), fs::perms::all);
  auto bad = options();
  bad.temp_dir = temp.string();
  bad.settings = {"shared_buffers=nonsense"};
  const auto text = failure_of(bad);
  CHECK_THAT(text, ContainsSubstring("the throwaway PostgreSQL did not start"));
  CHECK_THAT(text, ContainsSubstring("invalid value for parameter \"shared_buffers\""));
  CHECK(is_empty(temp));
}

TEST_CASE("a folder without a server's programs is refused by name") {
  const TempDir temp;
  CHECK_THAT(failure_of({.programs = temp.string()}),
             ContainsSubstring("no initdb and postgres in " + temp.string()));
}

TEST_CASE("a temporary directory that does not exist is refused by name") {
  auto bad = options();
  bad.temp_dir = "/nonexistent";
  CHECK_THAT(failure_of(bad), ContainsSubstring("cannot make a directory /nonexistent/lockstep-"));
}

TEST_CASE("a temporary directory that the server's user cannot reach is told apart") {
  if (::geteuid() != 0) SUCCEED("only root runs the server as another user");
  if (::geteuid() != 0) return;
  const TempDir temp;
  fs::permissions(temp.path(), fs::perms::owner_all);
  auto bad = options();
  bad.temp_dir = temp.string();
  const auto text = failure_of(bad);
  CHECK_THAT(text, ContainsSubstring("Permission denied"));
  CHECK_THAT(text, ContainsSubstring("Set TMPDIR to a directory that user "));
  CHECK(is_empty(temp));
}

TEST_CASE("a temporary directory whose name is too long or too odd for a socket is not used") {
  const TempDir temp;
  for (const auto& name : {std::string(100, 'x'), std::string("a,b")}) {
    auto elsewhere = options();
    elsewhere.temp_dir = temp.string() + "/" + name;
    fs::create_directories(elsewhere.temp_dir);
    const auto server = EphemeralServer::start(elsewhere);
    CHECK(ask(server, "select 1") == "1");
    CHECK(fs::is_empty(elsewhere.temp_dir));
  }
}
