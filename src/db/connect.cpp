#include "db/connect.h"

#include <fmt/format.h>
#include <poll.h>
#include <strings.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error.h"
#include "db/interrupt.h"
#include "db/libpq_words.h"
#include "db/server_error.h"

namespace lockstep::db {
namespace {

/// Keyword/value pairs for PQconnectdbParams. A later pair wins over an earlier one, also over what dbname
/// expands to.
class Parameters {
 public:
  void add(const char* keyword, std::string value) {
    keywords_.push_back(keyword);
    values_.push_back(std::move(value));
  }

  PGconn* connect() const { return with_lists(PQconnectdbParams); }
  PGconn* start() const { return with_lists(PQconnectStartParams); }

 private:
  template <typename Connect>
  PGconn* with_lists(Connect open) const {
    std::vector<const char*> keywords(keywords_), values;
    for (const auto& value : values_) values.push_back(value.c_str());
    keywords.push_back(nullptr);
    values.push_back(nullptr);
    return open(keywords.data(), values.data(), 1);
  }

  std::vector<const char*> keywords_;
  std::vector<std::string> values_;
};

Parameters parameters(const SessionOptions& options) {
  Parameters result;
  // Before the user's own string, so that it can say otherwise.
  result.add("connect_timeout", "10");
  result.add("keepalives_idle", "5");
  result.add("keepalives_interval", "2");
  result.add("keepalives_count", "3");
  result.add("tcp_user_timeout", "7000");
  if (!options.conninfo.empty()) result.add("dbname", options.conninfo);
  result.add("application_name", application_name(options));
  result.add("client_encoding", "UTF8");
  if (options.password) result.add("password", *options.password);
  return result;
}

enum class Trouble {
  bad_string,
  unreachable,
  full,
  crowded,
  starting_up,
  not_writable,
  no_database,
  wrong_login,
  refused_parameter,
  other
};

/// libpq does not give the SQLSTATE of a failed connection. Its own words, and those of a server that speaks
/// English, say the same; `other` is for words that are not known.
Trouble trouble(std::string_view message) {
  const auto says = [&](std::string_view words) { return message.find(words) != std::string_view::npos; };
  if (says("unsupported startup parameter")) return Trouble::refused_parameter;
  // libpq's words for a value that it does not know: invalid sslmode value: "nonsense".
  if (says("invalid ") && says(" value: \"")) return Trouble::bad_string;
  if (says("invalid port number") || says("invalid integer value")) return Trouble::bad_string;
  // Also when another host cannot be reached: this one is what is left of a failover, or its beginning.
  if (says("session is read-only") || says("server is in hot standby mode") ||
      says("Hot standby mode is disabled"))
    return Trouble::not_writable;
  if (says("starting up") || says("not yet accepting connections") || says("in recovery mode"))
    return Trouble::starting_up;
  if (says("too many clients already") || says("too many connections") ||
      says("no more connections allowed") || says("remaining connection slots are reserved")) {
    return Trouble::full;
  }
  // EAGAIN of connect() on a unix socket whose queue of clients is full.
  if (says("Resource temporarily unavailable")) return Trouble::crowded;
  if (says("database \"") && says("does not exist")) return Trouble::no_database;
  if (says("authentication failed") || says("no password supplied") || says("role \"") ||
      says("pg_hba.conf") || says("no such user")) {
    return Trouble::wrong_login;
  }
  if (says("Connection refused") || says("could not translate host name") ||
      says("No such file or directory") || says("timeout expired") || says("timed out") ||
      says("No route to host") || says("unreachable") || says("closed the connection unexpectedly") ||
      says("Connection reset") || says("shutting down")) {
    return Trouble::unreachable;
  }
  return Trouble::other;
}

Trouble trouble_of_state(std::string_view sqlstate) {
  if (sqlstate == "3D000") return Trouble::no_database;
  if (sqlstate == "57P03") return Trouble::starting_up;
  if (sqlstate == "53300") return Trouble::full;
  if (sqlstate == "57P01" || sqlstate == "57P02") return Trouble::unreachable;  // it is being shut down
  if (sqlstate.starts_with("28")) return Trouble::wrong_login;
  return Trouble::other;
}

/// The SQLSTATE that the server refuses a connection with, by asking for it alone (PostgreSQL docs,
/// PQsetErrorVerbosity): that takes another try. Empty if it does not refuse, or not in time.
std::string refusal_state(const Parameters& wanted) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const LibpqWords unheard;
  auto* connection = wanted.start();
  PQsetErrorVerbosity(connection, PQERRORS_SQLSTATE);
  auto next = PGRES_POLLING_WRITING;
  while (next == PGRES_POLLING_WRITING || next == PGRES_POLLING_READING) {
    const auto left =
        std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    const short event = next == PGRES_POLLING_WRITING ? POLLOUT : POLLIN;
    pollfd waiting{PQsocket(connection), event, 0};
    if (left <= 0 || waiting.fd < 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) break;
    next = PQconnectPoll(connection);
  }
  auto words = connection_error(connection).message;  // "…: FATAL:  3D000"
  PQfinish(connection);
  const auto at = words.rfind(":  ");
  return next == PGRES_POLLING_FAILED && at != std::string::npos && words.size() == at + 8
             ? words.substr(at + 3)
             : "";
}

bool may_pass(Trouble kind) {
  return kind == Trouble::unreachable || kind == Trouble::full || kind == Trouble::crowded ||
         kind == Trouble::starting_up || kind == Trouble::not_writable || kind == Trouble::no_database;
}

std::string_view in_words(Trouble kind) {
  switch (kind) {
    case Trouble::bad_string:
      return "the connection string is wrong";
    case Trouble::starting_up:
      return "the server is starting up";
    case Trouble::full:
      return "all connections are taken";
    case Trouble::crowded:
      return "too many clients connect at the same moment";
    case Trouble::not_writable:
      return "no server there takes writes";
    case Trouble::no_database:
      return "the database does not exist";
    case Trouble::wrong_login:
      return "the server refuses the login";
    case Trouble::refused_parameter:
      return "a connection pooler refuses a parameter";
    case Trouble::unreachable:
      return "the server cannot be reached";
    case Trouble::other:
      return "the connection failed";
  }
  return "the connection failed";
}

std::string_view code(Trouble kind) {
  switch (kind) {
    case Trouble::bad_string:
      return "bad_connection_string";
    case Trouble::starting_up:
      return "server_starting";
    case Trouble::not_writable:
      return "no_primary";
    case Trouble::full:
    case Trouble::crowded:
      return "too_many_connections";
    case Trouble::no_database:
      return "database_missing";
    case Trouble::wrong_login:
      return "login_refused";
    case Trouble::refused_parameter:
      return "pooler_refused_parameter";
    case Trouble::unreachable:
      return "server_unreachable";
    case Trouble::other:
      return "connection_failed";
  }
  return "connection_failed";
}

std::string_view hint(Trouble kind) {
  switch (kind) {
    case Trouble::bad_string:
      return "It is a URL (postgresql://user@host:5432/database?sslmode=require) or key=value pairs, as psql "
             "takes it; special "
             "characters in a URL are percent-encoded.";
    case Trouble::starting_up:
    case Trouble::crowded:
      return "Try again in a moment, or let lockstep wait with --wait-for-db 60s.";
    case Trouble::full:
      return "Try again when others have left, or let lockstep wait with --wait-for-db 60s; max_connections "
             "and the "
             "CONNECTION LIMIT of role and database say how many there can be.";
    case Trouble::not_writable:
      return "What answers is a standby, or read-only by a setting: target_session_attrs passes over it. "
             "While a new primary is made, let lockstep wait with --wait-for-db 60s.";
    case Trouble::no_database:
      return "Create the database first (createdb), or mend its name in the connection string.";
    case Trouble::wrong_login:
      return "Check user, password and pg_hba.conf; lockstep reads PGPASSFILE, PGSERVICE and "
             "database.password_file.";
    case Trouble::refused_parameter:
      return "This is PgBouncer's answer to a startup parameter such as options= or PGOPTIONS: connect "
             "directly, or leave the parameter out.";
    case Trouble::unreachable:
      return "Check host and port, and that the server runs; to wait for it use --wait-for-db 60s.";
    case Trouble::other:
      return "Try the same connection string with psql.";
  }
  return {};
}

/// SQLSTATEs that PostgreSQL documents for these situations (appendix A).
std::string_view sqlstate(Trouble kind, std::string_view words) {
  if (kind == Trouble::starting_up) return "57P03";
  if (kind == Trouble::full) return "53300";
  if (kind == Trouble::no_database) return "3D000";
  if (words.find("password authentication failed") != std::string_view::npos) return "28P01";
  return {};
}

Failure cannot_connect(Trouble kind, const std::string& words, Milliseconds waited) {
  const auto error_kind = kind == Trouble::bad_string ? ErrorKind::config : ErrorKind::connection;
  Error error{.kind = error_kind, .code = std::string(code(kind))};
  error.message = fmt::format("cannot connect: {}", in_words(kind));
  if (waited > Milliseconds(0)) error.message += fmt::format(", after trying for {}", to_string(waited));
  error.sqlstate = sqlstate(kind, words);
  error.detail = words;
  error.hints = {std::string(hint(kind))};
  return Failure(std::move(error));
}

/// libpq parses again when it connects, but does not say then whether the string or the server is at fault.
void refuse_bad_string(const std::string& conninfo) {
  if (conninfo.empty()) return;
  char* words = nullptr;
  auto* parsed = PQconninfoParse(conninfo.c_str(), &words);
  const std::string message = words == nullptr ? "" : words;
  PQconninfoFree(parsed);
  PQfreemem(words);
  if (parsed == nullptr)
    throw cannot_connect(Trouble::bad_string, message.substr(0, message.find_last_not_of('\n') + 1), {});
}

/// Nothing is open yet, so an interrupt may end the process.
PGconn* connect_first(const Parameters& wanted) {
  const Connecting connecting;
  return wanted.connect();
}

}  // namespace

