#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "support/program.h"
#include "support/steady.h"
#include "support/temp_dir.h"
#include "support/test_database.h"

namespace lockstep::test {
namespace {

/// A project with three migrations and a repeatable, and its database.
class Shop {
 public:
  Shop() {
    write("V1__users.sql", "create table users (id bigint primary key);\n");
    write("V2__orders.sql",
          "drop table if exists nix;\ncreate table orders (id bigint, user_id bigint references users);\n");
    write("V3__index.sql", "create index concurrently orders_user on orders (user_id);\n");
    write("R__views.sql", "create or replace view order_count as select count(*) from orders;\n");
  }

  void write(const std::string& script, const std::string& sql) {
    dir_.write_file("migrations/" + script, sql);
  }

  Outcome run(std::vector<std::string> args) const {
    auto command = lockstep(std::move(args));
    command.cwd = dir_.path();
    command.env = {{"LOCKSTEP_URL", database_.url()}};
    return test::run(command);
  }

  nlohmann::json json(std::vector<std::string> args) const {
    args.insert(args.end(), {"--output", "json"});
    return nlohmann::json::parse(run(args).out);
  }

  std::filesystem::path directory() const { return dir_.path(); }
  const TestDatabase& database() const { return database_; }
  const std::string& name() const { return database_.name(); }

