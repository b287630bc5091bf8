#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/pg_server.h"

namespace lockstep::test {

/// A fresh, empty database with a random name. It is dropped when this object goes, whoever is still
/// connected.
class TestDatabase {
 public:
  /// `options` follows "create database NAME ", for example "encoding sql_ascii template template0".
  explicit TestDatabase(PgServer& server = PgServer::shared(), std::string_view options = {});
  TestDatabase(const TestDatabase&) = delete;
  TestDatabase& operator=(const TestDatabase&) = delete;
  ~TestDatabase();

  PgServer& server() const { return server_; }
  const std::string& name() const { return name_; }
  /// `user` may be "name:password".
  std::string url(std::string_view user = "postgres") const { return server_.url(name_, user); }
  std::string socket_url(std::string_view user = "postgres") const { return server_.socket_url(name_, user); }

  /// What `psql -XAtq` prints. The source of expected values.
  std::string psql(std::string_view sql) const { return server_.psql(name_, sql); }
  /// The rows of one query, all values as text; null is the empty text.
  std::vector<std::vector<std::string>> query(std::string_view sql) const;
  /// What the server logged with level ERROR or worse in sessions of this database.
  std::vector<std::string> errors() const { return server_.errors_since(mark_, name_); }

 private:
  PgServer& server_;
  std::string name_;
  std::uintmax_t mark_;
};

/// A psql that stays connected: for what another session holds or does meanwhile.
class PsqlSession {
 public:
  explicit PsqlSession(const TestDatabase& database, std::string_view user = "postgres");
  /// Through any other way, for example a pooler.
  explicit PsqlSession(const std::string& connection);

  /// Runs statements and returns what psql printed for them; error texts are part of it.
  std::string run(std::string_view sql, std::chrono::milliseconds deadline = 30s);
  /// Starts statements and does not wait for them.
  void send(std::string_view sql);
  /// The server process of this session.
  int backend_pid() { return std::stoi(run("select pg_catalog.pg_backend_pid();")); }
  /// Ends psql without a word to the server, as kill -9 does.
  void kill() { psql_.signal(9); }

 private:
  Running psql_;
  std::size_t seen_ = 0;
  int marks_ = 0;
};

}  // namespace lockstep::test
