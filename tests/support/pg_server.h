#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/daemon.h"

namespace lockstep::test {

enum class Tls { off, on };

struct ServerOptions {
  std::vector<std::string> settings = {};  ///< lines of postgresql.conf, stronger than the defaults
  std::string hba = {};                    ///< all of pg_hba.conf; empty: trust everybody
  Tls tls = Tls::off;                      ///< with a self-made certificate for localhost and 127.0.0.1
  std::filesystem::path bin = {};          ///< its programs; empty: as everywhere
  std::string language = {};               ///< of its messages, where its translation is installed: "de"
};

/// A throwaway PostgreSQL on a unix socket and on loopback TCP, with the newest server programs of this
/// machine
/// ($LOCKSTEP_TEST_PG_BIN names others). Its superuser is postgres. Without server programs, construction
/// fails.
class PgServer {
 public:
  /// The one server that the tests of a binary share. Each test makes its own TestDatabase in it.
  static PgServer& shared();

  explicit PgServer(const ServerOptions& options = {});

  int port() const { return port_; }
  int major() const { return version(bin_); }
  const std::filesystem::path& socket_dir() const { return daemon_.dir(); }
  /// The path of a program of this server's version, such as "psql" or "pg_dump".
  static std::string program(const std::string& name);
  /// The major version of these programs: 12 to 18.
  static int version() { return version(std::filesystem::path(program("postgres")).parent_path()); }
  static int version(const std::filesystem::path& bin);
  /// Whether they look, while a statement runs, if the client is still there.
  static bool notices_dead_clients() { return version() >= 14; }
  /// The certificate that a client gives as sslrootcert.
  std::filesystem::path certificate() const { return daemon_.dir() / "server.crt"; }

  /// A URL over loopback TCP, one over the unix socket, and the latter as key=value. `user` may be
  /// "name:password".
  std::string url(std::string_view database, std::string_view user = "postgres") const;
  std::string socket_url(std::string_view database, std::string_view user = "postgres") const;
  std::string conninfo(std::string_view database, std::string_view user = "postgres") const;

  /// What `psql -XAtq` prints for `sql`, without the last line end. std::runtime_error when a statement
  /// fails.
  std::string psql(std::string_view database, std::string_view sql) const;

  /// The end of the log now, to be given to `log_since` or `errors_since`.
  std::uintmax_t log_mark() const;
  std::string log_since(std::uintmax_t mark) const;
  /// The lines of level ERROR, FATAL and PANIC; with `database`, only those of its sessions.
  std::vector<std::string> errors_since(std::uintmax_t mark, std::string_view database = {}) const;

  void stop() { daemon_.stop(); }
  void start();
  /// Starts a stopped server as a standby without a primary: it can be read, not written.
  void start_as_standby();
  /// Starts a stopped server that turns clients away, as in a long recovery, until `finish_start`.
  void start_slowly();
  void finish_start();
  /// Replaces pg_hba.conf and makes the server read it.
  void set_hba(std::string_view hba);

 private:
  void make_certificate() const;
  void write_settings(const ServerOptions& options) const;
  bool ready() const;
  void start_until(const std::function<bool()>& condition);
  std::filesystem::path data() const { return daemon_.dir() / "data"; }

  Daemon daemon_;
  std::filesystem::path bin_;
  int port_;
  std::string language_;
};

}  // namespace lockstep::test
