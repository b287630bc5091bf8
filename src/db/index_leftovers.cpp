#include "db/index_leftovers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/interrupt.h"
#include "db/quote.h"

namespace lockstep::db {
namespace {

constexpr Milliseconds look_again{500};

// Whoever builds an index concurrently holds this lock on its table from the first to the last phase; VACUUM
// and ANALYZE hold it too, so that the lock alone does not prove a build.
constexpr auto invalid_indexes_query = R"(
with named as (
  select coalesce(i.indrelid, c.oid) as table_oid,
         case when $2 operator(pg_catalog.<>) '' then (pg_catalog.parse_ident($2))[1]::pg_catalog.name::pg_catalog.text
              when i.indrelid is not null then c.relname::pg_catalog.text else '' end as base
  from pg_catalog.pg_class as c
  left join pg_catalog.pg_index as i on i.indexrelid operator(pg_catalog.=) c.oid
  where c.oid operator(pg_catalog.=) pg_catalog.to_regclass($1)
)
select n.nspname::pg_catalog.text, x.relname::pg_catalog.text, x.oid::pg_catalog.int8, named.base,
       coalesce((select l.pid from pg_catalog.pg_locks as l
        where l.locktype operator(pg_catalog.=) 'relation' and l.relation operator(pg_catalog.=) i.indrelid
          and l.database operator(pg_catalog.=) (select d.oid from pg_catalog.pg_database as d
                where d.datname operator(pg_catalog.=) pg_catalog.current_database())
          and l.mode operator(pg_catalog.=) 'ShareUpdateExclusiveLock' and l.granted
          and l.pid operator(pg_catalog.<>) pg_catalog.pg_backend_pid() limit 1), 0)
from named
join pg_catalog.pg_index as i on i.indrelid operator(pg_catalog.=) named.table_oid and not i.indisvalid
join pg_catalog.pg_class as x on x.oid operator(pg_catalog.=) i.indexrelid and x.relkind operator(pg_catalog.=) 'i'
join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) x.relnamespace
order by x.relname)";

/// "_ccnew", "_ccold3": what REINDEX CONCURRENTLY appends.
bool is_reindex_suffix(std::string_view suffix) {
  if (!suffix.starts_with("_ccnew") && !suffix.starts_with("_ccold")) return false;
  return suffix.find_first_not_of("0123456789", 6) == std::string_view::npos;
}

bool ends_as_reindex(std::string_view name) {
  const auto at = name.rfind("_cc");
  return at != std::string_view::npos && is_reindex_suffix(name.substr(at));
}

}  // namespace

IndexLeftovers::IndexLeftovers(Session& session, sql::Target target)
    : session_(session), target_(std::move(target)) {}

void IndexLeftovers::drop_before() {
  for (const auto& index : invalid_indexes()) {
    if (!is_leftover(index)) known_.push_back(index.oid);
  }
  looked_ = true;
  bool told = false;
  for (auto found = leftovers(); !found.empty(); found = leftovers()) {
    const auto& index = found.front();
    if (index.builder == 0) {
      drop(index);
      continue;
    }
    if (!std::exchange(told, true)) {
      session_.tell({.severity = "NOTICE",
                     .message = fmt::format("index {}.{} is INVALID, and backend {} works on its table: "
                                            "waiting until it has ended or completed the index",
                                            index.schema, index.name, index.builder)});
    }
    pause(look_again);
  }
}

void IndexLeftovers::drop_after_failure() noexcept {
  try {
    if (session_.lost() || interruption()) return;
    // Nobody waits long to hear of an error; the next run can do it as well.
    session_.simple("set lock_timeout = '5s'");
    for (const auto& index : leftovers()) {
      if (index.builder == 0) drop(index);
    }
  } catch (const Failure& failure) {
    session_.tell({.severity = "WARNING", .message = failure.error().message});
  }
}

void IndexLeftovers::require_valid() {
  const auto left = leftovers();
  if (left.empty()) return;
  throw Failure(Error{.kind = ErrorKind::part_way,
                      .code = "index_invalid",
                      .message = fmt::format("index {}.{} is INVALID although its statement has succeeded",
                                             left[0].schema, left[0].name),
                      .hints = {"Run lockstep migrate again: it drops the index and builds it anew."}});
}

std::vector<IndexLeftovers::Leftover> IndexLeftovers::invalid_indexes() {
  const bool creates = target_.kind == sql::StatementKind::create_index_concurrently;
  const auto& relation = target_.table.empty() ? target_.name : target_.table;
  if (relation.empty()) return {};
  const auto answer = session_.pipeline({{invalid_indexes_query, {relation, creates ? target_.name : ""}}},
                                        Grouping::all_together);
  if (answer.error) {
    throw failed(session_, ErrorKind::part_way, "index_check_failed",
                 "cannot look for INVALID indexes of " + relation, *answer.error);
  }
  const auto* rows = answer.results[0].get();
  std::vector<Leftover> found;
  for (int row = 0; row < PQntuples(rows); ++row) {
    found.push_back({std::string(text_at(rows, row, 0)), std::string(text_at(rows, row, 1)),
                     int8_at(rows, row, 2), int4_at(rows, row, 4)});
    base_ = text_at(rows, row, 3);
  }
  return found;
}

std::vector<IndexLeftovers::Leftover> IndexLeftovers::leftovers() {
  auto found = invalid_indexes();
  std::erase_if(found, [this](const Leftover& index) {
    return !is_leftover(index) || std::find(known_.begin(), known_.end(), index.oid) != known_.end();
  });
  return found;
}

bool IndexLeftovers::is_leftover(const Leftover& index) const {
  const bool creates = target_.kind == sql::StatementKind::create_index_concurrently;
  // PostgreSQL chooses the name: only one that was not there before is this statement's.
  if (creates && base_.empty()) return looked_;
  if (base_.empty()) return ends_as_reindex(index.name);
  if (creates && index.name == base_) return true;
  return index.name.starts_with(base_) &&
         is_reindex_suffix(std::string_view(index.name).substr(base_.size()));
}

void IndexLeftovers::drop(const Leftover& index) {
  const auto name = index.schema + "." + index.name;
  const auto answer = session_.simple("drop index concurrently if exists " + quote_identifier(index.schema) +
                                      "." + quote_identifier(index.name));
  if (answer.error) {
    throw failed(session_, ErrorKind::part_way, "index_not_dropped",
                 fmt::format("cannot drop the INVALID index {}", name), *answer.error);
  }
  session_.tell({.severity = "NOTICE",
                 .message = fmt::format("dropped index {}, which a failed build had left INVALID", name)});
}

}  // namespace lockstep::db
