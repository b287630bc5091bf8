#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <map>
#include <memory>
#include <string>

#include "core/checksum.h"
#include "support/fake_database.h"
#include "support/postgres_lab.h"

// One suite for the fake and the real Database, so that the fake, on which the unit tests stand, cannot
// drift.

namespace lockstep::test {
namespace {

/// A fake server with the same verbs as PostgresLab.
class FakeLab {
 public:
  std::unique_ptr<Database> open() { return std::make_unique<FakeDatabase>(server_); }
  bool has_table() const { return server_.has_table; }

  Migration works(std::string_view script) { return fake_migration(script); }

  Migration fails(std::string_view script) {
    server_.failures[std::string(script)] = {
        .kind = ErrorKind::migration, .message = "division by zero", .sqlstate = "22012"};
    return fake_migration(script);
  }

  Migration mended(const Migration& failing) {
    server_.failures.erase(failing.script);
    return failing;
  }

  Migration drops_lock(std::string_view script) {
    server_.lock_droppers.emplace(script);
    return fake_migration(script);
  }

  void add_table(std::string_view name) {
    server_.objects.push_back({.kind = "table", .name = "public." + std::string(name)});
  }

 private:
  FakeServer server_;
};

Migration outside_transaction(Migration migration) {
  migration.transaction = TransactionMode::off;
  return migration;
}

std::string code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.error().code;
  }
  return "no failure";
}

std::unique_ptr<Database> locked(auto& lab) {
  auto database = lab.open();
  REQUIRE(database->try_lock().acquired);
  database->prepare_history();
  return database;
}

}  // namespace

TEMPLATE_TEST_CASE("reading the history of a new database makes no table", "", FakeLab, PostgresLab) {
  TestType lab;
  const auto database = lab.open();
  CHECK(database->history().empty());
  CHECK(database->try_lock().history.empty());
  CHECK_FALSE(lab.has_table());
}

TEMPLATE_TEST_CASE("only one session holds the lock, until it unlocks or ends", "", FakeLab, PostgresLab) {
  TestType lab;
  auto first = lab.open();
  const auto second = lab.open();
  CHECK(first->try_lock().acquired);
  CHECK_FALSE(second->try_lock().acquired);
  first->unlock();
  CHECK(second->try_lock().acquired);
  CHECK_FALSE(first->try_lock().acquired);
  second->unlock();
  CHECK(first->try_lock().acquired);
}

TEMPLATE_TEST_CASE("unlocking a lock that is not held is an error", "", FakeLab, PostgresLab) {
  TestType lab;
  const auto database = lab.open();
  CHECK(code_of([&] { database->unlock(); }) == "lock_lost");
}

TEMPLATE_TEST_CASE("an applied migration is recorded with what its file says", "", FakeLab, PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  const auto file = lab.works("V1.2__add_orders.sql");
  const auto applied = database->apply({.migration = file}, 0, {});
  CHECK(applied.rank == 1);
  CHECK(applied.statements == 1);

  const auto history = database->history();
  REQUIRE(history.size() == 1);
  CHECK(history[0].rank == 1);
  CHECK(history[0].version->text() == "1.2");
  CHECK(history[0].description == "add orders");
  CHECK(history[0].kind == "versioned");
  CHECK(history[0].script == "V1.2__add_orders.sql");
  CHECK(history[0].checksum == file.checksum);
  CHECK(history[0].state == "applied");
  CHECK(history[0].statements_done == 1);
}

TEMPLATE_TEST_CASE("the history in outline is the history, by rank, with what a plan needs", "", FakeLab,
                   PostgresLab) {
  TestType lab;
  CHECK(lab.open()->history_outline().empty());
  const auto database = locked(lab);
  database->apply({.migration = lab.works("V2__b.sql")}, 0, {});
  database->apply({.migration = lab.works("R__views.sql")}, 1, {});
  database->apply({.migration = lab.works("V10__c.sql")}, 2, {});
  // A changed row is stored behind the others.
  database->repair({{.action = RowChange::Action::mark_deleted, .rank = 1}}, 3);

  const auto outline = database->history_outline();
  const auto history = database->history();
  REQUIRE(outline.size() == 3);
  REQUIRE(history.size() == 3);
  for (std::size_t i = 0; i < history.size(); ++i) {
    CHECK(outline[i].rank == static_cast<std::int64_t>(i + 1));
    CHECK(history[i].rank == outline[i].rank);
    CHECK(outline[i].version == history[i].version);
    CHECK(outline[i].description == history[i].description);
    CHECK(outline[i].kind == history[i].kind);
    CHECK(outline[i].checksum == history[i].checksum);
    CHECK(outline[i].state == history[i].state);
  }
  CHECK(outline[0].state == "deleted");
  CHECK(history[0].script == "V2__b.sql");
}

