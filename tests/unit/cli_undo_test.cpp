#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "support/fake_context.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

using nlohmann::json;

/// Three migrations, all applied, and U files for two of them. Undo is allowed.
FakeWorld shop() {
  FakeWorld world;
  for (const auto* const script : {"V1__users.sql", "V2__orders.sql", "V3__payments.sql"}) {
    world.add_file(script);
    world.server.add_applied(fake_migration(script));
  }
  world.add_file("U2__orders.sql");
  world.add_file("U3__payments.sql");
  world.environment["LOCKSTEP_UNDO_ENABLED"] = "true";
  return world;
}

}  // namespace

TEST_CASE("undo logs a line for each U file and ends with one sentence") {
  auto world = shop();
  const auto newest = world.run({"undo"});
  CHECK(newest.exit_code == 0);
  CHECK(newest.out == "undid 1 migration in 12 ms: database shop is at version 2\n");
  CHECK(newest.err == "U3__payments.sql … done in 12 ms (1 statement)\n");

  const auto all = world.run({"undo", "--target", "1", "-v", "--log-format", "json"});
  CHECK(all.out == "undid 1 migration in 12 ms: database shop is at version 1\n");
  CHECK(all.err.find("\"message\":\"1 migration to undo\"") != std::string::npos);

  CHECK(world.run({"undo", "--target", "1"}).out == "nothing to undo: database shop is at version 1\n");
}

TEST_CASE("undo is refused where it is not allowed, before anything is read") {
  auto world = shop();
  world.environment.erase("LOCKSTEP_UNDO_ENABLED");
  const auto outcome = world.run({"undo"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err ==
        "error: undo is not allowed here: it runs U files, which take tables and their rows away\n"
        "  hint: Allow it where that is meant with undo.enabled = true in lockstep.toml, or "
        "LOCKSTEP_UNDO_ENABLED=true.\n"
        "  hint: lockstep undo --dry-run shows what it would do.\n");
  CHECK(world.server.log.empty());
}

TEST_CASE("undo --dry-run shows the U files in their order, allowed or not") {
  auto world = shop();
  world.environment.erase("LOCKSTEP_UNDO_ENABLED");
  const auto outcome = world.run({"undo", "--target", "1", "--dry-run"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out ==
        "would undo 2 migrations of database shop:\n"
        "\n"
        "version  description  kind  script\n"
        "3        payments     undo  U3__payments.sql\n"
        "2        orders       undo  U2__orders.sql\n");
  CHECK(world.session->access == Access::read);
  CHECK(world.server.log == std::vector<std::string>{"history"});
  CHECK(world.run({"undo", "--target", "3", "--dry-run"}).out == "nothing to undo in database shop\n");
}

TEST_CASE("undo in JSON has the shape of migrate with a list undone") {
  auto world = shop();
  world.server.failures["U2__orders.sql"] = {.kind = ErrorKind::migration,
                                             .code = "statement_failed",
                                             .message = "cannot drop table orders",
                                             .sqlstate = "2BP01"};
  const auto outcome = world.run({"undo", "--target", "1", "--output", "json"});
  CHECK(outcome.exit_code == 6);
  const auto document = json::parse(outcome.out);
  CHECK(document["ok"] == false);
  CHECK(document["error"]["sqlstate"] == "2BP01");
  REQUIRE(document["undone"].size() == 1);
  CHECK(document["undone"][0] == json{{"version", "3"},
                                      {"description", "payments"},
                                      {"script", "U3__payments.sql"},
                                      {"kind", "undo"},
                                      {"checksum", "sha256:U3__payments.sql"},
                                      {"state", "undone"},
                                      {"duration_ms", 12},
                                      {"statements", 1}});
  CHECK(document["pending"] == 1);
  CHECK(document["lock"]["resource"] == 77);
  CHECK(document["database"] == "shop");
  CHECK(document["duration_ms"] == 12);
}

TEST_CASE("undo says how far it came before an error") {
  auto world = shop();
  world.server.failures["U2__orders.sql"] = {.kind = ErrorKind::migration, .message = "no"};
  const auto outcome = world.run({"undo", "--target", "1"});
  CHECK(outcome.out == "undid 1 of 2 migrations before the error\n");
}

TEST_CASE("undo behind another run that did the same has nothing left to do, and says how long it waited") {
  auto world = shop();
  auto undone = world.server.rows.back();
  undone.state = row_state::undone;
  world.server.held_by_others = {
      {.holder = LockHolder{.pid = 42}, .remaining = Milliseconds{1000}, .leaves = {undone}}};
  const auto outcome = world.run({"undo", "--target", "2"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out ==
        "nothing left to undo after waiting 1.0 s for another run: database shop is at version 2\n");
}

TEST_CASE("undo that does not get the lock in time says how long it waited") {
  auto world = shop();
  world.server.held_by_others = {{.holder = LockHolder{.pid = 42}, .remaining = Milliseconds{60000}}};
  const auto outcome = world.run({"undo", "--lock-wait", "1s", "--output", "json"});
  CHECK(outcome.exit_code == 75);
  const auto document = json::parse(outcome.out);
  CHECK(document["error"]["code"] == "lock_busy");
  CHECK(document["lock"]["waited_ms"] == 1000);
  CHECK(document["undone"].empty());
}

TEST_CASE("info shows what was undone, with the file that did it, and the version as pending") {
  auto world = shop();
  world.run({"undo"});
  const auto document = json::parse(world.run({"info", "--output", "json"}).out);
  std::string states;
  for (const auto& one : document["migrations"])
    states += one["script"].get<std::string>() + " " + one["state"].get<std::string>() + "\n";
  CHECK(states ==
        "V1__users.sql applied\n"
        "V2__orders.sql applied\n"
        "V3__payments.sql pending\n"
        "V3__payments.sql undone\n"
        "U3__payments.sql undone\n");
  CHECK(document["version"] == "2");
}
