#include "db/in_doubt.h"

#include <optional>
#include <string>

#include "db/quote.h"

namespace lockstep::db {
namespace {

using Kind = sql::StatementKind;

Answer ask(Session& session, const Query& query) {
  auto answer = session.pipeline({query}, Grouping::all_together);
  if (answer.error) {
    throw failed(session, ErrorKind::part_way, "look_up_failed",
                 "cannot look up whether the last statement was done", *answer.error);
  }
  return answer;
}

/// One Boolean; absent for null.
std::optional<bool> is_there(Session& session, const char* sql, const std::string& name) {
  const auto answer = ask(session, {sql, {name}});
  const auto* row = answer.results[0].get();
  if (PQgetisnull(row, 0, 0) != 0) return std::nullopt;
  return bool_at(row, 0, 0);
}

Fate made(std::optional<bool> there) {
  if (!there) return Fate::unknown;
  return *there ? Fate::done : Fate::not_done;
}

Fate removed(std::optional<bool> there) {
  if (!there) return Fate::unknown;
  return *there ? Fate::not_done : Fate::done;
}

// An INVALID index is not done: building it again begins with dropping it.
constexpr auto valid_index_query = R"(
select exists (select from pg_catalog.pg_index as i
  join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) i.indexrelid
  where i.indrelid operator(pg_catalog.=) pg_catalog.to_regclass($1) and i.indisvalid
    and c.relname operator(pg_catalog.=) (pg_catalog.parse_ident($2))[1]::pg_catalog.name))";

constexpr auto partition_query = R"(
select pg_catalog.to_regclass($1) is not null and pg_catalog.to_regclass($2) is not null,
       exists (select from pg_catalog.pg_inherits as h
         where h.inhparent operator(pg_catalog.=) pg_catalog.to_regclass($1)
           and h.inhrelid operator(pg_catalog.=) pg_catalog.to_regclass($2)),
       exists (select from pg_catalog.pg_inherits as h
         where h.inhparent operator(pg_catalog.=) pg_catalog.to_regclass($1)
           and h.inhrelid operator(pg_catalog.=) pg_catalog.to_regclass($2) and h.inhdetachpending),
       pn.nspname::pg_catalog.text, p.relname::pg_catalog.text, cn.nspname::pg_catalog.text, c.relname::pg_catalog.text
from (select) as one
left join pg_catalog.pg_class as p on p.oid operator(pg_catalog.=) pg_catalog.to_regclass($1)
left join pg_catalog.pg_namespace as pn on pn.oid operator(pg_catalog.=) p.relnamespace
left join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) pg_catalog.to_regclass($2)
left join pg_catalog.pg_namespace as cn on cn.oid operator(pg_catalog.=) c.relnamespace)";

Fate fate_of_created_index(Session& session, const sql::Target& target) {
  if (target.name.empty() || target.table.empty()) return Fate::unknown;
  const auto answer = ask(session, {valid_index_query, {target.table, target.name}});
  return made(bool_at(answer.results[0].get(), 0, 0));
}

std::string name_at(const PGresult* row, int schema) {
  return quote_identifier(text_at(row, 0, schema)) + "." + quote_identifier(text_at(row, 0, schema + 1));
}

Fate fate_of_detached_partition(Session& session, const sql::Target& target) {
  // Before 14 the statement itself is a syntax error.
  if (PQserverVersion(session.raw()) < 140000) return Fate::not_done;
  if (target.name.empty() || target.table.empty()) return Fate::unknown;
  const auto answer = ask(session, {partition_query, {target.table, target.name}});
  const auto* row = answer.results[0].get();
  if (!bool_at(row, 0, 0)) return Fate::unknown;
  const bool attached = bool_at(row, 0, 1);
  const bool pending = bool_at(row, 0, 2);
  if (!pending) return removed(attached);
  const auto finalized =
      session.simple("alter table " + name_at(row, 3) + " detach partition " + name_at(row, 5) + " finalize");
  if (!finalized.error) return Fate::done;
  throw failed(session, ErrorKind::part_way, "detach_not_finalized",
               "cannot complete DETACH PARTITION … CONCURRENTLY, which an earlier run began",
               *finalized.error);
}

/// The catalog query that says whether the object of this name is there.
const char* presence_query(Kind kind) {
  switch (kind) {
    case Kind::drop_index_concurrently:
      return "select pg_catalog.to_regclass($1) is not null";
    case Kind::create_database:
    case Kind::drop_database:
      return "select exists (select from pg_catalog.pg_database as d where d.datname operator(pg_catalog.=) "
             "(pg_catalog.parse_ident($1))[1]::pg_catalog.name)";
    case Kind::create_tablespace:
    case Kind::drop_tablespace:
      return "select exists (select from pg_catalog.pg_tablespace as t where t.spcname "
             "operator(pg_catalog.=) "
             "(pg_catalog.parse_ident($1))[1]::pg_catalog.name)";
    case Kind::create_subscription:
    case Kind::drop_subscription:
      return "select exists (select from pg_catalog.pg_subscription as s where s.subname "
             "operator(pg_catalog.=) (pg_catalog.parse_ident($1))[1]::pg_catalog.name and s.subdbid "
             "operator(pg_catalog.=) (select d.oid from pg_catalog.pg_database as d where d.datname "
             "operator(pg_catalog.=) pg_catalog.current_database()))";
    case Kind::commit_prepared:
    case Kind::rollback_prepared:
      return "select exists (select from pg_catalog.pg_prepared_xacts as x where x.gid "
             "operator(pg_catalog.=) "
             "$1)";
    default:
      return nullptr;
  }
}

}  // namespace

Fate fate_of(Session& session, const sql::Target& target) {
  if (target.kind == Kind::create_index_concurrently) return fate_of_created_index(session, target);
  if (target.kind == Kind::detach_partition_concurrently) return fate_of_detached_partition(session, target);
  const auto* query = presence_query(target.kind);
  if (query == nullptr || target.name.empty()) return Fate::unknown;
  const auto there = is_there(session, query, target.name);
  const bool makes = target.kind == Kind::create_database || target.kind == Kind::create_tablespace ||
                     target.kind == Kind::create_subscription;
  return makes ? made(there) : removed(there);
}

}  // namespace lockstep::db
