#include "db/session_state.h"

#include <fmt/format.h>

#include "db/connect.h"
#include "db/quote.h"

namespace lockstep::db {
namespace {

constexpr std::string_view read_committed = "read committed";

// RESET ALL goes back to what this session began with; a new session would begin with what ALTER DATABASE and
// ALTER ROLE have set since. The most specific setting is the last one. Settings that only a superuser may
// change are left alone, and so is what the client's own parameters say, which win (client_encoding is one).
// The last four are looked up: a name that is not there is an error here, and at login only a warning.
constexpr std::string_view read_defaults = R"(select pg_catalog.set_config(s.name, s.value, false) from (
  select pg_catalog.split_part(c.text, '=', 1), pg_catalog.substr(c.text, pg_catalog.strpos(c.text, '=') operator(pg_catalog.+) 1)
  from pg_catalog.pg_db_role_setting as d cross join lateral pg_catalog.unnest(d.setconfig) as c (text)
  where (d.setdatabase operator(pg_catalog.=) 0 or d.setdatabase operator(pg_catalog.=)
         (select b.oid from pg_catalog.pg_database as b where b.datname operator(pg_catalog.=) pg_catalog.current_database()))
    and (d.setrole operator(pg_catalog.=) 0 or d.setrole operator(pg_catalog.=)
         (select r.oid from pg_catalog.pg_roles as r where r.rolname operator(pg_catalog.=) session_user))
  order by d.setrole operator(pg_catalog.<>) 0, d.setdatabase operator(pg_catalog.<>) 0) as s (name, value)
where exists (select from pg_catalog.pg_settings as p where p.name operator(pg_catalog.=) s.name
  and p.context operator(pg_catalog.=) 'user' and p.source operator(pg_catalog.<>) 'client'
  and p.name operator(pg_catalog.<>) all (array['default_tablespace', 'temp_tablespaces', 'default_table_access_method', 'default_text_search_config'])))";

std::string_view in_words(std::string_view setting) {
  return setting.empty() ? "none" : setting;
}

}  // namespace

SessionState::SessionState(const SessionOptions& options, const Greeting& greeting)
    : own_role_(greeting.facts.user == greeting.login ? std::string_view("none")
                                                      : in_words(greeting.facts.user)),
      login_(greeting.login),
      isolation_(greeting.isolation),
      lock_timeout_(options.lock_timeout),
      server_version_(greeting.facts.server_version) {
  if (!options.role.empty()) identity_.push_back({"role", options.role});
  if (!options.search_path.empty()) identity_.push_back({"search_path", options.search_path});

  const int version = greeting.facts.server_version;
  settings_ = {{"idle_in_transaction_session_timeout", "0"},
               // Our own statements must see what was committed before each of them.
               {"default_transaction_isolation", std::string(read_committed)}};
  // A unix socket has none of these, and each one is a statement before every file.
  if (greeting.backend.client_port) {
    settings_.insert(settings_.end(), {{"tcp_keepalives_idle", "5"},
                                       {"tcp_keepalives_interval", "2"},
                                       {"tcp_keepalives_count", "3"},
                                       {"tcp_user_timeout", "7000"}});
  }
  // A pooler has opened the session; RESET ALL goes back to that, not to what we asked for.
  if (greeting.path == Path::indirect) {
    settings_.push_back({"client_encoding", "UTF8"});
    settings_.push_back({"application_name", application_name(options)});
    for (const auto& [name, value] : settings_of_environment()) settings_.push_back({name, value});
  }
  if (version >= 140000) settings_.push_back({"client_connection_check_interval", "2000"});
  if (version >= 140000) settings_.push_back({"idle_session_timeout", "0"});
  if (version >= 170000) settings_.push_back({"transaction_timeout", "0"});
}

Query SessionState::prepare_query() const {
  Query query{"select "};
  for (const auto* list : {&identity_, &settings_}) {
    for (const auto& setting : *list) {
      if (!query.parameters.empty()) query.sql += ", ";
      query.parameters.emplace_back(setting.value);
      query.sql +=
          fmt::format("pg_catalog.set_config('{}', ${}, false)", setting.name, query.parameters.size());
    }
  }
  return query;
}

Query SessionState::borrow_query() const {
  Query query{"select 1"};
  for (const auto& setting : identity_) {
    query.parameters.emplace_back(setting.value);
    query.sql +=
        fmt::format(", pg_catalog.set_config('{}', ${}, true)", setting.name, query.parameters.size());
  }
  return query;
}

std::vector<std::string> SessionState::reset_statements(Defaults defaults) const {
  std::vector<std::string> statements{"reset session authorization",
                                      "reset role",
                                      "reset all",
                                      "close all",
                                      "deallocate all",
                                      "unlisten *",
                                      "discard temp",
                                      "discard sequences"};
  if (defaults == Defaults::read_again) statements.emplace_back(read_defaults);
  for (const auto& setting : settings_) {
    statements.push_back(fmt::format("set {} = {}", setting.name, quote_literal(setting.value)));
  }
  for (const auto& setting : identity_) {
    const bool is_role = setting.name == "role";
    statements.push_back(is_role ? fmt::format("set role {}", quote_identifier(setting.value))
                                 : "set search_path = " + quote_identifier_list(setting.value));
  }
  return statements;
}

std::vector<std::string> SessionState::own_identity_statements() const {
  // A third of the work of one SELECT with set_config, which has to be planned.
  return {"set local session authorization " + quote_literal(login_),
          "set local role " + quote_identifier(own_role_), "set local search_path = pg_catalog, pg_temp"};
}

Query SessionState::own_encoding_query() {
  return {"select pg_catalog.set_config('client_encoding', 'UTF8', true)"};
}

std::string SessionState::begin_statement(const Migration& migration) const {
  return migration.begin.empty() ? begin_statement() : migration.begin;
}

std::string SessionState::begin_statement() const {
  if (isolation_ == read_committed) return "begin";
  return "begin isolation level " + isolation_;
}

std::optional<Milliseconds> SessionState::lock_timeout(const Migration& migration) const {
  const auto& asked = migration.directives.lock_timeout;
  return asked || migration.transaction != TransactionMode::on ? asked : lock_timeout_;
}

std::vector<std::string> SessionState::timeout_statements(const Migration& migration) const {
  std::vector<std::string> statements;
  const bool whole = migration.transaction == TransactionMode::on;
  const std::string_view set = whole ? "set local" : "set";
  const auto add = [&](std::string_view name, const std::optional<Milliseconds>& value) {
    if (value) statements.push_back(fmt::format("{} {} = {}", set, name, value->count()));
  };
  add("lock_timeout", lock_timeout(migration));
  add("statement_timeout", migration.directives.statement_timeout);
  // Before 13 the time runs for a message as a whole, with the limit that it began with; only a statement
  // that controls the transaction begins it anew (PostgreSQL 13 docs, 19.11.1).
  if (whole && migration.directives.statement_timeout && server_version_ < 130000) {
    statements.insert(statements.end(), {"savepoint lockstep", "release savepoint lockstep"});
  }
  return statements;
}

}  // namespace lockstep::db