std::string application_name(const SessionOptions& options) {
  return fmt::format("lockstep {} {}", options.command, options.run_id);
}

std::vector<std::pair<std::string, std::string>> settings_of_environment() {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& [variable, name] :
       {std::pair("PGDATESTYLE", "datestyle"), std::pair("PGTZ", "timezone"), std::pair("PGGEQO", "geqo")}) {
    const char* value = std::getenv(variable);
    if (value != nullptr && ::strcasecmp(value, "default") != 0) settings.emplace_back(name, value);
  }
  return settings;
}

PGconn* connect(const SessionOptions& options, const Tell& tell) {
  refuse_bad_string(options.conninfo);
  const auto wanted = parameters(options);
  const auto begin = std::chrono::steady_clock::now();
  Milliseconds pause_between{100};
  std::string told;
  std::string heard;
  while (true) {
    const LibpqWords said;
    auto* connection = connect_first(wanted);
    if (const auto line = said.line(); !line.empty() && line != heard) tell("on connecting: " + line);
    heard = said.line();
    if (PQstatus(connection) == CONNECTION_OK) return connection;
    const auto words = connection_error(connection).message;
    PQfinish(connection);
    auto kind = trouble(words);
    if (kind == Trouble::other) kind = trouble_of_state(refusal_state(wanted));
    const auto waited = std::chrono::duration_cast<Milliseconds>(std::chrono::steady_clock::now() - begin);
    if (!may_pass(kind) || waited >= options.wait_for_db) {
      throw cannot_connect(kind, words, options.wait_for_db > Milliseconds(0) ? waited : Milliseconds(0));
    }
    if (told != in_words(kind)) tell(fmt::format("waiting for the database: {}", in_words(kind)));
    told = in_words(kind);
    pause(std::min(pause_between, options.wait_for_db - waited));
    pause_between = std::min(pause_between * 2, Milliseconds(2000));
  }
}

PGconn* connect_again(PGconn* first, const SessionOptions& options, Milliseconds at_most) {
  auto wanted = parameters(options);
  if (const char* address = PQhostaddr(first); address != nullptr && *address != '\0')
    wanted.add("hostaddr", address);
  wanted.add("host", PQhost(first));
  wanted.add("port", PQport(first));
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(at_most).count();
  wanted.add("connect_timeout", std::to_string(std::max<long>(seconds, 2)));
  const LibpqWords heard_before;
  auto* connection = wanted.connect();
  PQsetNoticeReceiver(connection, [](void*, const PGresult*) {}, nullptr);
  return connection;
}

}  // namespace lockstep::db
