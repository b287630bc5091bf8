#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/migrating.h"
#include "test_paths.h"

// Histories of older and newer releases (docs/history-table.md#formats). A fixture of tests/cases/history is
// a database as a release of that format has left it, with a file that stopped part-way.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Arguments = std::vector<std::string>;

const std::string cases = LOCKSTEP_TESTS_DIR "/cases/history/";
constexpr const char* current_index = "lockstep_history_format_2";
constexpr const char* index_query =
    "select relname from pg_class join pg_index on oid = indexrelid"
    " where indrelid = 'lockstep_history'::regclass and not indisprimary";
constexpr const char* lock_count = "select count(*) from pg_locks where locktype = 'advisory'";

void load(const TestDatabase& database, const std::string& fixture) {
  database.psql(read_file(cases + fixture));
}

Command command_of(const std::string& url, Arguments arguments) {
  arguments.insert(arguments.end(), {"--url", url, "--dir", cases + "files"});
  auto command = lockstep(std::move(arguments));
  command.env["LOCKSTEP_UNDO_ENABLED"] = "true";
  return command;
}

Outcome run_on(const TestDatabase& database, const Arguments& arguments) {
  return run(command_of(database.url(), arguments));
}

/// The history as it is: its columns, its index, every row and who wrote it when.
std::string trace(const TestDatabase& database) {
  return database.psql(
      "select attname from pg_attribute where attrelid = 'lockstep_history'::regclass and attnum > 0 order "
      "by attnum;"
      "select xmin, h from lockstep_history as h order by rank;" +
      std::string(index_query));
}

/// What stopped the file of the fixture.
void mend(const TestDatabase& database) {
  database.psql("update orders set number = 12 where day = '2026-01-01'");
}

void name_index(const TestDatabase& database, const std::string& name) {
  database.psql("alter index lockstep_history_format_2 rename to \"" + name + "\"");
}

/// What a release to come may make of it.
void make_newer(const TestDatabase& database) {
  name_index(database, "lockstep_history_format_3");
  database.psql("update lockstep_history set tool_version = '0.9.0'");
}

}  // namespace

TEST_CASE("commands that read understand the history of every format and write nothing") {
  const std::string fixture = GENERATE("format-1.sql", "format-2.sql");
  const Arguments arguments = GENERATE(Arguments{"info"}, Arguments{"plan"}, Arguments{"validate"});
  const TestDatabase database;
  load(database, fixture);
  const auto before = trace(database);
  const auto outcome = run_on(database, arguments);
  INFO(fixture << " " << arguments[0] << "\n" << outcome.out << outcome.err);
  CHECK(outcome.exit_code == (arguments[0] == "validate" ? 3 : 0));
  CHECK_THAT(outcome.out + outcome.err, ContainsSubstring("indexes"));
  CHECK(trace(database) == before);
  CHECK(database.errors().empty());
}

TEST_CASE("a history of an older format is upgraded by the run that goes on with it, once") {
  const std::string fixture = GENERATE("format-1.sql", "format-2.sql");
  const bool older = fixture == "format-1.sql";
  const TestDatabase database;
  load(database, fixture);
  mend(database);
  const auto first = run_on(database, {"migrate"});
  INFO(first.err);
  CHECK(first.exit_code == 0);
  CHECK((first.err.find("the history table had format 1: it was brought to format 2") != std::string::npos) ==
        older);
  CHECK(
      database.psql("select string_agg(script || ' ' || state, ', ' order by rank) from lockstep_history") ==
      "V0.5__forgotten.sql deleted, V1__customers.sql applied, V2__orders.sql undone, U2__orders.sql undone, "
      "V2__orders.sql applied, V3__indexes.sql applied, V4__vouchers.sql applied, R__totals.sql applied");
  CHECK(database.psql("select statements_done from lockstep_history where version = '3'") == "3");
  CHECK(database.psql(index_query) == current_index);

  const auto settled = trace(database);
  const auto second = run_on(database, {"migrate"});
  CHECK_THAT(second.out + second.err, ContainsSubstring("nothing to do") && !ContainsSubstring("format"));
  CHECK(trace(database) == settled);
}

