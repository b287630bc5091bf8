#include "db/history_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "db/quote.h"

namespace lockstep::db {
namespace {

std::optional<std::string> canonical(const std::optional<Version>& version) {
  if (!version) return std::nullopt;
  return version->canonical();
}

/// Nobody sorts in the server: that would hold back the first row until the last one is read, and rows mostly
/// lie in the order in which they were written.
constexpr std::string_view outline_columns = "rank, version, description, kind, checksum, state";
constexpr std::string_view more_columns =
    "script, installed_by, started_at, finished_at, duration_ms, statements_done, tool_version";
constexpr int outline_size = 6;

void add_the_rest(const PGresult* selected, int row, HistoryRow& result) {
  const auto text = [&](int column) { return std::string(text_at(selected, row, column)); };
  result.script = text(outline_size);
  result.installed_by = text(outline_size + 1);
  result.started_at = time_at(selected, row, outline_size + 2);
  result.finished_at = time_at(selected, row, outline_size + 3);
  result.duration_ms = int8_at(selected, row, outline_size + 4);
  result.statements_done = int8_at(selected, row, outline_size + 5);
  result.tool_version = text(outline_size + 6);
  result.intent = text(outline_size + 7);
}

void read_row(const PGresult* selected, int row, HistoryRow& result) {
  result.rank = int8_at(selected, row, 0);
  result.version = Version::parse(text_at(selected, row, 1));
  result.description = text_at(selected, row, 2);
  result.kind = text_at(selected, row, 3);
  result.checksum = text_at(selected, row, 4);
  result.state = text_at(selected, row, 5);
  if (PQnfields(selected) > outline_size) add_the_rest(selected, row, result);
}

// Of a row: finished_at, duration_ms.
constexpr std::string_view not_finished = "null, 0";
constexpr std::string_view finished_now = R"(pg_catalog.clock_timestamp(),
        (extract(epoch from pg_catalog.clock_timestamp() operator(pg_catalog.-) pg_catalog.now())
         operator(pg_catalog.*) 1000)::pg_catalog.int8)";

}  // namespace

HistoryTable::HistoryTable(std::string schema, std::string table, AdvisoryLock lock, RunFacts run)
    : qualified_(quote_identifier(schema) + "." + quote_identifier(table)),
      schema_(std::move(schema)),
      table_(std::move(table)),
      lock_(std::move(lock)),
      run_(std::move(run)) {}

Query HistoryTable::exists_query() const {
  return {
      "select exists (select from pg_catalog.pg_namespace as n where n.nspname operator(pg_catalog.=) $1),"
      " exists (select from pg_catalog.pg_class as c join pg_catalog.pg_namespace as n on n.oid "
      "operator(pg_catalog.=) c.relnamespace"
      " where n.nspname operator(pg_catalog.=) $1 and c.relname operator(pg_catalog.=) $2)",
      {schema_, table_}};
}

Query HistoryTable::is_current_query() const {
  return {"select pg_catalog.to_regclass($1) is not null",
          {quote_identifier(schema_) + "." + quote_identifier(format_index(table_))}};
}

Query HistoryTable::outline_query() const {
  return {fmt::format("select {} from {}", outline_columns, qualified_)};
}

Query HistoryTable::select_query(int format) const {
  return {fmt::format("select {}, {}, {} from {}", outline_columns, more_columns,
                      format < 2 ? "null::pg_catalog.text" : "intent", qualified_)};
}

std::vector<Query> HistoryTable::create_queries(Presence schema) const {
  std::vector<Query> queries;
  if (schema == Presence::missing) queries.push_back(create_schema_query());
  queries.push_back({fmt::format(R"(create table {} (
  rank pg_catalog.int8 primary key,
  version pg_catalog.text,
  description pg_catalog.text not null,
  kind pg_catalog.text not null,
  script pg_catalog.text not null,
  checksum pg_catalog.text not null,
  state pg_catalog.text not null,
  run_id pg_catalog.uuid not null,
  installed_by pg_catalog.text not null,
  started_at pg_catalog.timestamptz not null,
  finished_at pg_catalog.timestamptz,
  duration_ms pg_catalog.int8 not null default 0,
  statements_done pg_catalog.int8 not null default 0,
  tool_version pg_catalog.text not null,
  intent pg_catalog.text
))",
                                 qualified_)});
  queries.push_back(
      {fmt::format("create unique index {} on {} (version) where state operator(pg_catalog.<>) all "
                   "(array['deleted', 'undone'])",
                   quote_identifier(format_index(table_)), qualified_)});
  return queries;
}

/// The lock of another history in the same schema is another one, so both may create it. IF NOT EXISTS fails
/// if the other one commits in between; an error that is caught is none in the server's log.
Query HistoryTable::create_schema_query() const {
  return {"do " +
          quote_literal(fmt::format(
              "begin create schema {}; exception when duplicate_schema or unique_violation then null; end",
              quote_identifier(schema_)))};
}

std::vector<Query> HistoryTable::record_queries(const Step& step, std::int64_t expected_rank) const {
  if (!step.undoes) return {insert_query(step.migration, row_state::applied, expected_rank)};
  const RowChange taken_back{.action = RowChange::Action::mark_undone, .rank = step.undoes->rank};
  return {change_query(taken_back, expected_rank),
          insert_query(step.migration, row_state::undone, expected_rank)};
}

