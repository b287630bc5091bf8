#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "support/migrating.h"
#include "support/program.h"
#include "support/test_database.h"

namespace lockstep::test {

TEST_CASE("clean shows, refuses and drops, and migrate begins again from nothing") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table a (id serial primary key);\n"},
                            {"V2__b.sql", "create view b as select id from a;\n"}});
  const auto run = [&](std::vector<std::string> args) {
    auto command = lockstep(std::move(args));
    command.env = {{"LOCKSTEP_URL", database.url()}, {"LOCKSTEP_CLEAN_ENABLED", "true"}};
    return test::run(command);
  };
  CHECK(test::run(files.migrate(database.url())).exit_code == 0);

  const auto shown = run({"clean", "--dry-run"});
  CHECK(shown.exit_code == 0);
  CHECK(shown.out == "would drop 4 objects from schema public of database " + database.name() +
                         ":\n"
                         "\n"
                         "kind      name\n"
                         "sequence  public.a_id_seq\n"
                         "table     public.a\n"
                         "table     public.lockstep_history\n"
                         "view      public.b\n");
  CHECK(run({"clean"}).exit_code == 2);
  CHECK(database.psql("select count(*) from b") == "0");

  const auto dropped = run({"clean", "--confirm", database.name()});
  CHECK(dropped.exit_code == 0);
  CHECK(dropped.err.empty());
  CHECK(dropped.out == "dropped 4 objects from schema public of database " + database.name() + "\n");
  CHECK(database.psql("select count(*) from pg_class where relnamespace = 'public'::regnamespace") == "0");
  CHECK(run({"clean", "--confirm", database.name()}).out ==
        "nothing to drop in schema public of database " + database.name() + "\n");
  CHECK(test::run(files.migrate(database.url())).exit_code == 0);
  CHECK(applied_versions(database) == "1\n2");
  CHECK(database.errors().empty());
}

}  // namespace lockstep::test
