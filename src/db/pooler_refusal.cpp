#include <fmt/format.h>

#include <string>

#include "db/pooler_probe.h"

namespace lockstep::db {
namespace {

std::string endpoint(PGconn* connection) {
  return fmt::format("{}:{}", PQhost(connection), PQport(connection));
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What is known of hosts and ports. It explains; it never decides.
std::string known_place(std::string_view host, std::string_view port) {
  if (contains(host, "pooler.supabase.com") || contains(host, "supabase.co")) {
    if (port == "6543")
      return "Port 6543 is Supabase's transaction pooler: use port 5432, or the host db.<ref>.supabase.co.";
  }
  if (contains(host, "-pooler.") && contains(host, "neon.tech"))
    return "This is Neon's pooler: use the host without \"-pooler\".";
  if (contains(host, ".proxy-") && contains(host, "rds.amazonaws.com"))
    return "This is an RDS Proxy: use the endpoint of the instance.";
  if (contains(host, "azure.com") && port == "6432")
    return "Port 6432 is the built-in PgBouncer: use port 5432.";
  if (contains(host, "ondigitalocean.com") && port == "25061")
    return "Port 25061 is the connection pool: use port 25060.";
  if (port == "6432")
    return "Port 6432 is the usual port of PgBouncer, PgCat and Odyssey; PostgreSQL itself usually listens "
           "on 5432.";
  if (port == "9999")
    return "Port 9999 is the usual port of Pgpool-II; PostgreSQL itself usually listens on 5432.";
  return {};
}

std::string message(PoolerPolicy policy, PoolMode mode) {
  if (policy == PoolerPolicy::refuse)
    return "refusing to migrate without proof of a direct connection, as --pooler=refuse asks";
  if (mode == PoolMode::transaction)
    return "refusing to migrate through a connection pooler in transaction or statement mode";
  return "refusing to migrate through a connection pooler whose mode cannot be proved";
}

/// Who listens at a unix socket, which decides where there are no ports.
std::string listener(const OwnEnd& own) {
  if (own.port) return {};
  if (own.listener) return fmt::format(", where process {} listens", *own.listener);
  return ", where a process listens that is not seen from here (another pid namespace)";
}

std::string described(PGconn* connection, const Verdict& verdict, const Identity& backend) {
  const auto own = own_end(connection);
  std::string text = fmt::format("connected to {}{}\nthe server says backend {}", endpoint(connection),
                                 listener(own), backend.pid);
  if (backend.client_port) text += fmt::format(" (client port {})", *backend.client_port);
  text += fmt::format(", the handshake said {}", own.handshake_pid);
  if (own.port) text += fmt::format(" (our port {})", *own.port);
  if (!verdict.evidence.empty()) text += "\n" + verdict.evidence;
  return text;
}

}  // namespace

Failure pooler_refusal(PGconn* connection, PoolerPolicy policy, const Verdict& verdict,
                       const Identity& backend) {
  Error error{.kind = ErrorKind::unsafe};
  error.code = verdict.mode == PoolMode::transaction ? "pooler_transaction_mode" : "pooler_undecidable";
  if (policy == PoolerPolicy::refuse) error.code = "pooler_refused";
  error.message = message(policy, verdict.mode);
  error.detail =
      described(connection, verdict, backend) +
      "\nthe migration lock belongs to one session; on a backend that clients share, it protects nothing";
  // A pool in session mode is refused by --pooler=refuse, too.
  error.hints = {fmt::format("Connect directly to PostgreSQL{}; LOCKSTEP_URL can hold an address of its own.",
                             policy == PoolerPolicy::refuse ? "" : ", or to a pool in session mode")};
  if (const auto known = known_place(PQhost(connection), PQport(connection)); !known.empty())
    error.hints.push_back(known);
  if (policy == PoolerPolicy::refuse) {
    error.hints.emplace_back(
        "With --pooler=auto lockstep also accepts what it can prove to keep its sessions.");
  }
  if (policy == PoolerPolicy::detect) {
    error.hints.push_back("If you are sure that this is session mode, say so with --pooler=assume-session.");
  }
  return Failure(std::move(error));
}

}  // namespace lockstep::db