Query HistoryTable::insert_query(const Migration& migration, std::string_view state,
                                 std::int64_t expected_rank) const {
  // A violated fence makes the rank null, which the primary key refuses: the transaction cannot commit. Every
  // file has this statement planned anew, so it is one that is planned quickly (docs/performance.md).
  return {
      fmt::format(
          R"(insert into {0} (rank, version, description, kind, script, checksum, state, run_id, installed_by,
  started_at, finished_at, duration_ms, statements_done, tool_version)
values (case when {1} and coalesce((select h.rank from {0} as h order by h.rank desc limit 1), 0)
                  operator(pg_catalog.=) $1::pg_catalog.int8
             then $1::pg_catalog.int8 operator(pg_catalog.+) 1 end,
        $2, $3, $4, $5, $6, $7, $8, $9, pg_catalog.now(), {2}, $10, $11))",
          qualified_, lock_.fence_condition(), state == row_state::running ? not_finished : finished_now),
      {std::to_string(expected_rank), canonical(migration.name.version), migration.name.description,
       std::string(to_string(migration.name.kind)), migration.script, recorded_checksum(migration),
       std::string(state), run_.run_id, run_.installed_by,
       std::to_string(state == row_state::running ? 0 : migration.statements), run_.tool_version}};
}

Query HistoryTable::insert_baseline_query(const Version& version, std::string_view description,
                                          std::int64_t expected_rank) const {
  Migration declared;
  declared.name = {
      .kind = MigrationKind::baseline, .version = version, .description = std::string(description)};
  return insert_query(declared, row_state::applied, expected_rank);
}

Query HistoryTable::progress_query(std::int64_t rank, const Migration& migration, std::string_view state,
                                   const Progress& progress) const {
  const auto checksum = state == row_state::applied ? recorded_checksum(migration) : progress.digest;
  return {
      or_refuse(fmt::format(
          R"(update {} set rank = case when {} then rank end, state = $2, statements_done = $3::pg_catalog.int8, checksum = $4, script = $5, description = $6,
  run_id = $7::pg_catalog.uuid, tool_version = $8, intent = $9,
  finished_at = case when $2 operator(pg_catalog.<>) 'running' then pg_catalog.clock_timestamp() end,
  duration_ms = (extract(epoch from pg_catalog.clock_timestamp() operator(pg_catalog.-) started_at) operator(pg_catalog.*) 1000)::pg_catalog.int8
where rank operator(pg_catalog.=) $1::pg_catalog.int8)",
          qualified_, lock_.fence_condition())),
      {std::to_string(rank), std::string(state), std::to_string(progress.statements), checksum,
       migration.script, migration.name.description, run_.run_id, run_.tool_version,
       progress.intent.empty() ? std::nullopt : std::optional(progress.intent)}};
}

Query HistoryTable::change_query(const RowChange& change, std::int64_t expected_rank) const {
  Query query{
      fmt::format("update {0} set rank = case when {1} and (select pg_catalog.max(h.rank) from {0} as h)"
                  " operator(pg_catalog.=) $2::pg_catalog.int8 then rank end",
                  qualified_, lock_.fence_condition()),
      {std::to_string(change.rank), std::to_string(expected_rank)}};
  switch (change.action) {
    case RowChange::Action::align:
      query.sql += ", checksum = $3, description = $4, script = $5";
      query.parameters.insert(query.parameters.end(), {change.checksum, change.description, change.script});
      break;
    case RowChange::Action::mark_deleted:
      query.sql += ", state = 'deleted'";
      break;
    case RowChange::Action::mark_undone:
      query.sql += ", state = 'undone'";
      break;
    case RowChange::Action::statement_done:
      query.sql +=
          ", state = 'failed', statements_done = statements_done operator(pg_catalog.+) 1, checksum = $3, "
          "intent = null";
      query.parameters.emplace_back(change.checksum);
      break;
    case RowChange::Action::statement_again:
      query.sql += ", state = 'failed', intent = null";
      break;
  }
  query.sql = or_refuse(query.sql + " where rank operator(pg_catalog.=) $1::pg_catalog.int8");
  return query;
}

/// A row that is gone violates the fence as well, and shows in the same way: as a null rank.
std::string HistoryTable::or_refuse(const std::string& update) const {
  return fmt::format(
      "with done as ({0} returning rank) insert into {1} (rank) select null::pg_catalog.int8 "
      "where not exists (select from done)",
      update, qualified_);
}

Query HistoryTable::fence_query() const {
  return {fmt::format("select {}, coalesce((select pg_catalog.max(h.rank) from {} as h), 0)",
                      lock_.held_condition(), qualified_)};
}

std::vector<HistoryRow> HistoryTable::rows(const PGresult* selected) {
  std::vector<HistoryRow> result(static_cast<std::size_t>(PQntuples(selected)));
  for (int row = 0; row < PQntuples(selected); ++row) {
    read_row(selected, row, result[static_cast<std::size_t>(row)]);
  }
  const auto by_rank = [](const HistoryRow& a, const HistoryRow& b) { return a.rank < b.rank; };
  if (!std::is_sorted(result.begin(), result.end(), by_rank))
    std::sort(result.begin(), result.end(), by_rank);
  return result;
}

}  // namespace lockstep::db
