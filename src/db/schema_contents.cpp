#include "db/schema_contents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace lockstep::db {
namespace {

/// A statement with very many names would be slow to show in an error or a log.
constexpr std::size_t names_at_once = 500;

// `roots` are the objects themselves: what pg_depend ties to the schema, is no part of something else and no
// member of an extension. `owned` are their parts as well, which are dropped with them: indexes, constraints,
// defaults, triggers, rules, policies, row and array types, casts of their types. A part has no schema of its
// own, unless it is internal. {0} are the schemas' parameters.
constexpr std::string_view owned_objects = R"(with recursive roots (classid, objid) as (
  select d.classid, d.objid from pg_catalog.pg_depend as d
  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) d.refobjid
  where d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass
    and d.deptype operator(pg_catalog.=) 'n'
    and d.classid operator(pg_catalog.<>) 'pg_catalog.pg_extension'::pg_catalog.regclass
    and n.nspname operator(pg_catalog.=) any (array[{0}]::pg_catalog.name[])
    and not exists (select from pg_catalog.pg_depend as e
      where e.classid operator(pg_catalog.=) d.classid and e.objid operator(pg_catalog.=) d.objid
        and e.objsubid operator(pg_catalog.=) 0
        and e.deptype operator(pg_catalog.=) any (array['e', 'i']::pg_catalog."char"[]))
  union
  select 'pg_catalog.pg_class'::pg_catalog.regclass, c.oid from pg_catalog.pg_class as c
  join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) c.relnamespace
  where n.nspname operator(pg_catalog.=) $1::pg_catalog.name and c.relname operator(pg_catalog.=) $2::pg_catalog.name
), owned (classid, objid) as (
  select r.classid, r.objid from roots as r
  union
  select d.classid, d.objid from owned as o
  join pg_catalog.pg_depend as d
    on d.refclassid operator(pg_catalog.=) o.classid and d.refobjid operator(pg_catalog.=) o.objid
  where d.objsubid operator(pg_catalog.=) 0
    and (d.deptype operator(pg_catalog.=) 'i'
      or d.refclassid operator(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
        and d.classid operator(pg_catalog.=) any (array['pg_catalog.pg_cast', 'pg_catalog.pg_transform']::pg_catalog.regclass[])
      or d.deptype operator(pg_catalog.=) any (array['a', 'P', 'S']::pg_catalog."char"[])
        and not exists (select from pg_catalog.pg_depend as n
          where n.classid operator(pg_catalog.=) d.classid and n.objid operator(pg_catalog.=) d.objid
            and n.refclassid operator(pg_catalog.=) 'pg_catalog.pg_namespace'::pg_catalog.regclass))
)
)";

constexpr std::string_view list_objects = R"(select i.type, i.identity from roots as r
cross join lateral pg_catalog.pg_identify_object(r.classid, r.objid, 0) as i
order by i.type collate "C", i.identity collate "C")";

// A view hangs on what it reads by its rule.
constexpr std::string_view list_dependents = R"(select l.dependent, pg_catalog.min(l.cause) from (
  select i.type operator(pg_catalog.||) ' ' operator(pg_catalog.||) i.identity,
         c.type operator(pg_catalog.||) ' ' operator(pg_catalog.||) c.identity
  from owned as o
  join pg_catalog.pg_depend as d
    on d.refclassid operator(pg_catalog.=) o.classid and d.refobjid operator(pg_catalog.=) o.objid
  left join pg_catalog.pg_rewrite as w
    on d.classid operator(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass
   and w.oid operator(pg_catalog.=) d.objid and w.rulename operator(pg_catalog.=) '_RETURN'
  cross join lateral pg_catalog.pg_identify_object(
    case when w.oid is null then d.classid else 'pg_catalog.pg_class'::pg_catalog.regclass end,
    coalesce(w.ev_class, d.objid), case when w.oid is null then d.objsubid else 0 end) as i
  cross join lateral pg_catalog.pg_identify_object(o.classid, o.objid, 0) as c
  where not exists (select from owned as p
    where p.classid operator(pg_catalog.=) d.classid and p.objid operator(pg_catalog.=) d.objid)) as l (dependent, cause)
group by l.dependent order by l.dependent collate "C")";

/// The words of DROP for a kind of pg_identify_object. DROP ROUTINE takes the argument types of an aggregate
/// as they are shown.
std::string_view drop_words(std::string_view kind) {
  if (kind == "function" || kind == "procedure" || kind == "aggregate") return "routine";
  return kind == "statistics object" ? "statistics" : kind;
}

/// These two can only be dropped one by one.
bool is_single(std::string_view words) {
  return words == "operator class" || words == "operator family";
}

/// One statement for each kind, or a few. What an earlier one has taken along is not there any more.
std::vector<std::string> drop_statements(const std::vector<SchemaObject>& objects) {
  std::vector<std::string> statements;
  auto at = objects.begin();
  while (at != objects.end()) {
    const auto words = drop_words(at->kind);
    const std::size_t most = is_single(words) ? 1 : names_at_once;
    std::vector<std::string_view> names;
    for (; at != objects.end() && drop_words(at->kind) == words && names.size() < most; ++at)
      names.push_back(at->name);
    statements.push_back(fmt::format("drop {} if exists {} cascade", words, fmt::join(names, ", ")));
  }
  return statements;
}

