#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "support/migrating.h"
#include "support/program.h"
#include "support/steady.h"
#include "support/test_database.h"

namespace lockstep::test {
namespace {

/// A project with three migrations that are applied, and U files for the last two.
class Shop {
 public:
  Shop() {
    files_.write("V1__users.sql", "create table users (id bigint primary key);\n");
    files_.write("V2__orders.sql", "create table orders (id bigint references users);\n");
    files_.write("V3__index.sql", "create index concurrently orders_id on orders (id);\n");
    files_.write("U2__orders.sql", "drop table orders;\n");
    files_.write("U3__index.sql", "drop index orders_id;\n");
    REQUIRE(run({"migrate", "-q"}).exit_code == 0);
  }

  Outcome run(std::vector<std::string> args) const {
    args.insert(args.end(), {"--dir", files_.path()});
    auto command = lockstep(std::move(args));
    command.env = {{"LOCKSTEP_URL", database_.url()}, {"LOCKSTEP_UNDO_ENABLED", "true"}};
    return test::run(command);
  }

  void write(const std::string& script, const std::string& sql) const { files_.write(script, sql); }
  std::string path() const { return files_.path(); }
  std::string psql(const std::string& sql) const { return database_.psql(sql); }
  const std::string& name() const { return database_.name(); }

 private:
  MigrationDir files_ = MigrationDir({});
  TestDatabase database_;
};

std::string history(const Shop& shop) {
  return shop.psql("select version, kind, state, script from lockstep_history order by rank");
}

}  // namespace

TEST_CASE("undo takes back the newest version, then all above a target, and migrate applies them again") {
  const Shop shop;
  const auto first = shop.run({"undo"});
  CHECK(first.exit_code == 0);
  CHECK(steady(first.out) == "undid 1 migration in N ms: database " + shop.name() + " is at version 2\n");
  CHECK(steady(first.err) == "U3__index.sql … done in N ms (1 statement)\n");
  CHECK(shop.psql("select to_regclass('orders_id') is null") == "t");

  CHECK(shop.run({"migrate", "-q"}).exit_code == 0);
  const auto second = shop.run({"undo", "--target", "1"});
  CHECK(steady(second.out) == "undid 2 migrations in N ms: database " + shop.name() + " is at version 1\n");
  CHECK(shop.psql("select to_regclass('orders') is null") == "t");
  CHECK(history(shop) ==
        "1|versioned|applied|V1__users.sql\n"
        "2|versioned|undone|V2__orders.sql\n"
        "3|versioned|undone|V3__index.sql\n"
        "3|undo|undone|U3__index.sql\n"
        "3|versioned|undone|V3__index.sql\n"
        "3|undo|undone|U3__index.sql\n"
        "2|undo|undone|U2__orders.sql");
  CHECK(shop.run({"migrate", "-q"}).exit_code == 0);
  CHECK(shop.psql("select to_regclass('orders_id') is null") == "f");
}

TEST_CASE("an undo that fails is rolled back with its place, and those before it stay undone") {
  const Shop shop;
  shop.write("U2__orders.sql", "drop table orders;\nselect uper('x');\n");
  const auto outcome = shop.run({"undo", "--target", "1"});
  CHECK(outcome.exit_code == 6);
  CHECK(outcome.out == "undid 1 of 2 migrations before the error\n");
  CHECK(outcome.err.substr(outcome.err.find("error: ")) ==
        "error: " + shop.path() +
            "/U2__orders.sql:2:8: function uper(unknown) does not exist [SQLSTATE 42883]\n"
            "  2 | select uper('x');\n"
            "    |        ^\n"
            "  hint: No function matches the given name and argument types. You might need to add explicit "
            "type casts.\n"
            "  hint: This file was rolled back as a whole. Mend it, then run lockstep undo again.\n");
  CHECK(shop.psql("select to_regclass('orders') is null") == "f");
  CHECK(shop.psql("select version from lockstep_history where state = 'applied' order by rank") == "1\n2");
}

TEST_CASE("a U file that cannot run in a transaction is refused with the reason, and nothing is undone") {
  const Shop shop;
  shop.write("U3__index.sql", "-- the index\ndrop index concurrently orders_id;\n");
  const auto outcome = shop.run({"undo"});
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.err ==
        "error: " + shop.path() +
            "/U3__index.sql: an undo and its record must be one transaction, but this file runs outside of "
            "one: DROP INDEX CONCURRENTLY in line 2 cannot run in one\n"
            "  hint: Use statements that can run in a transaction, such as DROP INDEX without CONCURRENTLY, "
            "and "
            "no transaction=off.\n");
  CHECK(shop.psql("select count(*) from lockstep_history where state = 'applied'") == "3");
}

TEST_CASE("a U file that drops the lock undoes nothing") {
  const Shop shop;
  shop.write("U3__index.sql", "drop index orders_id;\nselect pg_advisory_unlock_all();\n");
  const auto outcome = shop.run({"undo"});
  CHECK(outcome.exit_code == 6);
  CHECK(outcome.err.find("lost the migration lock") != std::string::npos);
  CHECK(shop.psql("select to_regclass('orders_id') is null") == "f");
  CHECK(shop.psql("select count(*) from lockstep_history where state = 'applied'") == "3");
}

TEST_CASE("undo names every version without a U file before anything runs") {
  const Shop shop;
  const auto outcome = shop.run({"undo", "--target", "0"});
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.err ==
        "error: version 1 cannot be undone: there is no file U1__….sql for it\n"
        "  hint: Write one that takes back what V1__users.sql did, or add the directory that holds it with "
        "--dir.\n");
  CHECK(shop.psql("select to_regclass('orders_id') is null") == "f");
}

}  // namespace lockstep::test
