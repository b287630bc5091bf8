#include "support/postgres_lab.h"

#include "core/checksum.h"
#include "db/interrupt.h"
#include "db/postgres.h"
#include "sql/source.h"
#include "sql/survey.h"
#include "support/fake_database.h"

namespace lockstep::test {

PostgresLab::PostgresLab() = default;

SessionOptions PostgresLab::options() const {
  return {.conninfo = database_.socket_url(),
          .command = "test",
          .run_id = "6f6b1c1e-2f2a-4f3a-9d5e-000000000001",
          .tool_version = "0.1.0"};
}

std::unique_ptr<Database> PostgresLab::open() {
  return open(options());
}

std::unique_ptr<Database> PostgresLab::open(const SessionOptions& options) {
  const auto open_script = [this](const Migration& migration, std::size_t) {
    return sql::read_from(contents_.at(migration.path));
  };
  return db::open_session(options, open_script, [this](std::string_view text) { told_.emplace_back(text); });
}

bool PostgresLab::has_table() const {
  return database_.psql("select to_regclass('lockstep_history') is not null") == "t";
}

Migration PostgresLab::file(std::string_view script, std::string_view sql) {
  auto migration = fake_migration(script);
  migration.checksum = checksum(sql);
  const auto survey = sql::survey(sql::read_from(sql));
  migration.statements = survey.statements;
  if (survey.wrapped) migration.begin = survey.begin_text;
  contents_[migration.path] = sql;
  return migration;
}

}  // namespace lockstep::test
