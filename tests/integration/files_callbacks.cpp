#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "files/load.h"
#include "support/temp_dir.h"

using namespace lockstep;
using namespace lockstep::test;
using Texts = std::vector<std::string>;

namespace {

Texts scripts(const std::vector<Migration>& files) {
  Texts names;
  for (const auto& file : files) names.push_back(file.script);
  return names;
}

/// Code and place of every problem, below the folder.
Texts problems(const TempDir& temp, const LocalMigrations& local) {
  Texts texts;
  for (const auto& problem : local.problems)
    texts.push_back(problem.code + " " + to_string(*problem.where).substr(temp.string().size() + 1));
  return texts;
}

}  // namespace

TEST_CASE("callbacks are kept beside the migrations, those of an event in the order of their names") {
  const TempDir temp;
  temp.write_file("b/beforeMigrate__10_last.sql", "select 1;");
  temp.write_file("b/beforeMigrate.sql", "select 1;");
  temp.write_file("a/beforeMigrate__1_first.sql", "select 1;");
  temp.write_file("a/afterMigrate.sql", "select 1;");
  temp.write_file("V1__a.sql", "select 1;");
  const auto local = files::load_migrations({temp.string()});
  CHECK(problems(temp, local).empty());
  CHECK(scripts(local.migrations) == Texts{"V1__a.sql"});
  CHECK(scripts(local.callbacks) == Texts{"a/afterMigrate.sql", "b/beforeMigrate.sql",
                                          "a/beforeMigrate__1_first.sql", "b/beforeMigrate__10_last.sql"});
}

TEST_CASE("callbacks are checked like migrations, and by the rules of their own") {
  const TempDir temp;
  temp.write_file("afterMigrate.sql", "begin;\nselect 1;\ncommit;\n");
  temp.write_file("afterEachMigrate.sql", "begin;\nselect 1;\ncommit;\n");
  temp.write_file("afterMigrateError.sql", "select 1;\n\\copy a to b\n");
  temp.write_file("beforeMigrate.sql", "select 1;\nvacuum;\n");
  temp.write_file("beforeInfo.sql", "select 1;");
  temp.write_file("beforeMigration.sql", "select 1;");
  temp.write_file("beforeUndo.sql", "-- lockstep: transaction=off\nselect 1;");
  const auto local = files::load_migrations({temp.string()});
  CHECK(problems(temp, local) ==
        Texts{"transaction_control afterEachMigrate.sql:1:1", "transaction_control afterEachMigrate.sql:3:1",
              "meta_command_refused afterMigrateError.sql:2:1", "callback_unsupported beforeInfo.sql",
              "callback_outside_transaction beforeMigrate.sql:2:1", "migration_name beforeMigration.sql",
              "callback_outside_transaction beforeUndo.sql"});
}