 private:
  TempDir dir_;
  TestDatabase database_;
};

TEST_CASE("migrate applies what is pending, and then there is nothing to do") {
  const Shop shop;
  const auto first = shop.run({"migrate"});
  CHECK(first.exit_code == 0);
  CHECK(steady(first.out) == "applied 4 migrations in N ms: database " + shop.name() + " is at version 3\n");
  CHECK(steady(first.err) ==
        "V1__users.sql … done in N ms (1 statement)\n"
        "V2__orders.sql …\n"
        "  NOTICE: table \"nix\" does not exist, skipping\n"
        "V2__orders.sql … done in N ms (2 statements)\n"
        "V3__index.sql … done in N ms (1 statement)\n"
        "R__views.sql … done in N ms (1 statement)\n");

  const auto second = shop.run({"migrate"});
  CHECK(second.exit_code == 0);
  CHECK(second.out == "nothing to do: database " + shop.name() + " is at version 3\n");
  CHECK(second.err.empty());
}

TEST_CASE("info shows the table of all migrations before and after, and writes nothing") {
  const Shop shop;
  const auto before = shop.run({"info", "--check"});
  CHECK(before.exit_code == 1);
  CHECK(before.out == "database " + shop.name() +
                          ", history public.lockstep_history\n"
                          "\n"
                          "version  description  kind        state\n"
                          "1        users        versioned   pending\n"
                          "2        orders       versioned   pending\n"
                          "3        index        versioned   pending\n"
                          "         views        repeatable  pending\n"
                          "\n"
                          "4 migrations pending\n");
  CHECK(before.err == "error: 4 migrations are pending\n  hint: Run lockstep migrate.\n");
  CHECK(shop.database().psql("select to_regclass('lockstep_history') is null") == "t");

  shop.run({"migrate"});
  const auto after = shop.run({"info", "--check"});
  CHECK(after.exit_code == 0);
  CHECK(after.err.empty());
  CHECK(after.out.find("nothing is pending\n") != std::string::npos);
  const auto document = shop.json({"info"});
  CHECK(document["version"] == "3");
  CHECK(document["pending"] == 0);
  REQUIRE(document["migrations"].size() == 4);
  CHECK(document["migrations"][0]["state"] == "applied");
  CHECK(document["migrations"][0]["checksum"] ==
        shop.database().psql("select checksum from lockstep_history where version = '1'"));
}

TEST_CASE("a failed migration is shown with its place, and exit code 6") {
  Shop shop;
  shop.write("V4__bad.sql", "-- é\nselect 'é', uper('x');\n");
  const auto outcome = shop.run({"migrate"});
  CHECK(outcome.exit_code == 6);
  CHECK(outcome.out == "applied 3 of 5 migrations before the error\n");
  const auto error = outcome.err.substr(outcome.err.find("error: "));
  CHECK(error ==
        "error: migrations/V4__bad.sql:2:13: function uper(unknown) does not exist [SQLSTATE 42883]\n"
        "  2 | select 'é', uper('x');\n"
        "    |             ^\n"
        "  hint: No function matches the given name and argument types. You might need to add explicit type "
        "casts.\n"
        "  hint: This file was rolled back as a whole. Mend it, then run lockstep migrate again.\n");
  const auto document = shop.json({"migrate"});
  CHECK(document["ok"] == false);
  CHECK(document["exit_code"] == 6);
  CHECK(document["error"]["file"] == "migrations/V4__bad.sql");
  CHECK(document["error"]["line"] == 2);
  CHECK(document["error"]["column"] == 13);
  CHECK(document["error"]["sqlstate"] == "42883");
  CHECK(document["applied"].empty());
  CHECK(document["pending"] == 2);
}

TEST_CASE("an edited file is found by validate, refused by migrate and accepted by repair") {
  Shop shop;
  CHECK(shop.run({"migrate", "-q"}).err.empty());
  CHECK(shop.run({"validate"}).out ==
        "4 migrations: files and the history of database " + shop.name() + " agree\n");
  shop.write("V1__users.sql", "create table users (id bigint primary key); -- changed\n");
  for (const std::string command : {"validate", "migrate"}) {
    const auto outcome = shop.run({command});
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.starts_with("error: migrations/V1__users.sql: "));
  }
  CHECK(shop.run({"repair"}).exit_code == 2);
  const auto repaired = shop.run({"repair", "--yes"});
  CHECK(repaired.exit_code == 0);
  CHECK(repaired.err.empty());
  CHECK(repaired.out ==
        "rank  version  script         change\n"
        "1     1        V1__users.sql  take the checksum of its file\n"
        "\n"
        "changed 1 row of the history\n");
  CHECK(shop.run({"validate"}).exit_code == 0);
}

TEST_CASE("what plan prints for transactional files can be run with psql") {
  const Shop shop;
  shop.run({"migrate", "--target", "1", "-q"});
  const auto plan = shop.run({"plan", "--target", "2"});
  CHECK(plan.exit_code == 0);
  CHECK(plan.err.empty());
  CHECK(plan.out.starts_with("begin;\n"));
  CHECK(plan.out.find("create table orders (id bigint, user_id bigint references users);\n") !=
        std::string::npos);
  CHECK(plan.out.ends_with("commit;\n"));
  CHECK(shop.database().psql("select count(*) from lockstep_history") == "1");
}

TEST_CASE("a password file gives the password, and a wrong one is not shown") {
  PgServer server({.hba = "local all postgres trust\nhost all postgres 127.0.0.1/32 scram-sha-256\n"});
  const TestDatabase database(server);
  database.psql("alter role postgres password 's3cr3t pw'");
  const TempDir dir;
  dir.write_file("migrations/V1__a.sql", "select 1;\n");
  dir.write_file("right", "s3cr3t pw\nanother line\n");
  dir.write_file("wrong", "not-the-pw\n");
  std::filesystem::permissions(dir.path() / "right", std::filesystem::perms::owner_read);
  const auto with = [&](const std::string& file) {
    auto command = lockstep({"migrate"});
    command.cwd = dir.path();
    command.env = {{"LOCKSTEP_URL", database.url()}, {"LOCKSTEP_DATABASE_PASSWORD_FILE", file}};
    return run(command);
  };
  const auto right = with("right");
  CHECK(right.exit_code == 0);
  CHECK(right.err.find("warning") == std::string::npos);
  const auto wrong = with("wrong");
  CHECK(wrong.exit_code == 4);
  CHECK(wrong.err.starts_with("warning: password file wrong can be read by every user of this machine\n"));
  CHECK(wrong.err.find("not-the-pw") == std::string::npos);
}

TEST_CASE("with closed standard streams nothing but SQL goes to the server") {
  const Shop shop;
  const auto closed = [&](const std::string& streams) {
    Command command{.argv = {"bash", "-c", "exec \"$lockstep\" migrate -v " + streams}};
    command.env = {{"LOCKSTEP_URL", shop.database().url()}, {"lockstep", lockstep_binary()}};
    command.cwd = shop.directory();
    return run(command);
  };
  CHECK(closed("<&- 2>&-").exit_code == 0);
  CHECK(shop.json({"info"})["pending"] == 0);
  const auto outcome = closed("<&- >&-");
  CHECK(outcome.exit_code == 70);
  CHECK(outcome.err.find("cannot write to standard output") != std::string::npos);
  CHECK(shop.database().errors().empty());
}

TEST_CASE("while another session holds the lock, skip leaves, fail is 75, and both say so") {
  const Shop shop;
  PsqlSession other(shop.database());
  const auto resource = shop.json({"migrate", "--dry-run"})["lock"]["resource"].get<int>();
  other.run("select pg_advisory_lock(1280262987, " + std::to_string(resource) + ");");

  const auto skipped = shop.run({"migrate", "--on-busy", "skip"});
  CHECK(skipped.exit_code == 0);
  CHECK(skipped.out ==
        "skipped: another run is migrating database " + shop.name() + ", 4 migrations pending\n");

  const auto failed = shop.run({"migrate", "--on-busy", "fail"});
  CHECK(failed.exit_code == 75);
  CHECK(failed.err.find("held by pid " + std::to_string(other.backend_pid())) != std::string::npos);

  const auto document = shop.json({"migrate", "--lock-wait", "200ms"});
  CHECK(document["exit_code"] == 75);
  CHECK(document["error"]["code"] == "lock_busy");
  CHECK(document["error"]["retry_after_ms"].is_number());
  CHECK(shop.database().psql("select to_regclass('lockstep_history') is null") == "t");
}

}  // namespace
}  // namespace lockstep::test
