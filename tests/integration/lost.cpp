#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <functional>

#include "support/migrating.h"
#include "support/proxy.h"

// What a run says of itself when its connection is lost. What it leaves is looked at elsewhere.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

void wait_for_lock_to_be_free(const TestDatabase& database) {
  wait_until("the dead run's backend to end", [&] {
    return database.psql("select count(*) from pg_catalog.pg_locks where locktype = 'advisory'") == "0";
  });
}

/// The rows of the history that count.
std::string history_of(const TestDatabase& database) {
  if (database.psql("select to_regclass('lockstep_history') is null") == "t") return {};
  return database.psql(
      "select script, checksum, state from lockstep_history where state not in ('running', 'failed')");
}

using CommandOf = std::function<Command(const std::string& url)>;

Fault answer_of(int round_trip) {
  return {.kind = Fault::Kind::cut, .moment = Fault::Moment::after, .round_trip = round_trip};
}

/// Loses the answer of each round trip in turn, in a database of its own that `prepare` has made ready.
/// Calls `check` where the history was changed and the run could not know it. Returns how often.
int lose_each_answer(const std::function<void(const TestDatabase&)>& prepare, const CommandOf& command,
                     const std::function<void(const Outcome&)>& check) {
  int in_doubt = 0;
  bool lost = true;
  for (int trip = 1; lost; ++trip) {
    const TestDatabase database;
    prepare(database);
    const auto before = history_of(database);
    const Proxy proxy(database.server(), {.transport = Transport::unix_socket, .fault = answer_of(trip)});
    const auto outcome = run(unprobed(command(proxy.url(database.name()))));
    lost = proxy.fault_happened();
    wait_for_lock_to_be_free(database);
    INFO("round trip " << trip << ": exit " << outcome.exit_code << "\n" << outcome.err);
    CHECK((outcome.exit_code == 0 || outcome.exit_code == 4 || outcome.exit_code == 7));
    CHECK(outcome.err.find("Mend") == std::string::npos);
    if (outcome.exit_code == 0 || history_of(database) == before) continue;
    ++in_doubt;
    check(outcome);
  }
  return in_doubt;
}

void nothing_before(const TestDatabase&) {}

TEST_CASE("a file outside a transaction whose last record is not answered is said to be in doubt") {
  const MigrationDir files(
      {{"V1__a.sql", "-- lockstep: transaction=off\ncreate table a (i int);\nvacuum a;\n"}});
  const auto in_doubt = lose_each_answer(
      nothing_before, [&](const std::string& url) { return files.migrate(url); },
      [](const Outcome& outcome) {
        CHECK(outcome.exit_code == 4);
        CHECK_THAT(outcome.err, ContainsSubstring("V1__a.sql: ") && ContainsSubstring("not known"));
      });
  CHECK(in_doubt == 1);
}

TEST_CASE("a callback around a file outside a transaction does not hide that the file is in doubt") {
  const MigrationDir files({{"V1__a.sql", "create index concurrently i on t (i);\n"},
                            {"afterEachMigrate.sql", "insert into t values (1);"},
                            {"afterMigrateError.sql", "insert into t values (2);"}});
  const auto in_doubt = lose_each_answer(
      [](const TestDatabase& database) { database.psql("create table t (i int)"); },
      [&](const std::string& url) { return files.migrate(url); },
      [](const Outcome& outcome) {
        CHECK_THAT(outcome.err, ContainsSubstring("V1__a.sql: ") && ContainsSubstring("not known"));
        CHECK_THAT(outcome.err,
                   ContainsSubstring("afterMigrateError.sql failed, too: this file was not begun"));
      });
  CHECK(in_doubt == 1);
}

TEST_CASE("a baseline whose answer is lost is said to be in doubt") {
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  const auto in_doubt = lose_each_answer(
      nothing_before,
      [&](const std::string& url) {
        return lockstep({"baseline", "--version", "1", "--url", url, "--dir", files.path()});
      },
      [](const Outcome& outcome) {
        CHECK(outcome.exit_code == 4);
        CHECK_THAT(outcome.err, ContainsSubstring("not known whether the history was changed"));
      });
  CHECK(in_doubt == 1);
}

TEST_CASE("a repair whose answer is lost is said to be in doubt") {
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  const MigrationDir edited({{"V1__a.sql", "create table a (i int); -- edited"}});
  const auto in_doubt = lose_each_answer(
      [&](const TestDatabase& database) { REQUIRE(run(files.migrate(database.url())).exit_code == 0); },
      [&](const std::string& url) {
        return lockstep({"repair", "--yes", "--url", url, "--dir", edited.path()});
      },
      [](const Outcome& outcome) {
        CHECK(outcome.exit_code == 4);
        CHECK_THAT(outcome.err, ContainsSubstring("not known whether the history was changed"));
      });
  CHECK(in_doubt == 1);
}

TEST_CASE("a clean whose COMMIT is not answered is said to be in doubt") {
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  const auto in_doubt = lose_each_answer(
      [&](const TestDatabase& database) { REQUIRE(run(files.migrate(database.url())).exit_code == 0); },
      [](const std::string& url) {
        const auto database = url.substr(url.find("///") + 3, url.find('?') - url.find("///") - 3);
        auto clean = lockstep({"clean", "--url", url, "--confirm", database});
        clean.env["LOCKSTEP_CLEAN_ENABLED"] = "true";
        return clean;
      },
      [](const Outcome& outcome) {
        CHECK(outcome.exit_code == 4);
        CHECK_THAT(outcome.err, ContainsSubstring("not known whether") && ContainsSubstring("--dry-run"));
      });
  CHECK(in_doubt == 1);
}

TEST_CASE("a session that exit_on_error ends has failed by its statement, not by its connection") {
  const TestDatabase database;
  database.psql("alter database " + database.name() + " set exit_on_error = on");
  const auto directive = GENERATE("", "-- lockstep: transaction=off\n");
  CAPTURE(directive);
  const MigrationDir files(
      {{"V1__a.sql", directive + std::string("create table a (i int);\nselect 1/0;\n")}});
  const auto outcome = run(files.migrate(database.url()));
  INFO(outcome.err);
  const bool transactional = std::string_view(directive).empty();
  CHECK(outcome.exit_code == (transactional ? 6 : 7));
  CHECK_THAT(outcome.err, ContainsSubstring(": division by zero [SQLSTATE 22012]") &&
                              ContainsSubstring("Mend") && !ContainsSubstring("lost"));
  files.write("V1__a.sql", directive + std::string("create table a (i int);\nselect 1/1;\n"));
  CHECK(run(files.migrate(database.url())).exit_code == 0);
}

TEST_CASE("a connection that is lost when all is done and recorded takes nothing away") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table a (i int);"}});
  const Proxy proxy(database.server(),
                    {.transport = Transport::unix_socket,
                     .fault = {.kind = Fault::Kind::cut, .text = "as told"}});  // the release of the lock
  const auto outcome = run(unprobed(files.migrate(proxy.url(database.name()))));
  REQUIRE(proxy.fault_happened());
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(applied_versions(database) == "1");
}

}  // namespace
}  // namespace lockstep::test
