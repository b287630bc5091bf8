#include "db/session_state.h"

#include <fmt/format.h>

#include "db/quote.h"

namespace lockstep::db {
namespace {

constexpr std::string_view read_committed = "read committed";

std::string_view in_words(std::string_view setting) {
  return setting.empty() ? "none" : setting;
}

}  // namespace

SessionState::SessionState(const SessionOptions& options, const Greeting& greeting)
    : own_role_(greeting.facts.user == greeting.login ? std::string_view("none")
                                                      : in_words(greeting.facts.user)),
      login_(greeting.login),
      isolation_(greeting.isolation) {
  if (!options.role.empty()) identity_.push_back({"role", options.role});
  if (!options.search_path.empty()) identity_.push_back({"search_path", options.search_path});

  const int version = greeting.facts.server_version;
  settings_ = {{"tcp_keepalives_idle", "5"},
               {"tcp_keepalives_interval", "2"},
               {"tcp_keepalives_count", "3"},
               {"tcp_user_timeout", "7000"},
               {"idle_in_transaction_session_timeout", "0"},
               // Our own statements must see what was committed before each of them.
               {"default_transaction_isolation", std::string(read_committed)}};
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

std::vector<std::string> SessionState::reset_statements() const {
  std::vector<std::string> statements{"reset session authorization",
                                      "reset role",
                                      "reset all",
                                      "close all",
                                      "deallocate all",
                                      "unlisten *",
                                      "discard temp",
                                      "discard sequences"};
  // SET takes no parameters, and set_config would take a snapshot, which a later choice of the isolation
  // level forbids.
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

Query SessionState::own_identity_query() const {
  return {
      "select pg_catalog.set_config('session_authorization', $1, true), pg_catalog.set_config('role', $2, "
      "true),"
      " pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true)",
      {login_, own_role_}};
}

std::string SessionState::begin_statement() const {
  if (isolation_ == read_committed) return "begin";
  return "begin isolation level " + isolation_;
}

std::vector<std::string> SessionState::timeout_statements(const Directives& directives) {
  std::vector<std::string> statements;
  const auto add = [&](std::string_view name, const std::optional<Milliseconds>& value) {
    if (value) statements.push_back(fmt::format("set local {} = {}", name, value->count()));
  };
  add("lock_timeout", directives.lock_timeout);
  add("statement_timeout", directives.statement_timeout);
  return statements;
}

}  // namespace lockstep::db
