#include "db/preview.h"

#include <utility>

#include "db/hashed_script.h"
#include "db/recorder.h"
#include "db/with_constants.h"
#include "sql/include.h"

namespace lockstep::db {
namespace {

/// Names the file where it is not that of the statement before.
void write_file_name(const Migration& migration, std::size_t file, const TextSink& out) {
  out("-- " + (file == 0 ? migration.script : migration.includes[file - 1].file) + "\n");
}

void write_echo(const sql::Item& item, const TextSink& out) {
  out("-- ");
  out(item.text);
  out("\n");
}

void write_script(const Migration& migration, sql::ScriptReader& reader, const TextSink& out) {
  std::size_t file = 0;
  while (const auto item = reader.next()) {
    const bool echo = item->kind == sql::Item::Kind::meta_command && sql::is_echo(item->name);
    if (!echo && item->kind != sql::Item::Kind::statement) continue;
    if (std::exchange(file, item->place.file) != item->place.file) write_file_name(migration, file, out);
    if (echo) {
      write_echo(*item, out);
      continue;
    }
    const auto kind = item->statement.kind;
    if (kind == sql::StatementKind::begin || kind == sql::StatementKind::commit) continue;
    out(item->text);
    out(";\n");
    if (kind != sql::StatementKind::copy_from_stdin) continue;
    while (true) {
      const auto data = reader.next_copy_data();
      if (data.empty()) break;
      out(data);
    }
    out("\\.\n");
  }
}

}  // namespace

void write_preview(const Step& step, const SessionState& state, const HistoryTable& history,
                   std::int64_t expected_rank, const OpenScript& open, const TextSink& out) {
  HashedScript script(open, step.migration);
  auto& reader = script.reader();
  const bool whole = step.migration.transaction == TransactionMode::on;
  if (whole) {
    out(state.begin_statement() + ";\n");
    for (const auto& statement : state.timeout_statements(step.migration)) out(statement + ";\n");
    write_script(step.migration, reader, out);
    for (const auto& statement : closing_statements(state, history.record_queries(step, expected_rank)))
      out(statement + ";\n");
    return;
  }
  out(with_constants(history.insert_query(step.migration, row_state::running, expected_rank)) + ";\n");
  write_script(step.migration, reader, out);
  out(with_constants(history.progress_query(expected_rank + 1, step.migration, row_state::applied,
                                            {.statements = step.migration.statements})) +
      ";\n");
}

}  // namespace lockstep::db