TEST_CASE("undo and repair upgrade a history as well, and a run with nothing to do does not") {
  const TestDatabase database;
  load(database, "format-1.sql");
  database.psql("delete from lockstep_history where version = '3'");

  SECTION("undo") {
    const auto outcome = run_on(database, {"undo"});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.err, ContainsSubstring("it was brought to format 2"));
    CHECK(database.psql("select to_regclass('orders') is null") == "t");
    CHECK(database.psql(index_query) == current_index);
  }
  SECTION("repair") {
    database.psql("update lockstep_history set checksum = 'sha256:0' where version = '1'");
    const auto outcome = run_on(database, {"repair", "--yes"});
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    CHECK_THAT(outcome.err, ContainsSubstring("it was brought to format 2"));
    CHECK(database.psql(index_query) == current_index);
  }
  SECTION("nothing to do") {
    const MigrationDir files({{"V1__customers.sql", read_file(cases + "files/V1__customers.sql")},
                              {"V2__orders.sql", read_file(cases + "files/V2__orders.sql")}});
    const auto before = trace(database);
    CHECK(run(files.migrate(database.url())).exit_code == 0);
    CHECK(trace(database) == before);
  }
}

TEST_CASE("a role that does not own an older history is told what its owner has to run") {
  const TestDatabase database;
  load(database, "format-1.sql");
  mend(database);
  database.psql(
      "create role app_deploy login; grant usage, create on schema public to app_deploy;"
      "grant select, insert, update on lockstep_history to app_deploy; grant app_deploy to postgres;"
      "alter table orders owner to app_deploy; alter table customers owner to app_deploy");
  const auto migrate = command_of(database.url("app_deploy"), {"migrate"});
  const auto before = trace(database);
  const auto refused = run(migrate);
  INFO(refused.err);
  CHECK(refused.exit_code == 6);
  CHECK_THAT(refused.err, ContainsSubstring("from format 1 to format 2") && ContainsSubstring("42501"));
  CHECK(trace(database) == before);
  CHECK(database.psql(lock_count) == "0");

  const auto begin = refused.err.find("alter table"), end = refused.err.rfind("Then migrate again");
  REQUIRE(begin < end);
  database.psql(refused.err.substr(begin, end - begin));
  CHECK(run(migrate).exit_code == 0);
  CHECK(database.psql(index_query) == current_index);
  database.psql("drop owned by app_deploy; drop role app_deploy");
}

TEST_CASE("a history that is in use is not waited for longer than lock_timeout") {
  const TestDatabase database;
  load(database, "format-1.sql");
  mend(database);
  PsqlSession reader(database);
  reader.run("begin; select count(*) from lockstep_history;");
  auto migrate = command_of(database.url(), {"migrate"});
  migrate.env["LOCKSTEP_MIGRATE_LOCK_TIMEOUT"] = "200ms";
  const auto refused = run(migrate);
  INFO(refused.err);
  CHECK(refused.exit_code == 6);
  CHECK_THAT(refused.err, ContainsSubstring("55P03") && ContainsSubstring("still open"));
  reader.run("commit;");
  CHECK(run(migrate).exit_code == 0);
}

TEST_CASE("of many runs that begin on an older history one upgrades it, and all end well") {
  const TestDatabase database;
  load(database, "format-1.sql");
  mend(database);
  int upgrades = 0;
  for (const auto& outcome : run_at_once(8, command_of(database.url(), {"migrate"}))) {
    INFO(outcome.err);
    CHECK(outcome.exit_code == 0);
    if (outcome.err.find("it was brought to format 2") != std::string::npos) ++upgrades;
  }
  CHECK(upgrades == 1);
  CHECK(database.errors().empty());
}

TEST_CASE("a history of a newer format is refused by every command, and nothing is written") {
  const Arguments arguments =
      GENERATE(Arguments{"migrate"}, Arguments{"info"}, Arguments{"validate"}, Arguments{"plan"},
               Arguments{"repair", "--yes"}, Arguments{"undo"}, Arguments{"baseline", "--version", "1"});
  const TestDatabase database;
  load(database, "format-2.sql");
  mend(database);
  make_newer(database);
  const auto before = trace(database);
  auto with_json = arguments;
  with_json.insert(with_json.end(), {"--output", "json"});
  const auto outcome = run_on(database, with_json);
  INFO(arguments[0] << "\n" << outcome.out << outcome.err);
  CHECK(outcome.exit_code == 5);
  const auto error = nlohmann::json::parse(outcome.out).at("error");
  CHECK(error.at("code") == "history_newer");
  CHECK(
      error.at("message") ==
      "the history table public.lockstep_history has format 3, and this lockstep (0.1.0) knows none above 2");
  CHECK(error.at("detail") == "its newest row was written by lockstep 0.9.0");
  CHECK_THAT(error.at("hint").get<std::string>(),
             ContainsSubstring("Use the release of lockstep that upgraded"));
  CHECK(trace(database) == before);
}

