#include "support/pgbouncer.h"

#include <sstream>
#include <stdexcept>

#include "support/temp_dir.h"

namespace lockstep::test {
namespace {

std::string settings(const PgServer& server, const PgBouncerOptions& options, int port) {
  std::ostringstream text;
  text << "[databases]\n";
  for (const auto& line : options.databases) text << line << '\n';
  text << "* = host=127.0.0.1 port=" << server.port()
       << "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = " << port
       << "\nunix_socket_dir =\nauth_type = trust\nauth_file = users\nadmin_users = postgres\n"
       << "pool_mode = " << to_string(options.mode) << "\ndefault_pool_size = " << options.pool_size
       << "\nmax_client_conn = 500\nserver_login_retry = 1\nignore_startup_parameters = extra_float_digits\n";
  for (const auto& line : options.settings) text << line << '\n';
  return text.str();
}

}  // namespace

std::string to_string(PoolMode mode) {
  switch (mode) {
    case PoolMode::session:
      return "session";
    case PoolMode::transaction:
      return "transaction";
    case PoolMode::statement:
      return "statement";
  }
  throw std::logic_error("unknown pool mode");
}

PgBouncer::PgBouncer(const PgServer& server, const PgBouncerOptions& options)
    : daemon_("pgbouncer"), port_(free_port()) {
  write_file(daemon_.dir() / "pgbouncer.ini", settings(server, options, port_));
  // With auth_type trust PgBouncer still wants every user to be listed.
  const auto roles = server.psql("postgres", "select '\"' || rolname || '\" \"\"' from pg_catalog.pg_roles");
  write_file(daemon_.dir() / "users", roles + "\n");
  daemon_.start({"pgbouncer", "pgbouncer.ini"}, "KILL",
                [this] { return read_file(daemon_.log()).find("process up") != std::string::npos; });
}

std::string PgBouncer::url(std::string_view database, std::string_view user) const {
  std::ostringstream text;
  text << "postgresql://" << user << "@127.0.0.1:" << port_ << '/' << database;
  return text.str();
}

std::string PgBouncer::admin(std::string_view command) const {
  return output_of(
      {.argv = {PgServer::program("psql"), "-XAt", "-d", url("pgbouncer"), "-c", std::string(command)}});
}

}  // namespace lockstep::test
