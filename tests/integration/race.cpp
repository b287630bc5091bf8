#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>

#include "support/migrating.h"

namespace lockstep::test {
namespace {

constexpr int racers = 20;

/// Each file leaves a line in `journal`, so that a file that ran twice shows.
MigrationDir journaled_files() {
  return MigrationDir({
      {"V1__journal.sql", "create table journal (script text); insert into journal values ('V1');"},
      {"V2__a.sql", "create table a (i int); insert into journal values ('V2');"},
      {"V3__b.sql", "alter table a add column t text; insert into journal values ('V3');"},
      {"V10__c.sql", "create index on a (i); insert into journal values ('V10');"},
      {"R__view.sql", "create or replace view v as select * from a; insert into journal values ('R');"},
  });
}

void check_all_succeeded(const std::vector<Outcome>& outcomes) {
  for (const auto& outcome : outcomes) {
    INFO(outcome.out << outcome.err);
    CHECK(outcome.exit_code == 0);
  }
}

std::size_t applied_by(const Outcome& outcome) {
  INFO(outcome.out);
  return nlohmann::json::parse(outcome.out).at("applied").size();
}

TEST_CASE("of twenty processes on an empty database one applies every file once, and nobody fails") {
  const TestDatabase database;
  const auto files = journaled_files();
  const auto outcomes = run_at_once(racers, files.migrate(database.url(), {"--output", "json"}));
  check_all_succeeded(outcomes);
  CHECK(database.psql("select string_agg(script, ' ' order by ctid) from journal") == "V1 V2 V3 V10 R");
  CHECK(database.psql("select string_agg(coalesce(version, 'R'), ' ' order by rank) from lockstep_history "
                      "where state = 'applied'") == "1 2 3 10 R");
  CHECK(std::ranges::count_if(outcomes, [](const auto& outcome) { return applied_by(outcome) == 5; }) == 1);
  CHECK(std::ranges::count_if(outcomes, [](const auto& outcome) { return applied_by(outcome) == 0; }) ==
        racers - 1);
  CHECK(database.errors().empty());
  CHECK(database.psql("select count(*) from pg_catalog.pg_locks where locktype = 'advisory'") == "0");
}

TEST_CASE("processes that race on a schema that does not exist yet all succeed") {
  const TestDatabase database;
  const MigrationDir files(
      {{"V1__a.sql", "create table public.a (i int); insert into public.a values (1);"}});
  auto command = files.migrate(database.url());
  command.env["LOCKSTEP_HISTORY_SCHEMA"] = "ops";
  check_all_succeeded(run_at_once(8, command));
  CHECK(database.psql("select count(*) from a") == "1");
  CHECK(database.psql("select count(*) from ops.lockstep_history") == "1");
  CHECK(database.errors().empty());
}

TEST_CASE("a schema for the history that somebody else creates at the same moment is taken as it is") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create table public.a (i int);"}});
  PsqlSession other(database);
  other.run("begin; create schema ops;");
  auto command = files.migrate(database.url());
  command.env["LOCKSTEP_HISTORY_SCHEMA"] = "ops";
  Running waiting(command);
  wait_until("the run to wait for the other's transaction", [&] {
    return database.psql("select count(*) from pg_catalog.pg_stat_activity where wait_event_type = 'Lock'") ==
           "1";
  });
  other.run("commit;");
  check_all_succeeded({waiting.wait()});
  CHECK(database.psql("select count(*) from ops.lockstep_history") == "1");
  CHECK(database.errors().empty());
}

TEST_CASE("the winner builds an index concurrently while nineteen wait") {
  const TestDatabase database;
  const MigrationDir files({{"V1__t.sql", "create table t (i int);"},
                            {"V2__index.sql", "create index concurrently t_i on t (i);"},
                            {"V3__end.sql", "insert into t values (3);"}});
  REQUIRE(run(files.migrate(database.url(), {"--target", "1"})).exit_code == 0);

  PsqlSession writer(database);
  writer.run("begin; insert into t values (1);");
  std::vector<Running> runs;
  for (int i = 0; i < racers; ++i) runs.emplace_back(files.migrate(database.url()));
  wait_until(
      "the build to wait for the writer, and everybody to be there",
      [&] {
        return database.psql(
                   "select count(*) filter (where wait_event_type = 'Lock') = 1 "
                   "and count(distinct application_name) = 20 from pg_catalog.pg_stat_activity "
                   "where datname = current_database() and application_name like 'lockstep migrate%'") == "t";
      },
      60s);
  writer.run("commit;");

  std::vector<Outcome> outcomes;
  for (auto& one : runs) outcomes.push_back(one.wait());
  check_all_succeeded(outcomes);
  CHECK(database.psql("select indisvalid from pg_catalog.pg_index where indexrelid = 't_i'::regclass") ==
        "t");
  CHECK(database.psql("select string_agg(i::text, ' ' order by i) from t") == "1 3");
  CHECK(applied_versions(database) == "1\n2\n3");
  CHECK(database.errors().empty());
}

TEST_CASE("who comes while another run works can wait, fail or skip") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files({{"V1__slow.sql", Gate::knock}});
  Running first(files.migrate(database.url()));
  const int pid = gate.wait_for_knock();

  const auto failed = run(files.migrate(database.url(), {"--on-busy", "fail", "--output", "json"}));
  CHECK(failed.exit_code == 75);
  const auto document = nlohmann::json::parse(failed.out);
  CHECK(document.at("error").at("retry_after_ms").get<int>() > 0);
  CHECK(failed.out.find(std::to_string(pid)) != std::string::npos);

  CHECK(run(files.migrate(database.url(), {"--on-busy", "skip"})).exit_code == 0);

  const auto impatient = run(files.migrate(database.url(), {"--lock-wait", "300ms"}));
  CHECK(impatient.exit_code == 75);
  CHECK(impatient.err.find(std::to_string(pid)) != std::string::npos);

  Running patient(files.migrate(database.url(), {"--lock-wait", "60s"}));
  patient.wait_for_output(std::to_string(pid));
  gate.open();
  CHECK(first.wait().exit_code == 0);
  CHECK(patient.wait().exit_code == 0);
  CHECK(database.psql("select count(*) from gate") == "1");
  CHECK(database.errors().empty());
}

TEST_CASE("of a holder that is another role only that is said which the server shows") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files({{"V1__slow.sql", Gate::knock}});
  Running first(files.migrate(database.url()));
  const int pid = gate.wait_for_knock();
  database.psql("create role onlooker login; grant select on lockstep_history to onlooker");

  const auto busy = run(files.migrate(database.url("onlooker"), {"--on-busy", "fail", "--output", "json"}));
  INFO(busy.out);
  REQUIRE(busy.exit_code == 75);
  const auto held_by = nlohmann::json::parse(busy.out).at("error").at("detail").get<std::string>();
  CHECK(held_by.starts_with("held by pid " + std::to_string(pid) + " (lockstep migrate "));
  CHECK(held_by.ends_with("), user postgres"));
  gate.open();
  CHECK(first.wait().exit_code == 0);
  CHECK(database.psql("revoke all on lockstep_history from onlooker; drop role onlooker").empty());
}

}  // namespace
}  // namespace lockstep::test
