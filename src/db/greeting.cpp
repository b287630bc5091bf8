#include "db/greeting.h"

#include <fmt/format.h>

#include <optional>
#include <pqxx/pqxx>

#include "core/checksum.h"
#include "db/quote.h"

namespace lockstep::db {
namespace {

constexpr int oldest_supported = 120000;

// role and search_path are set for this statement only; what comes behind the materialized parts sees them,
// since those run first. In a new session the planner reads the catalogs anew, and joins over them took most
// of the time: these functions look up the same. to_regclass would fail in a schema that the role may not
// use; that the table cannot be read is told by who reads it.
constexpr auto greeting_query = R"(
with session as materialized (
  select case when $1 operator(pg_catalog.<>) '' then pg_catalog.set_config('role', $1, true) end,
         case when $2 operator(pg_catalog.<>) '' then pg_catalog.set_config('search_path', $2, true) end
), place as materialized (
  select case when $3 operator(pg_catalog.<>) '' then $3
              else pg_catalog.current_schema()::pg_catalog.text end as schema from session
), found as materialized (
  select place.schema, pg_catalog.to_regnamespace(pg_catalog.quote_ident(place.schema)) as namespace,
         case when pg_catalog.has_schema_privilege(pg_catalog.to_regnamespace(pg_catalog.quote_ident(place.schema)), 'usage')
              then pg_catalog.to_regclass(pg_catalog.format('%I.%I', place.schema, $4::pg_catalog.text)) end as history
  from place
)
select pg_catalog.pg_backend_pid(),
       pg_catalog.inet_client_port(),
       pg_catalog.pg_is_in_recovery(),
       pg_catalog.current_setting('transaction_read_only'),
       pg_catalog.current_setting('default_transaction_isolation'),
       pg_catalog.current_database()::pg_catalog.text,
       current_user::pg_catalog.text,
       session_user::pg_catalog.text,
       found.schema,
       found.namespace is not null,
       found.history is not null
         or found.namespace is not null and not pg_catalog.has_schema_privilege(found.namespace, 'usage'),
       (pg_catalog.pg_identify_object_as_address('pg_catalog.pg_class'::pg_catalog.regclass,
          pg_catalog.to_regclass(pg_catalog.quote_ident($4)), 0)).object_names[1],
       coalesce(pg_catalog.row_security_active(found.history::pg_catalog.oid), false),
       case when found.history is not null
            then pg_catalog.to_regclass(pg_catalog.format('%I.%I', found.schema, $5::pg_catalog.text)) is not null
            else false end
from found)";

Error refusal(std::string code, std::string message, std::string hint) {
  return {.kind = ErrorKind::unsafe,
          .code = std::move(code),
          .message = std::move(message),
          .hints = {std::move(hint)}};
}

void refuse_old_server(int version) {
  if (version >= oldest_supported) return;
  throw Failure(refusal("server_too_old",
                        fmt::format("PostgreSQL {} is too old: lockstep needs 12 or newer", version / 10000),
                        "Upgrade the server."));
}

void refuse_read_only(Access access, bool standby, bool read_only) {
  if (access == Access::read) return;
  if (standby) {
    throw Failure(refusal("standby", "this server is a standby: it cannot be migrated",
                          "Connect to the primary; with several hosts add target_session_attrs=read-write."));
  }
  if (read_only) {
    throw Failure(refusal(
        "read_only", "this session is read-only: default_transaction_read_only is on",
        "Turn it off for this role and database (alter role … reset default_transaction_read_only)."));
  }
}

void refuse_no_schema(const std::optional<std::string>& schema) {
  if (schema) return;
  throw Failure(
      Error{.kind = ErrorKind::config,
            .code = "no_schema",
            .message = "this session has no current schema, so there is no place for the history table",
            .hints = {"Name one with history.schema (LOCKSTEP_HISTORY_SCHEMA), or mend search_path."}});
}

/// Its tables are gone when the session ends.
void refuse_temporary_schema(std::string_view schema) {
  if (!schema.starts_with("pg_temp")) return;
  throw Failure(Error{
      .kind = ErrorKind::config,
      .code = "temporary_schema",
      .message = fmt::format("{} is a temporary schema: the history would be lost with this session", schema),
      .hints = {"Name another one with history.schema (LOCKSTEP_HISTORY_SCHEMA), or mend search_path, "
                "which begins with pg_temp."}});
}

/// Without its hidden rows, a history says that files are pending which are applied.
void refuse_hidden_rows(bool row_security, const SessionFacts& facts, std::string_view table) {
  if (!row_security) return;
  throw Failure(Error{
      .kind = ErrorKind::config,
      .code = "history_hidden",
      .message =
          fmt::format("row security may hide rows of {}.{} from role {}", facts.schema, table, facts.user),
      .hints = {"Turn it off (alter table … disable row level security), or migrate as the table's owner or "
                "as a role with BYPASSRLS."}});
}

/// A migration or an administrator can change what current_schema is: by creating a schema of the role's
/// name, for one. A second history would apply every file again.
void refuse_other_history(const std::string& schema, const std::optional<std::string>& found,
                          const std::string& table) {
  if (!found || *found == schema) return;
  throw Failure(Error{
      .kind = ErrorKind::config,
      .code = "history_elsewhere",
      .message =
          fmt::format("schema {}, the session's current one, has no {}, but schema {} of search_path has one",
                      schema, table, *found),
      .hints = {
          fmt::format("Say which one is meant: LOCKSTEP_HISTORY_SCHEMA={} goes on with the history that is "
                      "there, LOCKSTEP_HISTORY_SCHEMA={} begins another one.",
                      *found, schema)}});
}

}  // namespace