/// Nobody can make a view or a foreign key of a table that is locked.
std::vector<std::string> lock_statements(const std::vector<SchemaObject>& objects) {
  std::vector<std::string> statements;
  std::vector<std::string_view> names;
  const auto lock = [&] {
    if (names.empty()) return;
    statements.push_back(
        fmt::format("lock table only {} in access exclusive mode", fmt::join(names, ", only ")));
    names.clear();
  };
  for (const auto& object : objects) {
    if (object.kind == "table") names.push_back(object.name);
    if (names.size() == names_at_once) lock();
  }
  lock();
  return statements;
}

std::string_view hint_for(std::string_view sqlstate) {
  if (sqlstate == "55P03")
    return "Another session uses one of these objects: see which one with pg_blocking_pids, and try again.";
  if (sqlstate == "53200")
    return "One transaction cannot hold the locks of so many objects: raise max_locks_per_transaction, or "
           "drop "
           "the database and create it again.";
  if (sqlstate == "42501") return "Only the owner of an object, or a superuser, can drop it.";
  return {};
}

Query own_settings(Milliseconds lock_timeout) {
  return {
      "select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),"
      " pg_catalog.set_config('client_min_messages', 'warning', true),"
      " pg_catalog.set_config('lock_timeout', $1, true)",
      {std::to_string(lock_timeout.count())}};
}

Inventory inventory_of(const Answer& answer) {
  Inventory inventory;
  const auto of = [&](std::size_t from_end) {
    return answer.results[answer.results.size() - from_end].get();
  };
  const auto text = [](const PGresult* rows, int row, int column) {
    return std::string(text_at(rows, row, column));
  };
  for (int row = 0; row < PQntuples(of(3)); ++row)
    inventory.objects.push_back({.kind = text(of(3), row, 0), .name = text(of(3), row, 1)});
  for (int row = 0; row < PQntuples(of(2)); ++row)
    inventory.dependents.push_back({.object = text(of(2), row, 0), .on = text(of(2), row, 1)});
  for (int row = 0; row < PQntuples(of(1)); ++row) inventory.missing_schemas.push_back(text(of(1), row, 0));
  return inventory;
}

}  // namespace

SchemaContents::SchemaContents(Session& session, const SessionFacts& facts, std::vector<std::string> schemas)
    : session_(session),
      history_schema_(facts.schema),
      history_table_(facts.table),
      schemas_(std::move(schemas)) {}

std::vector<Query> SchemaContents::queries() const {
  std::vector<std::optional<std::string>> names;
  std::vector<std::string> first;
  std::vector<std::string> third;
  for (std::size_t i = 0; i < schemas_.size(); ++i) {
    names.emplace_back(schemas_[i]);
    first.push_back(fmt::format("${}", i + 1));
    third.push_back(fmt::format("${}", i + 3));
  }
  auto with_history = names;
  with_history.insert(with_history.begin(), {history_schema_, history_table_});
  const auto owned = fmt::format(fmt::runtime(owned_objects), fmt::join(third, ", "));
  return {{owned + std::string(list_objects), with_history},
          {owned + std::string(list_dependents), with_history},
          {fmt::format("select s.name from pg_catalog.unnest(array[{}]::pg_catalog.text[]) as s (name)"
                       " where not exists (select from pg_catalog.pg_namespace as n"
                       " where n.nspname::pg_catalog.text operator(pg_catalog.=) s.name)",
                       fmt::join(first, ", ")),
           names}};
}

Inventory SchemaContents::read() const {
  auto reads = queries();
  reads.insert(reads.begin(), own_settings(Milliseconds{0}));
  const auto answer = session_.pipeline(reads, Grouping::all_together);
  if (answer.error)
    throw failed(session_, ErrorKind::connection, "inventory_unreadable", "cannot read what the schemas hold",
                 *answer.error);
  return inventory_of(answer);
}

Inventory SchemaContents::drop(Milliseconds lock_timeout, const CheckInventory& check) const {
  const auto before = read();
  try {
    auto answer = session_.pipeline({{"begin"}, own_settings(lock_timeout)}, Grouping::all_together);
    if (answer.error) throw not_dropped(*answer.error);
    run(lock_statements(before.objects));
    answer = session_.pipeline(queries(), Grouping::all_together);
    if (answer.error) throw not_dropped(*answer.error);
    auto inventory = inventory_of(answer);
    check(inventory);
    run(drop_statements(inventory.objects));
    commit();
    return inventory;
  } catch (...) {
    session_.roll_back();
    throw;
  }
}

void SchemaContents::run(const std::vector<std::string>& statements) const {
  for (const auto& statement : statements) {
    throw_if_interrupted();
    const auto answer = session_.simple(statement);
    if (answer.error) throw not_dropped(*answer.error);
  }
}

void SchemaContents::commit() const {
  throw_if_interrupted();
  const auto answer = session_.simple("commit");
  if (!answer.error) return;
  if (!session_.lost_silently(*answer.error)) throw not_dropped(*answer.error);
  throw Failure(Error{.kind = ErrorKind::connection,
                      .code = "commit_in_doubt",
                      .message = fmt::format("the connection was lost before the server told what became of "
                                             "it, so it is not known whether what was in {} is dropped",
                                             fmt::join(schemas_, ", ")),
                      .hints = {"See what is there with: lockstep clean --dry-run"}});
}

Failure SchemaContents::not_dropped(const ServerError& error) const {
  auto failure = failed(session_, ErrorKind::migration, "not_dropped",
                        fmt::format("cannot drop what is in {}", fmt::join(schemas_, ", ")), error);
  if (session_.lost()) return failure;
  auto errors = failure.errors();
  errors.front().hints.emplace_back("Everything is as it was.");
  if (const auto hint = hint_for(error.sqlstate); !hint.empty()) errors.front().hints.emplace_back(hint);
  return Failure(std::move(errors));
}

}  // namespace lockstep::db
