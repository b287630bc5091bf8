#include <catch2/catch_test_macros.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "core/clean.h"
#include "support/fake_context.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

using nlohmann::json;
using Log = std::vector<std::string>;

/// A database with a history, a table and a view. Clean is allowed.
FakeWorld shop() {
  FakeWorld world;
  world.server.add_applied(fake_migration("V1__users.sql"));
  world.server.objects = {{.kind = "table", .name = "public.users"},
                          {.kind = "view", .name = "public.names"}};
  world.environment["LOCKSTEP_CLEAN_ENABLED"] = "true";
  return world;
}

constexpr const char* all_objects =
    "kind   name\n"
    "table  public.lockstep_history\n"
    "table  public.users\n"
    "view   public.names\n";

}  // namespace

TEST_CASE("clean with the database's name drops everything under the lock") {
  auto world = shop();
  const auto outcome = world.run({"clean", "--confirm", "shop"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "dropped 3 objects from schema public of database shop\n");
  CHECK(outcome.err.empty());
  CHECK(world.server.log == Log{"inventory", "try_lock: acquired", "drop_contents", "unlock"});
  CHECK(world.session->access == Access::write);
  CHECK_FALSE(world.server.has_table);
  CHECK(world.run({"clean", "--confirm", "shop"}).out ==
        "nothing to drop in schema public of database shop\n");
}

TEST_CASE("clean is refused where it is not allowed, before anything is read") {
  auto world = shop();
  world.environment.erase("LOCKSTEP_CLEAN_ENABLED");
  const auto outcome = world.run({"clean", "--confirm", "shop"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err ==
        "error: clean is not allowed here: it drops every table with its rows, and there is no way back\n"
        "  hint: Allow it for databases that can be lost, and only for these, with clean.enabled = true in a "
        "section [env.NAME.clean] of lockstep.toml, or LOCKSTEP_CLEAN_ENABLED=true.\n"
        "  hint: lockstep clean --dry-run shows what it would drop.\n");
  CHECK_FALSE(world.session);
}

TEST_CASE("clean --dry-run lists what it would drop, allowed or not") {
  auto world = shop();
  world.environment.erase("LOCKSTEP_CLEAN_ENABLED");
  const auto outcome = world.run({"clean", "--dry-run"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out ==
        std::string("would drop 3 objects from schema public of database shop:\n\n") + all_objects);
  CHECK(world.session->access == Access::read);
  CHECK(world.server.log == Log{"inventory"});
}

TEST_CASE("clean asks for the database's name") {
  auto world = shop();
  SECTION("and goes on when it is typed") {
    world.interactive = true;
    world.input = "shop\n";
    const auto outcome = world.run({"clean"});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err ==
          "This drops 3 objects from schema public of database shop, with all rows. Type the database's name "
          "to "
          "go on: ");
  }
  SECTION("and drops nothing for any other answer") {
    world.interactive = true;
    for (const auto* const answer : {"", "y\n", "Shop\n", "shop2\n"}) {
      world.input = answer;
      const auto outcome = world.run({"clean"});
      CHECK(outcome.exit_code == 1);
      CHECK(outcome.err.ends_with("error: nothing was dropped\n"));
    }
    CHECK(world.server.has_table);
  }
  SECTION("unless nobody can answer") {
    const auto outcome = world.run({"clean"});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err ==
          "error: clean asks for the name of the database before it drops anything, and nobody can answer "
          "here\n"
          "  hint: If database shop can be lost, run it with --confirm shop.\n");
  }
  SECTION("and takes no other database's name") {
    const auto outcome = world.run({"clean", "--confirm", "shop_test"});
    CHECK(outcome.exit_code == 2);
    CHECK(
        outcome.err ==
        "error: --confirm names database shop_test, but this is shop\n"
        "  hint: Nothing was dropped. Look at the connection: lockstep config shows where it comes from.\n");
    CHECK(world.server.has_table);
  }
}

TEST_CASE("clean names what depends on the schema and drops nothing") {
  auto world = shop();
  world.server.dependents = {{.object = "view reports.totals", .on = "table public.users"}};
  for (const auto* const argument : {"--dry-run", "--confirm=shop"}) {
    const auto outcome = world.run({"clean", argument});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err ==
          "error: 1 object elsewhere depends on what would be dropped\n"
          "  detail: view reports.totals depends on table public.users\n"
          "  hint: Nothing was dropped. Drop what is listed first, or add its schema to clean.schemas.\n");
  }
  CHECK(world.server.has_table);
  CHECK(world.server.lock_owner == nullptr);
}

TEST_CASE("clean refuses the server's own schemas") {
  auto world = shop();
  for (const auto* const schema : {"pg_catalog", "app,information_schema", "pg_toast"}) {
    world.environment["LOCKSTEP_CLEAN_SCHEMAS"] = schema;
    const auto outcome = world.run({"clean", "--confirm", "shop"});
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.err.find("belongs to the server\n") != std::string::npos);
  }
  CHECK(world.server.log.empty());
}

TEST_CASE("clean in JSON lists what was dropped, and has the same members when it fails") {
  auto world = shop();
  world.environment["LOCKSTEP_CLEAN_SCHEMAS"] = "public,app";
  const auto failed = json::parse(world.run({"clean", "--output", "json"}).out);
  CHECK(failed["error"]["code"] == "confirmation_needed");
  CHECK(failed["cleaned"] == false);
  CHECK(failed["objects"].size() == 3);

  const auto document = json::parse(world.run({"clean", "--confirm", "shop", "--output", "json"}).out);
  CHECK(document["ok"] == true);
  CHECK(document["database"] == "shop");
  CHECK(document["schemas"] == json{"public", "app"});
  CHECK(document["cleaned"] == true);
  CHECK(document["objects"][1] == json{{"kind", "table"}, {"name", "public.users"}});
}

TEST_CASE("clean waits for the lock as migrate does") {
  auto world = shop();
  world.server.held_by_others = {{.holder = LockHolder{.pid = 42}, .remaining = Milliseconds{1000}}};
  CHECK(world.run({"clean", "--confirm", "shop", "--on-busy", "skip"}).exit_code == 75);
  CHECK(world.server.has_table);
  CHECK(world.run({"clean", "--confirm", "shop"}).exit_code == 0);
}

TEST_CASE("clean warns of a schema that is not there, and drops what is in the others") {
  auto world = shop();
  world.server.missing_schemas = {"audit"};
  const auto outcome = world.run({"clean", "--confirm", "shop"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err == "warning: there is no schema audit, so nothing to drop in it\n");
}

TEST_CASE("of very many dependents the first hundred are named") {
  Inventory inventory;
  for (int i = 0; i < 150; ++i)
    inventory.dependents.push_back({.object = "view v" + std::to_string(i), .on = "table t"});
  try {
    refuse_dependents(inventory);
    FAIL("it did not fail");
  } catch (const Failure& failure) {
    CHECK(failure.error().detail.ends_with("view v99 depends on table t\nand 50 more"));
  }
}