TEMPLATE_TEST_CASE("a failed transactional migration leaves no row and does not block the next one", "",
                   FakeLab, PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  CHECK_THROWS_AS(database->apply({.migration = lab.fails("V1__bad.sql")}, 0, {}), Failure);
  CHECK(database->history().empty());
  CHECK(database->apply({.migration = lab.works("V2__good.sql")}, 0, {}).rank == 1);
}

TEMPLATE_TEST_CASE("a migration is refused when the history is not the one that the plan was made from", "",
                   FakeLab, PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  database->apply({.migration = lab.works("V1__a.sql")}, 0, {});
  CHECK(code_of([&] { database->apply({.migration = lab.works("V2__b.sql")}, 0, {}); }) == "history_changed");
  CHECK(database->history().size() == 1);
}

TEMPLATE_TEST_CASE("a migration that drops the lock is not recorded", "", FakeLab, PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  CHECK(code_of([&] { database->apply({.migration = lab.drops_lock("V1__drop.sql")}, 0, {}); }) ==
        "lock_lost");
  CHECK(database->history().empty());
}

TEMPLATE_TEST_CASE("a failed non-transactional migration leaves a row, and the next run ends it", "", FakeLab,
                   PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  const auto file = outside_transaction(lab.fails("V1__index.sql"));
  try {
    database->apply({.migration = file}, 0, {});
    FAIL("it did not fail");
  } catch (const Failure& failure) {
    CHECK(failure.error().kind == ErrorKind::part_way);
  }
  auto history = database->history();
  REQUIRE(history.size() == 1);
  CHECK(history[0].state == "failed");

  const auto mended = outside_transaction(lab.mended(file));
  CHECK(database->apply({.migration = mended, .resumes = history[0]}, 1, {}).rank == 1);
  history = database->history();
  REQUIRE(history.size() == 1);
  CHECK(history[0].state == "applied");
}

TEMPLATE_TEST_CASE("an undo marks the row that it takes back, and leaves one of its own", "", FakeLab,
                   PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  const auto file = lab.works("V1__a.sql");
  database->apply({.migration = file}, 0, {});
  const auto row = database->history()[0];
  const auto undo = lab.works("U1__a.sql");
  CHECK(code_of([&] { database->apply({.migration = undo, .undoes = row}, 0, {}); }) == "history_changed");
  CHECK(database->history()[0].state == "applied");

  CHECK(database->apply({.migration = undo, .undoes = row}, 1, {}).rank == 2);
  const auto history = database->history();
  REQUIRE(history.size() == 2);
  CHECK(history[0].state == "undone");
  CHECK(history[0].kind == "versioned");
  CHECK(history[0].checksum == file.checksum);
  CHECK(history[1].state == "undone");
  CHECK(history[1].kind == "undo");
  CHECK(history[1].version->text() == "1");
  CHECK(history[1].script == "U1__a.sql");
  CHECK(history[1].checksum == undo.checksum);
  CHECK(history[1].statements_done == 1);
  CHECK(database->apply({.migration = file}, 2, {}).rank == 3);
}

TEMPLATE_TEST_CASE("an undo that fails takes nothing back", "", FakeLab, PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  database->apply({.migration = lab.works("V1__a.sql")}, 0, {});
  const auto row = database->history()[0];
  CHECK_THROWS_AS(database->apply({.migration = lab.fails("U1__a.sql"), .undoes = row}, 1, {}), Failure);
  REQUIRE(database->history().size() == 1);
  CHECK(database->history()[0].state == "applied");
}

TEMPLATE_TEST_CASE("a baseline is recorded as applied, without a checksum", "", FakeLab, PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  database->record_baseline(*Version::parse("7"), "before lockstep", 0);
  const auto history = database->history();
  REQUIRE(history.size() == 1);
  CHECK(history[0].kind == "baseline");
  CHECK(history[0].version->text() == "7");
  CHECK(history[0].description == "before lockstep");
  CHECK(history[0].checksum.empty());
  CHECK(history[0].state == "applied");
}

