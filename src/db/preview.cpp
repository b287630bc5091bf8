#include "db/preview.h"

#include "db/quote.h"
#include "sql/statement_reader.h"

namespace lockstep::db {
namespace {

/// The query with its parameters in place. A parameter is a dollar sign and digits, and our own SQL has no
/// other use for these.
std::string with_constants(const Query& query) {
  std::string text;
  const std::string_view sql = query.sql;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '$') {
      text += sql[i];
      continue;
    }
    std::size_t number = 0;
    for (; i + 1 < sql.size() && sql[i + 1] >= '0' && sql[i + 1] <= '9'; ++i)
      number = number * 10 + static_cast<std::size_t>(sql[i + 1] - '0');
    const auto& value = query.parameters[number - 1];
    text += value ? quote_literal(*value) : "null";
  }
  return text + ";\n";
}

void write_script(sql::StatementReader& reader, const TextSink& out) {
  while (const auto item = reader.next()) {
    if (item->kind != sql::Item::Kind::statement) continue;
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
  sql::StatementReader reader(open(step.migration));
  const bool whole = step.migration.transaction == TransactionMode::on;
  if (whole) {
    out(state.begin_statement() + ";\n");
    for (const auto& statement : state.timeout_statements(step.migration)) out(statement + ";\n");
    write_script(reader, out);
    out("set constraints all immediate;\n");
    for (const auto& statement : state.own_identity_statements()) out(statement + ";\n");
    for (const auto& record : history.record_queries(step, expected_rank)) out(with_constants(record));
    out("commit;\n");
    return;
  }
  out(with_constants(history.insert_query(step.migration, row_state::running, expected_rank)));
  write_script(reader, out);
  const auto statements = static_cast<std::int64_t>(step.migration.statements);
  out(with_constants(history.progress_query(expected_rank + 1, step.migration, row_state::applied, statements,
                                            step.migration.checksum)));
}

}  // namespace lockstep::db