Greeting greet(Session& session, const SessionOptions& options) {
  Greeting greeting;
  bool is_current = true;
  auto& facts = greeting.facts;
  facts.server_version = PQserverVersion(session.raw());
  refuse_old_server(facts.server_version);
  session.typed("ask the server who it is", [&](pqxx::nontransaction& transaction) {
    const pqxx::params values{options.role, options.search_path, options.history_schema,
                              options.history_table, format_index(options.history_table)};
    const auto row = transaction.exec(greeting_query, values).one_row();
    refuse_read_only(options.access, row[2].as<bool>(), row[3].as<std::string>() == "on");
    refuse_no_schema(row[8].get<std::string>());
    refuse_temporary_schema(row[8].as<std::string_view>());
    const bool elsewhere = options.history_schema.empty() && !row[10].as<bool>();
    if (elsewhere)
      refuse_other_history(row[8].as<std::string>(), row[11].get<std::string>(), options.history_table);
    greeting.backend = {row[0].as<int>(), row[1].get<int>()};
    greeting.path = path_to(own_end(session.raw()), greeting.backend);
    greeting.isolation = row[4].as<std::string>();
    greeting.schema = row[9].as<bool>() ? Presence::present : Presence::missing;
    greeting.history = row[10].as<bool>() ? Presence::present : Presence::missing;
    facts.backend_pid = greeting.backend.pid;
    facts.database = row[5].as<std::string>();
    facts.user = row[6].as<std::string>();
    greeting.login = row[7].as<std::string>();
    facts.schema = row[8].as<std::string>();
    refuse_hidden_rows(row[12].as<bool>(), facts, options.history_table);
    is_current = greeting.history == Presence::missing || row[13].as<bool>();
  });
  facts.table = options.history_table;
  if (!is_current) greeting.format = read_format(session, facts);
  if (greeting.format > history_format)
    throw newer_history(session, facts, greeting.format, options.tool_version);
  facts.lock_namespace = options.lock_namespace;
  facts.lock_resource = options.lock_resource.value_or(
      sha256_prefix(quote_identifier(facts.schema) + "." + quote_identifier(facts.table)));
  return greeting;
}

}  // namespace lockstep::db