TEMPLATE_TEST_CASE("repair changes rows only behind the fence", "", FakeLab, PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  database->apply({.migration = lab.works("V1__a.sql")}, 0, {});
  database->apply({.migration = lab.works("V2__b.sql")}, 1, {});
  const std::vector<RowChange> changes{{.action = RowChange::Action::align,
                                        .rank = 1,
                                        .checksum = "sha256:new",
                                        .description = "new",
                                        .script = "V1__new.sql"},
                                       {.action = RowChange::Action::mark_deleted, .rank = 2}};

  CHECK(code_of([&] { database->repair(changes, 1); }) == "history_changed");
  CHECK(database->history()[0].checksum != "sha256:new");

  database->repair(changes, 2);
  const auto history = database->history();
  CHECK(history[0].checksum == "sha256:new");
  CHECK(history[0].description == "new");
  CHECK(history[0].script == "V1__new.sql");
  CHECK(history[1].state == "deleted");
}

TEMPLATE_TEST_CASE("what a schema holds is dropped with the history, if the check agrees", "", FakeLab,
                   PostgresLab) {
  TestType lab;
  lab.add_table("orders");
  const std::vector<SchemaObject> both{{.kind = "table", .name = "public.lockstep_history"},
                                       {.kind = "table", .name = "public.orders"}};
  const auto database = locked(lab);
  database->apply({.migration = lab.works("V1__a.sql")}, 0, {});
  CHECK(database->inventory({"public"}).objects == both);

  CHECK(code_of([&] {
          database->drop_contents({"public"}, [](const Inventory&) {
            throw Failure(Error{.kind = ErrorKind::config, .code = "no"});
          });
        }) == "no");
  CHECK(database->inventory({"public"}).objects == both);

  CHECK(database->drop_contents({"public"}, [](const Inventory&) {}).objects == both);
  CHECK(database->inventory({"public"}).objects.empty());
  CHECK(database->history().empty());
  database->unlock();
  CHECK(database->try_lock().acquired);
}

TEMPLATE_TEST_CASE("a session finds no history after another one has dropped it", "", FakeLab, PostgresLab) {
  TestType lab;
  const auto cleaning = locked(lab);
  const auto reading = lab.open();
  const auto waiting = lab.open();
  CHECK_FALSE(waiting->try_lock().acquired);
  cleaning->drop_contents({"public"}, [](const Inventory&) {});
  cleaning->unlock();

  CHECK(reading->history().empty());
  const auto attempt = waiting->try_lock();
  CHECK(attempt.acquired);
  CHECK(attempt.history.empty());
  CHECK_FALSE(reading->try_lock().acquired);
  waiting->prepare_history();
  CHECK(waiting->apply({.migration = lab.works("V1__a.sql")}, 0, {}).rank == 1);
}

TEMPLATE_TEST_CASE("a callback runs under the lock, and the history does not tell of it", "", FakeLab,
                   PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  CHECK(database->run_callback(lab.works("beforeMigrate.sql"), {}).statements == 1);
  CHECK(database->history().empty());
  CHECK(code_of([&] { database->run_callback(lab.fails("afterMigrate.sql"), {}); }) != "no failure");
  CHECK(database->apply({.migration = lab.works("V1__a.sql")}, 0, {}).rank == 1);
  database->unlock();
}

TEMPLATE_TEST_CASE("a callback that drops the lock, or has none, is refused", "", FakeLab, PostgresLab) {
  TestType lab;
  CHECK(code_of([&] { lab.open()->run_callback(lab.works("beforeMigrate.sql"), {}); }) == "lock_lost");
  const auto database = locked(lab);
  CHECK(code_of([&] { database->run_callback(lab.drops_lock("afterMigrate.sql"), {}); }) == "lock_lost");
}

TEMPLATE_TEST_CASE("a migration and the callbacks within it are applied together or not at all", "", FakeLab,
                   PostgresLab) {
  TestType lab;
  const auto database = locked(lab);
  const std::vector<Migration> good = {lab.works("beforeEachMigrate.sql")};
  const std::vector<Migration> bad = {lab.fails("afterEachMigrate.sql")};
  const Step step{.migration = lab.works("V1__a.sql"), .before = good, .after = bad};
  CHECK(code_of([&] { database->apply(step, 0, {}); }) != "no failure");
  CHECK(database->history().empty());
  CHECK(database->apply({.migration = step.migration, .before = good, .after = good}, 0, {}).statements == 1);
  CHECK(database->history().size() == 1);
}

}  // namespace lockstep::test