TEST_CASE("a run that waits while a newer release upgrades the history refuses it, and leaves the lock") {
  const TestDatabase database;
  load(database, "format-2.sql");
  mend(database);
  const bool renames = GENERATE(false, true);
  PsqlSession newer(database);
  newer.run("select pg_advisory_lock(1280262987, -507739328);");
  Running waiting(command_of(database.url(), {"migrate"}));
  waiting.wait_for_output("waiting");
  make_newer(database);
  if (renames) database.psql("alter table lockstep_history rename column kind to sort");
  newer.run("select pg_advisory_unlock_all();");
  const auto outcome = waiting.wait();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 5);
  CHECK_THAT(outcome.err, ContainsSubstring("has format 3"));
  CHECK(database.psql(lock_count) == "0");
  CHECK(database.psql("select statements_done from lockstep_history where version = '3'") == "1");
}

TEST_CASE("a history whose index has another name is told by its columns") {
  const TestDatabase database;
  load(database, "format-2.sql");
  mend(database);
  name_index(database, "made by hand");
  const auto outcome = run_on(database, {"migrate"});
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, !ContainsSubstring("brought to format"));
  CHECK(database.psql(index_query) == "made by hand");
}

namespace {

/// Applies files until the given version, with a history of that name.
Outcome migrate_to(const std::string& version, const TestDatabase& database, const std::string& table) {
  const MigrationDir files({{"V1__a.sql", "select 1;\n"}, {"V2__b.sql", "select 2;\n"}});
  auto command = files.migrate(database.url(), {"--target", version});
  command.env["LOCKSTEP_HISTORY_TABLE"] = table;
  return run(command);
}

/// Of the history of that name.
std::string unique_index(const TestDatabase& database, const std::string& table) {
  return database.psql(
      "select relname from pg_class join pg_index on oid = indexrelid where not indisprimary and indrelid = "
      "'public.\"" +
      table + "\"'::regclass");
}

}  // namespace

TEST_CASE("a new history says which format it has, however long its name is") {
  const std::string name = GENERATE(
      std::string("lockstep_history"), std::string(54, 'h'), std::string(55, 'h'), std::string(63, 'h'),
      "h" + std::string(53, 'x') + "\u00e9\u00e9", std::string(44, 'x') + "\u20ac\u20ac\u20ac\u20ac\u20ac");
  const TestDatabase database;
  REQUIRE(migrate_to("1", database, name).exit_code == 0);
  CHECK(migrate_to("2", database, name).exit_code == 0);
  const auto index = unique_index(database, name);
  CAPTURE(index);
  CHECK_THAT(index, EndsWith("_format_2"));
  if (name.size() <= 54) CHECK(index == name + "_format_2");
  CHECK(database.errors().empty());
}

TEST_CASE("histories whose long names begin alike live in one schema") {
  const std::string begin = GENERATE(std::string(54, 'h'), std::string(61, 'h'),
                                     std::string(43, 'x') + "\u20ac\u20ac\u20ac\u20ac\u20ac\u20ac");
  const TestDatabase database;
  for (const auto* const version : {"1", "2"}) {
    for (const auto* const end : {"a", "b"}) {
      const auto outcome = migrate_to(version, database, begin + end);
      INFO(begin << end << " to version " << version << "\n" << outcome.err);
      CHECK(outcome.exit_code == 0);
      CHECK(database.psql("select count(*) from \"" + begin + end + "\"") == version);
    }
  }
  CHECK_FALSE(unique_index(database, begin + "a") == unique_index(database, begin + "b"));
  CHECK(database.errors().empty());
}

TEST_CASE("a history with a long name goes on where an earlier release has cut the name of its index") {
  const std::string name(63, 'h');
  const auto cut = std::string(54, 'h') + "_format_2";
  const TestDatabase database;
  REQUIRE(migrate_to("1", database, name).exit_code == 0);
  database.psql("alter index \"" + unique_index(database, name) + "\" rename to \"" + cut + "\"");
  const auto outcome = migrate_to("2", database, name);
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.err, !ContainsSubstring("brought to format"));
  CHECK(unique_index(database, name) == cut);
  CHECK(migrate_to("2", database, std::string(62, 'h') + "i").exit_code == 0);
}

}  // namespace lockstep::test
