#include "db/history_format.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "core/checksum.h"
#include "db/quote.h"
#include "db/recorder.h"

namespace lockstep::db {
namespace {

/// NAMEDATALEN of PostgreSQL, less the byte at its end: it cuts longer names.
constexpr std::size_t longest_name = 63;

bool within_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

std::string qualified(const SessionFacts& facts, std::string_view name) {
  return quote_identifier(facts.schema) + "." + quote_identifier(name);
}

// Every format since 2 has its number in the name of the unique index; before that there was no `intent`.
constexpr auto format_query = R"(
select coalesce((select pg_catalog.max(pg_catalog.substring(c.relname::pg_catalog.text, '_format_([0-9]{1,6})$')::pg_catalog.int4)
                 from pg_catalog.pg_index as i join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) i.indexrelid
                 where i.indrelid operator(pg_catalog.=) t.oid and i.indisunique),
                case when exists (select from pg_catalog.pg_attribute as a where a.attrelid operator(pg_catalog.=) t.oid
                                  and a.attname operator(pg_catalog.=) 'intent') then 2 else 1 end)
from pg_catalog.pg_class as t join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) t.relnamespace
where n.nspname operator(pg_catalog.=) $1 and t.relname operator(pg_catalog.=) $2)";

/// The name of the unique index before there was a number in it, as the server chose it.
constexpr auto unnumbered_index_query = R"(
select c.relname::pg_catalog.text from pg_catalog.pg_index as i
join pg_catalog.pg_class as c on c.oid operator(pg_catalog.=) i.indexrelid
join pg_catalog.pg_class as t on t.oid operator(pg_catalog.=) i.indrelid
join pg_catalog.pg_namespace as n on n.oid operator(pg_catalog.=) t.relnamespace
where n.nspname operator(pg_catalog.=) $1 and t.relname operator(pg_catalog.=) $2
  and i.indisunique and not i.indisprimary order by i.indexrelid limit 1)";

/// What brings a table of an older format up to date, statement by statement.
std::vector<Query> upgrade_queries(Session& session, const SessionFacts& facts, int from) {
  std::vector<Query> queries;
  if (from < 2)
    queries.push_back(
        {fmt::format("alter table {} add column intent pg_catalog.text", qualified(facts, facts.table))});
  const auto found =
      session.pipeline({{unnumbered_index_query, {facts.schema, facts.table}}}, Grouping::all_together);
  if (found.error || PQntuples(found.results[0].get()) == 0) return queries;
  queries.push_back(
      {fmt::format("alter index {} rename to {}", qualified(facts, text_at(found.results[0].get(), 0, 0)),
                   quote_identifier(format_index(facts.table)))});
  return queries;
}

Failure with_way_out(const Failure& failure, std::string_view sqlstate, const std::vector<Query>& upgrade) {
  auto error = failure.error();
  std::string sql;
  for (const auto& query : upgrade) sql += query.sql + "; ";
  if (sqlstate == "42501")
    error.hints = {"Only its owner can do that. Let the owner run: " + sql + "Then migrate again."};
  if (sqlstate == "55P03")
    error.hints = {
        "Another session has used the history table in a transaction that is still open. Try again."};
  return Failure(std::move(error));
}

}  // namespace

std::string format_index(std::string_view table) {
  const auto suffix = fmt::format("_format_{}", history_format);
  if (table.size() + suffix.size() <= longest_name) return std::string(table) + suffix;
  // Another table of the schema may begin in the same way.
  const auto whole = fmt::format("_{:08x}", static_cast<std::uint32_t>(sha256_prefix(table)));
  auto room = longest_name - suffix.size() - whole.size();
  while (room > 0 && within_character(table[room])) --room;
  return std::string(table.substr(0, room)) + whole + suffix;
}

int read_format(Session& session, const SessionFacts& facts) {
  const auto answer = session.pipeline({{format_query, {facts.schema, facts.table}}}, Grouping::all_together);
  if (answer.error)
    throw failed(session, ErrorKind::connection, "query_failed",
                 "cannot ask for the format of the history table", *answer.error);
  const auto* found = answer.results[0].get();
  return PQntuples(found) == 0 ? history_format : int4_at(found, 0, 0);
}

Failure newer_history(Session& session, const SessionFacts& facts, int format,
                      std::string_view tool_version) {
  const Query newest{
      fmt::format("select h.tool_version::pg_catalog.text from {} as h order by h.rank desc limit 1",
                  qualified(facts, facts.table))};
  const auto answer = session.pipeline({newest}, Grouping::all_together);
  const bool known = !answer.error && PQntuples(answer.results[0].get()) == 1;
  const auto written_by = known ? text_at(answer.results[0].get(), 0, 0) : std::string_view();
  return Failure(newer_format(facts, format, written_by, tool_version));
}

void upgrade_history(Session& session, const SessionFacts& facts, int from, Milliseconds lock_timeout) {
  const auto upgrade = upgrade_queries(session, facts, from);
  std::vector<Query> queries{{"begin"}, {fmt::format("set local lock_timeout = {}", lock_timeout.count())}};
  queries.insert(queries.end(), upgrade.begin(), upgrade.end());
  queries.push_back({"commit"});
  const auto answer = session.pipeline(queries, Grouping::all_together);
  if (!answer.error) return;
  if (session.lost_silently(*answer.error)) throw change_in_doubt();
  session.roll_back();
  const auto what = fmt::format("cannot bring the history table {}.{} from format {} to format {}",
                                facts.schema, facts.table, from, history_format);
  const auto failure = failed(session, ErrorKind::migration, "history_not_upgraded", what, *answer.error);
  throw with_way_out(failure, answer.error->sqlstate, upgrade);
}

}  // namespace lockstep::db
