#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "support/fake_context.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

using nlohmann::json;

/// Three migrations and a repeatable; the first one is applied.
FakeWorld shop() {
  FakeWorld world;
  for (const auto* const script : {"V1__users.sql", "V2__orders.sql", "V3__payments.sql", "R__views.sql"}) {
    world.add_file(script);
  }
  world.server.add_applied(fake_migration("V1__users.sql"));
  return world;
}

LockHolder other_run() {
  return {.pid = 42,
          .application = "lockstep migrate 1b4e28ba",
          .user = "deploy",
          .client = "10.0.0.7",
          .since = "2026-01-02T03:04:05Z",
          .state = "active",
          .query = "create index concurrently i on t (a)"};
}

Error uper_error() {
  return {.kind = ErrorKind::migration,
          .code = "sql_failed",
          .message = "function uper(unknown) does not exist",
          .where = SourcePosition{"migrations/V3__payments.sql", 4, 8},
          .excerpt = "select uper('x');",
          .sqlstate = "42883",
          .hints = {"No function matches the given name and argument types."}};
}

}  // namespace

TEST_CASE("migrate logs a line for each migration and ends with one sentence") {
  auto world = shop();
  const auto outcome = world.run({"migrate"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "applied 3 migrations in 36 ms: database shop is at version 3\n");
  CHECK(outcome.err ==
        "V2__orders.sql … done in 12 ms (1 statement)\n"
        "V3__payments.sql … done in 12 ms (1 statement)\n"
        "R__views.sql … done in 12 ms (1 statement)\n");
}

TEST_CASE("migrate with nothing pending does not touch the lock") {
  auto world = shop();
  CHECK(world.run({"migrate"}).exit_code == 0);
  world.server.log.clear();
  const auto outcome = world.run({"migrate"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "nothing to do: database shop is at version 3\n");
  CHECK(outcome.err.empty());
  CHECK(world.server.log == std::vector<std::string>{"history"});
  CHECK(world.server.sessions == 0);
}

TEST_CASE("notices of the server stand under the migration that caused them") {
  auto world = shop();
  world.server.notices["V2__orders.sql"] = {
      {.severity = "NOTICE", .message = "table \"x\" does not exist, skipping", .sqlstate = "00000"},
      {.severity = "WARNING",
       .message = "two\nlines",
       .sqlstate = "01000",
       .detail = "more",
       .hint = "do it"}};
  CHECK(world.run({"migrate", "--target", "2"}).err ==
        "V2__orders.sql …\n"
        "  NOTICE: table \"x\" does not exist, skipping\n"
        "  WARNING: two\n"
        "    lines\n"
        "    detail: more\n"
        "    hint: do it\n"
        "V2__orders.sql … done in 12 ms (1 statement)\n");
}

TEST_CASE("quiet leaves warnings and errors") {
  auto world = shop();
  world.server.notices["V2__orders.sql"] = {{.severity = "NOTICE", .message = "n", .sqlstate = "00000"},
                                            {.severity = "WARNING", .message = "w", .sqlstate = "01000"}};
  world.server.failures["V3__payments.sql"] = uper_error();
  CHECK(world.run({"migrate", "-q"}).err ==
        "V2__orders.sql …\n"
        "  WARNING: w\n"
        "error: migrations/V3__payments.sql:4:8: function uper(unknown) does not exist [SQLSTATE 42883]\n"
        "  4 | select uper('x');\n"
        "    |        ^\n"
        "  hint: No function matches the given name and argument types.\n");
}

TEST_CASE("a failed migrate says what was applied before") {
  auto world = shop();
  world.server.failures["V3__payments.sql"] = uper_error();
  const auto outcome = world.run({"migrate"});
  CHECK(outcome.exit_code == 6);
  CHECK(outcome.out == "applied 1 of 3 migrations before the error\n");
}

TEST_CASE("a command line that cannot be taken apart has the JSON members of its command") {
  auto world = shop();
  const auto members_of = [](const json& document) {
    std::set<std::string> members;
    for (const auto& [name, value] : document.items()) members.insert(name);
    return members;
  };
  for (const std::string command : {"migrate", "info", "validate", "plan", "repair", "config", "version"}) {
    INFO(command);
    const auto good = json::parse(world.run({command, "--output", "json"}).out);
    const auto outcome = world.run({command, "--nonsense", "--output", "json"});
    CHECK(outcome.exit_code == 2);
    const auto bad = json::parse(outcome.out);
    CHECK(bad["command"] == command);
    CHECK(bad["error"]["code"] == "unknown_option");
    CHECK(members_of(bad) == members_of(good));
  }
}

TEST_CASE("the JSON document has the same members whatever happens") {
  const std::vector<std::string> members{"ok",      "command", "exit_code", "error",    "applied",
                                         "skipped", "pending", "lock",      "database", "duration_ms"};
  auto world = shop();
  std::vector<std::string> arguments{"migrate", "--output", "json"};
  int expected = 0;
  SECTION("success") {}
  SECTION("a failed migration") {
    world.server.failures["V3__payments.sql"] = uper_error();
    expected = 6;
  }
  SECTION("no connection") {
    world.connect_error = Error{.kind = ErrorKind::connection, .code = "connection_failed", .message = "no"};
    expected = 4;
  }
  SECTION("no database") {
    world.environment.clear();
    expected = 2;
  }
  SECTION("a wrong setting") {
    world.environment["LOCKSTEP_LOCK_WAIT"] = "soon";
    expected = 2;
  }
  SECTION("invalid files") {
    world.local.problems = {Error{.kind = ErrorKind::files, .code = "bad_name", .message = "bad name"},
                            Error{.kind = ErrorKind::files, .code = "bad_name", .message = "worse name"}};
    expected = 3;
  }
  const auto outcome = world.run(arguments);
  CHECK(outcome.exit_code == expected);
  const auto document = json::parse(outcome.out);
  for (const auto& member : members) CHECK(document.contains(member));
  CHECK(document["ok"] == (expected == 0));
  CHECK(document["command"] == "migrate");
  CHECK(document["exit_code"] == expected);
  CHECK(document["error"].is_null() == (expected == 0));
  for (const auto* const member : {"namespace", "resource", "waited_ms"})
    CHECK(document["lock"].contains(member));
  if (expected == 0) return;
  for (const auto* const member :
       {"code", "message", "file", "line", "column", "sqlstate", "detail", "hint"}) {
    CHECK(document["error"].contains(member));
  }
}

TEST_CASE("the JSON document of migrate") {
  auto world = shop();
  world.server.failures["V3__payments.sql"] = uper_error();
  CHECK(world.run({"migrate", "--output", "json"}).out == R"({
  "ok": false,
  "command": "migrate",
  "exit_code": 6,
  "error": {
    "code": "sql_failed",
    "message": "function uper(unknown) does not exist",
    "file": "migrations/V3__payments.sql",
    "line": 4,
    "column": 8,
    "sqlstate": "42883",
    "detail": null,
    "hint": "No function matches the given name and argument types."
  },
  "applied": [
    {
      "version": "2",
      "description": "orders",
      "script": "V2__orders.sql",
      "kind": "versioned",
      "checksum": "sha256:V2__orders.sql",
      "state": "applied",
      "duration_ms": 12,
      "statements": 1
    }
  ],
  "skipped": 0,
  "pending": 2,
  "lock": {
    "namespace": 1280262987,
    "resource": 77,
    "waited_ms": 0
  },
  "database": "shop",
  "duration_ms": 12
}
)");
}

TEST_CASE("several problems are all in the document and all on standard error") {
  auto world = shop();
  world.local.problems = {Error{.kind = ErrorKind::files, .code = "a", .message = "first"},
                          Error{.kind = ErrorKind::files, .code = "b", .message = "second"}};
  CHECK(world.run({"validate", "--offline"}).err == "error: first\nerror: second\n");
  const auto document = json::parse(world.run({"validate", "--offline", "--output", "json"}).out);
  CHECK(document["error"]["code"] == "a");
  REQUIRE(document["errors"].size() == 2);
  CHECK(document["errors"][1]["message"] == "second");
  CHECK_FALSE(world.session.has_value());
}

TEST_CASE("while waiting it says who holds the lock, and again when that changes") {
  auto world = shop();
  auto later = other_run();
  later.state = "idle";
  later.query = "commit";
  world.server.held_by_others = {{other_run(), Milliseconds(1500)}, {later, Milliseconds(1000)}};
  const auto outcome = world.run({"migrate", "--target", "2"});
  CHECK(outcome.exit_code == 0);
  const auto first = outcome.err.substr(0, outcome.err.find('\n'));
  CHECK(first ==
        "waiting for the migration lock, held by pid 42 (lockstep migrate 1b4e28ba), user deploy, from "
        "10.0.0.7, "
        "connected since 2026-01-02T03:04:05Z, running: create index concurrently i on t (a)");
  CHECK(outcome.err.find("last statement: commit\n") != std::string::npos);
}

TEST_CASE("a lock that is not free in time is exit 75, with the holder and when to try again") {
  auto world = shop();
  world.server.held_by_others = {{other_run(), Milliseconds(60000)}};
  const auto outcome = world.run({"migrate", "--lock-wait", "1s", "--output", "json"});
  CHECK(outcome.exit_code == 75);
  const auto document = json::parse(outcome.out);
  CHECK(document["error"]["code"] == "lock_busy");
  CHECK(document["error"]["retry_after_ms"].is_number());
  CHECK(document["lock"]["waited_ms"] == 1000);
  CHECK(document["error"]["detail"].get<std::string>().find("lockstep migrate 1b4e28ba") !=
        std::string::npos);
}

TEST_CASE("with --on-busy skip another run's work is left to it") {
  auto world = shop();
  world.server.held_by_others = {{other_run(), Milliseconds(60000)}};
  const auto outcome = world.run({"migrate", "--on-busy", "skip"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "skipped: another run is migrating database shop, 3 migrations pending\n");
  const auto document = json::parse(world.run({"migrate", "--on-busy", "skip", "--output", "json"}).out);
  CHECK(document["skipped"] == 3);
  CHECK(document["pending"] == 3);
}

TEST_CASE("a dry run shows what would be applied and changes nothing") {
  auto world = shop();
  const auto outcome = world.run({"migrate", "--dry-run"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out ==
        "would apply 3 migrations to database shop:\n"
        "\n"
        "version  description  kind        script\n"
        "2        orders       versioned   V2__orders.sql\n"
        "3        payments     versioned   V3__payments.sql\n"
        "         views        repeatable  R__views.sql\n");
  CHECK(world.server.log == std::vector<std::string>{"history"});
  CHECK(world.session->access == Access::read);
}

TEST_CASE("a dry run shows the callbacks that have transactions of their own") {
  auto world = shop();
  for (const auto* const script :
       {"afterMigrate.sql", "afterMigrateApplied.sql", "beforeEachMigrate.sql", "beforeMigrate__grants.sql"})
    world.local.callbacks.push_back(test::fake_migration(script));
  CHECK(world.run({"migrate", "--dry-run", "--target", "2"}).out ==
        "would apply 1 migration to database shop:\n"
        "\n"
        "version  description  kind       script\n"
        "         grants       callback   beforeMigrate__grants.sql\n"
        "2        orders       versioned  V2__orders.sql\n"
        "                      callback   afterMigrateApplied.sql\n"
        "                      callback   afterMigrate.sql\n");
  CHECK(world.run({"migrate", "--dry-run", "--target", "1"}).out ==
        "would run 2 callbacks in database shop:\n"
        "\n"
        "description  kind      script\n"
        "grants       callback  beforeMigrate__grants.sql\n"
        "             callback  afterMigrate.sql\n");
  CHECK(json::parse(
            world.run({"migrate", "--dry-run", "--target", "1", "--output", "json"}).out)["pending"] == 0);
}

TEST_CASE("info is an aligned table, also with wide characters") {
  auto world = shop();
  world.local.migrations[1].name.description = "注文 table";
  const auto outcome = world.run({"info"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "database shop, history public.lockstep_history\n"
        "\n"
        "version  description  kind        state    applied at (UTC)     by      took\n"
        "1        users        versioned   applied  2026-01-02 03:04:06  deploy  12 ms\n"
        "2        注文 table   versioned   pending\n"
        "3        payments     versioned   pending\n"
        "         views        repeatable  pending\n"
        "\n"
        "3 migrations pending\n");
  CHECK(world.session->access == Access::read);
}

TEST_CASE("info --check is 1 when something is pending and 0 when not") {
  auto world = shop();
  const auto outcome = world.run({"info", "--check"});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == "error: 3 migrations are pending\n  hint: Run lockstep migrate.\n");
  world.run({"migrate"});
  CHECK(world.run({"info", "--check"}).exit_code == 0);
}

TEST_CASE("validate compares files and history") {
  auto world = shop();
  CHECK(world.run({"validate"}).out == "4 migrations: files and the history of database shop agree\n");
  world.server.rows[0].checksum = "sha256:other";
  const auto outcome = world.run({"validate"});
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.starts_with("error: migrations/V1__users.sql: "));
}

TEST_CASE("plan prints the SQL of every step as the database previews it") {
  auto world = shop();
  CHECK(world.run({"plan"}).out ==
        "begin; -- V2__orders.sql after rank 1\ncommit;\n"
        "begin; -- V3__payments.sql after rank 2\ncommit;\n"
        "begin; -- R__views.sql after rank 3\ncommit;\n");
  const auto document = json::parse(world.run({"plan", "--output", "json"}).out);
  CHECK(document["steps"][0]["sql"] == "begin; -- V2__orders.sql after rank 1\ncommit;\n");
}

TEST_CASE("baseline records where the history begins") {
  FakeWorld world;
  world.add_file("V8__next.sql");
  const auto outcome = world.run({"baseline", "--version", "7"});
  CHECK(outcome.out == "the history of database shop now begins at version 7\n");
  CHECK(world.run({"baseline", "--version", "7"}).out ==
        "the history of database shop already begins at version 7\n");
  REQUIRE(world.server.rows.size() == 1);
  CHECK(world.server.rows[0].description == "baseline");
  CHECK(world.run({"baseline"}).exit_code == 2);
  CHECK(world.run({"baseline", "--version", "seven"}).exit_code == 2);
}

TEST_CASE("plan has the callbacks with a transaction of their own as steps where they run") {
  auto world = shop();
  for (const auto* event : {"afterMigrate.sql", "afterMigrateApplied.sql", "afterMigrateError.sql",
                            "beforeEachMigrate.sql", "beforeMigrate.sql"})
    world.local.callbacks.push_back(fake_migration(event));
  const auto scripts = [&] {
    std::vector<std::string> names;
    const auto document = json::parse(world.run({"plan", "--output", "json"}).out);
    for (const auto& step : document.at("steps")) names.push_back(step.at("script"));
    return names;
  };
  CHECK(scripts() == std::vector<std::string>{"beforeMigrate.sql", "V2__orders.sql", "V3__payments.sql",
                                              "R__views.sql", "afterMigrateApplied.sql", "afterMigrate.sql"});
  REQUIRE(world.run({"migrate"}).exit_code == 0);
  CHECK(scripts() == std::vector<std::string>{"beforeMigrate.sql", "afterMigrate.sql"});
}

TEST_CASE("repair shows its plan and asks") {
  auto world = shop();
  world.server.rows[0].checksum = "sha256:other";
  world.interactive = true;
  SECTION("no answer changes nothing") {
    const auto outcome = world.run({"repair"});
    CHECK(outcome.exit_code == 1);
    CHECK(outcome.out ==
          "rank  version  script         change\n"
          "1     1        V1__users.sql  take the checksum of its file\n\n");
    CHECK(outcome.err == "Change 1 row of the history? [y/N] error: nothing was changed\n");
    CHECK(world.server.rows[0].checksum == "sha256:other");
  }
  SECTION("yes changes it") {
    world.input = "y\n";
    CHECK(world.run({"repair"}).exit_code == 0);
    CHECK(world.server.rows[0].checksum == "sha256:V1__users.sql");
  }
  SECTION("where nobody can answer, --yes is needed") {
    world.interactive = false;
    CHECK(world.run({"repair"}).exit_code == 2);
    CHECK(world.server.rows[0].checksum == "sha256:other");
    const auto outcome = world.run({"repair", "--yes"});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out.ends_with("changed 1 row of the history\n"));
  }
  SECTION("with nothing to repair there is no question") {
    world.server.rows[0].checksum = "sha256:V1__users.sql";
    CHECK(world.run({"repair"}).out == "nothing to repair\n");
  }
}

TEST_CASE("repair in JSON lists its changes, and whether they were made") {
  auto world = shop();
  world.server.rows[0].checksum = "sha256:other";
  world.server.add_applied(fake_migration("V0__gone.sql"));
  const auto change = [](const json& document, std::size_t number) {
    const auto& one = document["changes"].at(number);
    return one["script"].get<std::string>() + " " + one["action"].get<std::string>() + " " +
           one["checksum"].dump();
  };
  const auto asked = json::parse(world.run({"repair", "--output", "json"}).out);
  CHECK(asked["repaired"] == false);
  CHECK(change(asked, 0) == "V0__gone.sql mark_deleted null");
  CHECK(change(asked, 1) == "V1__users.sql align \"sha256:V1__users.sql\"");
  const auto done = json::parse(world.run({"repair", "--yes", "--output", "json"}).out);
  CHECK(done["repaired"] == true);
  CHECK(done["changes"] == asked["changes"]);
  CHECK(json::parse(world.run({"repair", "--output", "json"}).out)["changes"].empty());
}

TEST_CASE("new goes on with the versions of the files") {
  auto world = shop();
  const auto outcome = world.run({"new", "add  Orders/items"});
  CHECK(outcome.out == "migrations/V4__add_Orders_items.sql\n");
  CHECK(world.written.at("migrations/V4__add_Orders_items.sql").starts_with("-- add  Orders/items\n"));
  CHECK(world.run({"new", "--repeatable", "reports", "-d", "sql"}).out == "sql/R__reports.sql\n");
  CHECK(world.run({"new"}).exit_code == 2);
  CHECK(world.run({"new", "//"}).exit_code == 2);
}

TEST_CASE("config shows every value with its origin and no secret") {
  FakeWorld world;
  world.files["lockstep.toml"] = {"[lock]\nwait = \"9s\"\n"};
  const auto outcome = world.run({"config"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out.starts_with(
      "setting                        value                                    from\n"
      "database.url                   postgresql://deploy:***@db.example/shop  LOCKSTEP_URL\n"));
  CHECK(outcome.out.find(
            "lock.wait                      9s                                       lockstep.toml:2\n") !=
        std::string::npos);
  CHECK_FALSE(world.session.has_value());
}

TEST_CASE("placeholders reach the files, and config masks those that look secret") {
  FakeWorld world;
  const auto outcome = world.run({"config", "--set", "Owner=app", "--set", "api_key=hunter22"});
  CHECK(outcome.out.find("placeholders.owner             app ") != std::string::npos);
  CHECK(outcome.out.find("placeholders.api_key           *** ") != std::string::npos);
  world.run({"validate", "--offline", "--set", "Owner=app"});
  CHECK(world.loaded_placeholders.values == std::map<std::string, std::string>{{"owner", "app"}});
}

TEST_CASE("config says when libpq's variables name the database") {
  FakeWorld world;
  world.environment = {{"PGHOST", "h"}, {"PGDATABASE", "d"}};
  CHECK(world.run({"config"}).out.find("PGHOST, PGDATABASE\n") != std::string::npos);
}

TEST_CASE("without any database the error says what to set") {
  FakeWorld world;
  world.environment.clear();
  const auto outcome = world.run({"info"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err ==
        "error: no database configured\n"
        "  hint: Set LOCKSTEP_URL, for example to postgresql://user@host:5432/database, or give --url; "
        "--ephemeral "
        "uses a throwaway server.\n");
}

TEST_CASE("a configuration file that was asked for must be there") {
  FakeWorld world;
  CHECK(world.run({"config", "-c", "nope.toml"}).exit_code == 2);
  world.environment["LOCKSTEP_CONFIG"] = "nope.toml";
  CHECK(world.run({"config"}).err ==
        "error: LOCKSTEP_CONFIG: there is no file nope.toml\n"
        "  hint: Give the path of a lockstep.toml, or leave it out.\n");
}

TEST_CASE("the password comes from the first line of password_file and is masked everywhere") {
  auto world = shop();
  world.environment["LOCKSTEP_DATABASE_PASSWORD_FILE"] = "/run/secrets/pw";
  world.files["/run/secrets/pw"] = {"from-a-file\r\nsecond line\n"};
  world.connect_error = Error{.kind = ErrorKind::connection, .code = "c", .message = "no: from-a-file"};
  const auto outcome = world.run({"info"});
  CHECK(world.session->password == "from-a-file");
  CHECK(outcome.err == "error: no: ***\n");

  world.files["/run/secrets/pw"].others_can_read = true;
  CHECK(world.run({"info"}).err ==
        "warning: password file /run/secrets/pw can be read by every user of this machine\n"
        "error: no: ***\n");
  world.files.clear();
  CHECK(world.run({"info"}).exit_code == 2);
}

TEST_CASE("a password file with an empty first line is an error, not an empty password") {
  auto world = shop();
  world.environment["LOCKSTEP_DATABASE_PASSWORD_FILE"] = "/run/secrets/pw";
  world.files["/run/secrets/pw"] = {"\nsecond line\n"};
  const auto outcome = world.run({"info"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err ==
        "error: database.password_file: the first line of /run/secrets/pw is empty\n"
        "  hint: Write the password into its first line.\n");
  CHECK_FALSE(world.session);
}

TEST_CASE("settings reach the session") {
  auto world = shop();
  world.environment = {{"DATABASE_URL", "host=h"},
                       {"LOCKSTEP_DATABASE_ROLE", "owner"},
                       {"LOCKSTEP_HISTORY_SCHEMA", "meta"},
                       {"LOCKSTEP_LOCK_RESOURCE", "-5"},
                       {"LOCKSTEP_MIGRATE_LOCK_TIMEOUT", "2s"}};
  world.run({"migrate", "--pooler", "refuse", "--wait-for-db=60s"});
  REQUIRE(world.session.has_value());
  CHECK(world.session->conninfo == "host=h");
  CHECK(world.session->access == Access::write);
  CHECK(world.session->command == "migrate");
  CHECK(world.session->run_id == "00000000-0000-4000-8000-000000000001");
  CHECK(world.session->role == "owner");
  CHECK(world.session->history_schema == "meta");
  CHECK(world.session->lock_resource == -5);
  CHECK(world.session->lock_timeout == Milliseconds(2000));
  CHECK(world.session->pooler == PoolerPolicy::refuse);
  CHECK(world.session->wait_for_db == Milliseconds(60000));
}

TEST_CASE("--ephemeral uses a throwaway server, where a database is needed") {
  auto world = shop();
  CHECK(world.run({"--ephemeral", "migrate"}).exit_code == 0);
  CHECK(world.ephemeral_servers == 1);
  CHECK(world.session->conninfo == "postgresql://postgres@/postgres?host=/run/throwaway");
  CHECK(world.run({"--ephemeral", "config"}).exit_code == 2);
  CHECK(world.run({"--ephemeral", "migrate", "--url", "x"}).exit_code == 2);
  CHECK(world.ephemeral_servers == 1);
}

TEST_CASE("ephemeral runs a command with the server's variables and passes its status on") {
  FakeWorld world;
  world.program_status = 9;
  const auto outcome = world.run({"ephemeral", "--", "psql", "-c", "select 1"});
  CHECK(outcome.exit_code == 9);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.empty());
  CHECK(world.program == std::vector<std::string>{"psql", "-c", "select 1"});
  CHECK(world.program_variables.at("LOCKSTEP_URL") == "postgresql://postgres@/postgres?host=/run/throwaway");
  CHECK(world.program_variables.at("PGHOST") == "/run/throwaway");
  CHECK(world.program_variables.at("PGSERVICE").empty());
  CHECK(world.run({"ephemeral"}).exit_code == 2);
}

TEST_CASE("a closed standard output is an error of its own, and never hides the first one") {
  auto world = shop();
  world.closed_output = true;
  const auto outcome = world.run({"info", "--output", "json"});
  CHECK(outcome.exit_code == 70);
  CHECK(outcome.err.starts_with("error: cannot write to standard output"));
  world.server.failures["V2__orders.sql"] = uper_error();
  CHECK(world.run({"migrate"}).exit_code == 6);
}

TEST_CASE("words of the connection are told as notes") {
  auto world = shop();
  world.connect_notes = {"waiting for the database: the server is starting up"};
  CHECK(world.run({"info"}).err == "waiting for the database: the server is starting up\n");
  CHECK(world.run({"info", "-q"}).err.empty());
}

TEST_CASE("an exception that nobody expected is our own fault, exit 70") {
  auto world = shop();
  world.server.while_applying = [](const Step&) { throw std::logic_error("surprise"); };
  const auto outcome = world.run({"migrate"});
  CHECK(outcome.exit_code == 70);
  CHECK(outcome.err.starts_with("error: internal error: surprise\n"));
}
