#include "core/plan.h"

#include <catch2/catch_test_macros.hpp>

#include "support/fake_database.h"

namespace lockstep::test {
namespace {

using Files = std::vector<Migration>;
using Rows = std::vector<HistoryRow>;

Files files(std::initializer_list<std::string_view> scripts) {
  Files list;
  for (const auto script : scripts) list.push_back(fake_migration(script));
  return list;
}

Rows applied(const Files& list) {
  Rows rows;
  for (const auto& file : list) rows.push_back(fake_row(file, static_cast<std::int64_t>(rows.size()) + 1));
  return rows;
}

/// "V1__a.sql applied", one line an entry, in the plan's order.
std::string states(const Plan& plan) {
  std::string text;
  for (const auto& entry : plan.entries) {
    text += (text.empty() ? "" : ", ") + entry.script() + " " + std::string(to_string(entry.state));
  }
  return text;
}

std::string steps(const Plan& plan) {
  std::string text;
  for (const auto& step : plan.steps) text += (text.empty() ? "" : ", ") + step.migration.script;
  return text;
}

std::string problems(const Plan& plan) {
  std::string text;
  for (const auto& problem : plan.problems) text += (text.empty() ? "" : ", ") + problem.code;
  return text;
}

HistoryRow baseline_row(std::string_view version) {
  return {.rank = 1,
          .version = Version::parse(version),
          .description = "baseline",
          .kind = "baseline",
          .state = "applied"};
}

}  // namespace

TEST_CASE("on an empty history every file is pending, versions by number before repeatables by description") {
  const auto local =
      files({"R__b.sql", "V10__ten.sql", "R__a.sql", "V9__nine.sql", "V1.10__x.sql", "V1.9__y.sql"});
  const auto plan = make_plan(local, {}, {});
  CHECK(steps(plan) == "V1.9__y.sql, V1.10__x.sql, V9__nine.sql, V10__ten.sql, R__a.sql, R__b.sql");
  CHECK(plan.problems.empty());
  CHECK(plan.highest_rank == 0);
}

TEST_CASE("nothing is to be done when everything is applied") {
  const auto local = files({"V1__a.sql", "R__r.sql"});
  const auto plan = make_plan(local, applied(local), {});
  CHECK(states(plan) == "V1__a.sql applied, R__r.sql applied");
  CHECK(plan.steps.empty());
  CHECK(plan.problems.empty());
  CHECK(plan.highest_rank == 2);
}

TEST_CASE("versions that are equal as numbers are the same migration") {
  const auto local = files({"V001.0__a.sql"});
  auto rows = applied(local);
  rows[0].version = Version::parse("1");
  CHECK(states(make_plan(local, rows, {})) == "V001.0__a.sql applied");
}

TEST_CASE("an edited file stops the run, with both checksums in the message") {
  auto local = files({"V1__a.sql", "V2__b.sql"});
  const auto rows = applied({local[0]});
  local[0].checksum = "sha256:edited";
  const auto plan = make_plan(local, rows, {});
  CHECK(problems(plan) == "checksum_changed");
  CHECK(plan.problems[0].detail.find("sha256:V1__a.sql") != std::string::npos);
  CHECK(plan.problems[0].detail.find("sha256:edited") != std::string::npos);
  CHECK(plan.problems[0].where->file == "migrations/V1__a.sql");
}

TEST_CASE("a renamed file stops the run") {
  const auto rows = applied(files({"V2__b.sql"}));
  auto renamed = files({"V2__renamed.sql"});
  renamed[0].checksum = rows[0].checksum;
  CHECK(problems(make_plan(renamed, rows, {})) == "description_changed");
}

TEST_CASE("a file that is gone stops the run") {
  const auto rows = applied(files({"V1__a.sql", "V2__b.sql"}));
  const auto local = files({"V2__b.sql"});
  const auto plan = make_plan(local, rows, {});
  CHECK(problems(plan) == "file_missing");
  CHECK(states(plan) == "V1__a.sql missing, V2__b.sql applied");
}

TEST_CASE("all problems are reported, not the first one") {
  const auto rows = applied(files({"V1__a.sql", "V2__b.sql", "V4__d.sql"}));
  auto local = files({"V2__b.sql", "V3__c.sql", "V4__d.sql"});
  local[0].checksum = "sha256:edited";
  CHECK(problems(make_plan(local, rows, {})) == "checksum_changed, out_of_order, file_missing");
}

TEST_CASE("a version below the newest applied one is an error unless it is allowed") {
  const auto rows = applied(files({"V1__a.sql", "V3__c.sql"}));
  const auto local = files({"V1__a.sql", "V2__b.sql", "V3__c.sql"});
  const auto refused = make_plan(local, rows, {});
  CHECK(problems(refused) == "out_of_order");
  CHECK(steps(refused).empty());

  const auto allowed = make_plan(local, rows, {.out_of_order = OutOfOrder::allow});
  CHECK(allowed.problems.empty());
  CHECK(steps(allowed) == "V2__b.sql");
  CHECK(states(allowed) == "V1__a.sql applied, V2__b.sql out_of_order, V3__c.sql applied");
}

TEST_CASE("a database that a later release has migrated is no problem for an older one") {
  const auto rows = applied(files({"V1__a.sql", "V2__b.sql", "R__r.sql"}));
  auto older = files({"V1__a.sql", "R__r.sql", "R__only_here.sql"});
  older[1].checksum = "sha256:older";
  const auto plan = make_plan(older, rows, {});
  CHECK(plan.newer_than_files());
  CHECK(plan.problems.empty());
  CHECK(steps(plan).empty());
  CHECK(states(plan) == "V1__a.sql applied, V2__b.sql newer, R__only_here.sql newer, R__r.sql newer");
}

TEST_CASE("no files at all against a history is a wrong directory, not a newer database") {
  const auto plan = make_plan({}, applied(files({"V1__a.sql"})), {});
  CHECK(problems(plan) == "no_migrations");
}

TEST_CASE("a repeatable runs again when its file changed, after the versions") {
  auto local = files({"V1__a.sql", "V2__b.sql", "R__r.sql"});
  const auto rows = applied({local[0], local[2]});
  local[2].checksum = "sha256:edited";
  const auto plan = make_plan(local, rows, {});
  CHECK(plan.problems.empty());
  CHECK(steps(plan) == "V2__b.sql, R__r.sql");
  CHECK(states(plan) == "V1__a.sql applied, V2__b.sql pending, R__r.sql outdated");
}

TEST_CASE("of a repeatable that ran several times the last run counts") {
  auto local = files({"R__r.sql"});
  auto rows = applied({local[0], local[0]});
  rows[0].checksum = "sha256:first";
  CHECK(states(make_plan(local, rows, {})) == "R__r.sql applied");
  rows[1].checksum = "sha256:second";
  CHECK(states(make_plan(local, rows, {})) == "R__r.sql outdated");
}

TEST_CASE("a repeatable whose file is gone is shown, but stops nothing") {
  const auto rows = applied(files({"V1__a.sql", "R__gone.sql"}));
  const auto local = files({"V1__a.sql"});
  const auto plan = make_plan(local, rows, {});
  CHECK(states(plan) == "V1__a.sql applied, R__gone.sql missing");
  CHECK(plan.problems.empty());
}

TEST_CASE("a target stops the run after it, and keeps repeatables for the full run") {
  const auto local = files({"V1__a.sql", "V2__b.sql", "V3__c.sql", "R__r.sql"});
  const auto plan = make_plan(local, {}, {.target = Version::parse("2.0")});
  CHECK(steps(plan) == "V1__a.sql, V2__b.sql");
  CHECK(states(plan) ==
        "V1__a.sql pending, V2__b.sql pending, V3__c.sql above_target, R__r.sql above_target");
}

TEST_CASE("nothing up to a declared baseline runs") {
  const auto local = files({"V1__a.sql", "V2__b.sql", "V3__c.sql"});
  const auto plan = make_plan(local, {baseline_row("2")}, {});
  CHECK(steps(plan) == "V3__c.sql");
  CHECK(states(plan) == "V1__a.sql below_baseline, V2__b.sql below_baseline,  baseline, V3__c.sql pending");
  CHECK(plan.problems.empty());
}

TEST_CASE("a new history begins with the highest baseline file that the target allows") {
  const auto local =
      files({"B2__two.sql", "B5__five.sql", "V1__a.sql", "V2__b.sql", "V3__c.sql", "V5__e.sql", "V6__f.sql"});
  CHECK(steps(make_plan(local, {}, {})) == "B5__five.sql, V6__f.sql");
  CHECK(steps(make_plan(local, {}, {.target = Version::parse("4")})) == "B2__two.sql, V3__c.sql");
}

TEST_CASE("a baseline file is left alone when the history has begun without it") {
  const auto local = files({"B2__two.sql", "V1__a.sql", "V2__b.sql"});
  const auto plan = make_plan(local, applied({local[1]}), {});
  CHECK(steps(plan) == "V2__b.sql");
  CHECK(states(plan) == "V1__a.sql applied, B2__two.sql ignored, V2__b.sql pending");
}

TEST_CASE("an applied baseline file is checked like any other") {
  auto local = files({"B2__two.sql", "V1__a.sql", "V3__c.sql"});
  const auto rows = applied({local[0]});
  CHECK(states(make_plan(local, rows, {})) ==
        "V1__a.sql below_baseline, B2__two.sql baseline, V3__c.sql pending");
  local[0].checksum = "sha256:edited";
  CHECK(problems(make_plan(local, rows, {})) == "checksum_changed");
}

TEST_CASE("a migration that stopped part-way is resumed, also when its file was mended") {
  auto local = files({"V1__a.sql", "V2__index.sql", "V3__c.sql"});
  auto rows = applied({local[0], local[1]});
  rows[1].state = row_state::failed;
  rows[1].statements_done = 3;
  local[1].checksum = "sha256:mended";
  const auto plan = make_plan(local, rows, {});
  CHECK(plan.problems.empty());
  CHECK(steps(plan) == "V2__index.sql, V3__c.sql");
  REQUIRE(plan.steps[0].resumes);
  CHECK(plan.steps[0].resumes->rank == 2);
  CHECK(plan.steps[0].resumes->statements_done == 3);
  CHECK(states(plan) == "V1__a.sql applied, V2__index.sql failed, V3__c.sql pending");
}

TEST_CASE("a migration that stopped part-way above the target is not resumed") {
  const auto local = files({"V1__a.sql", "V2__index.sql"});
  auto rows = applied(local);
  for (const auto state : {row_state::failed, row_state::running}) {
    rows[1].state = state;
    const auto plan = make_plan(local, rows, {.target = Version::parse("1")});
    CHECK(steps(plan).empty());
    CHECK(states(plan) == "V1__a.sql applied, V2__index.sql " + std::string(state));
  }
}

TEST_CASE("a repeatable that was marked as deleted is gone, however often it had run") {
  const auto local = files({"V1__a.sql", "R__v.sql"});
  auto rows = applied({local[0], local[1], local[1]});
  rows[1].checksum = "sha256:older";
  rows[2].state = row_state::deleted;
  CHECK(states(make_plan({local[0]}, rows, {})) == "V1__a.sql applied, R__v.sql deleted");

  rows[1].checksum = local[1].checksum;
  CHECK(steps(make_plan(local, rows, {})) == "R__v.sql");
}

TEST_CASE("a row marked as deleted or undone stays in view, and its version can be applied anew") {
  const auto local = files({"V1__a.sql"});
  auto rows = applied(local);
  for (const auto state : {row_state::deleted, row_state::undone}) {
    rows[0].state = state;
    const auto plan = make_plan(local, rows, {});
    CHECK(steps(plan) == "V1__a.sql");
    CHECK(states(plan) == "V1__a.sql pending, V1__a.sql " + std::string(state));
  }
}

}  // namespace lockstep::test
