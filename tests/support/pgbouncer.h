#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/daemon.h"
#include "support/pg_server.h"

namespace lockstep::test {

enum class PoolMode { session, transaction, statement };

std::string to_string(PoolMode mode);

struct PgBouncerOptions {
  PoolMode mode = PoolMode::session;
  int pool_size = 20;
  std::vector<std::string> settings = {};  ///< more lines of the section [pgbouncer]
  std::vector<std::string> databases =
      {};  ///< lines of [databases] beside the one that passes every name through
};

/// A real PgBouncer on a loopback port in front of a server; every user is trusted.
class PgBouncer {
 public:
  explicit PgBouncer(const PgServer& server, const PgBouncerOptions& options = {});

  int port() const { return port_; }
  std::string url(std::string_view database, std::string_view user = "postgres") const;
  /// A command of the admin console, as psql prints its result.
  std::string admin(std::string_view command) const;

 private:
  Daemon daemon_;
  int port_;
};

}  // namespace lockstep::test
