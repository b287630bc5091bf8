#include "support/program.h"

#include <libpq-fe.h>

#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <string>

#include "support/temp_dir.h"

namespace lockstep::test {
namespace {

/// `lockstep ARGS...` in this directory.
Command in(const TempDir& dir, std::vector<std::string> args) {
  auto command = lockstep(std::move(args));
  command.cwd = dir.path();
  return command;
}

/// A line of bash with the binary as $lockstep.
Command shell(const TempDir& dir, const std::string& line) {
  return {.argv = {"bash", "-c", line}, .env = {{"lockstep", lockstep_binary()}}, .cwd = dir.path()};
}

TEST_CASE("the program says its version and that of libpq") {
  const TempDir dir;
  const auto outcome = run(in(dir, {"--version"}));
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "lockstep 0.1.0\nlibpq " + std::to_string(PQlibVersion() / 10000) + "." +
                           std::to_string(PQlibVersion() % 10000) + "\n");
  CHECK(outcome.err.empty());
}

TEST_CASE("without a command the program shows help and ends with 2") {
  const TempDir dir;
  const auto outcome = run(in(dir, {}));
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == run(in(dir, {"--help"})).out);
}

TEST_CASE("without a database the program says what to set") {
  const TempDir dir;
  dir.write_file("migrations/V1__a.sql", "select 1;\n");
  const auto outcome = run(in(dir, {"migrate"}));
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err ==
        "error: no database configured\n"
        "  hint: Set LOCKSTEP_URL, for example to postgresql://user@host:5432/database, or give --url; "
        "--ephemeral "
        "uses a throwaway server.\n");
}

TEST_CASE("files are checked before a connection is opened") {
  const TempDir dir;
  dir.write_file("migrations/V1__a.sql", "select 1;\n");
  dir.write_file("migrations/V1__b.sql", "select 'x;\n");
  const auto outcome = run(in(dir, {"migrate", "--url", "postgresql://127.0.0.1:1/nowhere"}));
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.find("V1__b.sql:1:8: ") != std::string::npos);
}

TEST_CASE("lockstep.toml of the working directory is used, and config shows from where") {
  const TempDir dir;
  dir.write_file("lockstep.toml", "[lock]\nwait = \"90s\"\n[env.prod.lock]\non_busy = \"skip\"\n");
  auto command = in(dir, {"config", "--env", "prod", "-d", "sql"});
  command.env = {{"LOCKSTEP_URL", "host=db user=u password='it\\'s secret'"}};
  const auto outcome = run(command);
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out ==
        "setting                        value                        from\n"
        "database.url                   host=db user=u password=***  LOCKSTEP_URL\n"
        "database.password_file                                      default\n"
        "database.role                                               default\n"
        "database.search_path                                        default\n"
        "database.wait_for_db           0                            default\n"
        "database.pooler                auto                         default\n"
        "migrations.dirs                sql                          --dir\n"
        "migrations.placeholder_prefix  ${                           default\n"
        "migrations.placeholder_suffix  }                            default\n"
        "migrate.out_of_order           false                        default\n"
        "migrate.lock_timeout           5s                           default\n"
        "migrate.lock_attempts          10                           default\n"
        "undo.enabled                   false                        default\n"
        "clean.enabled                  false                        default\n"
        "clean.schemas                                               default\n"
        "history.schema                                              default\n"
        "history.table                  lockstep_history             default\n"
        "lock.namespace                 1280262987                   default\n"
        "lock.resource                                               default\n"
        "lock.wait                      1m30s                        lockstep.toml:2\n"
        "lock.on_busy                   skip                         lockstep.toml:4 [env.prod]\n"
        "output.format                  text                         default\n"
        "output.log_format              text                         default\n"
        "output.progress                auto                         default\n"
        "output.color                   auto                         default\n");
}

TEST_CASE("a configuration file that cannot be read is named with the reason") {
  const TempDir dir;
  std::filesystem::create_directory(dir.path() / "folder.toml");
  dir.write_file("huge.toml", "");
  std::filesystem::resize_file(dir.path() / "huge.toml", (16U << 20U) + 1);
  const auto error_of = [&](const std::string& file) {
    const auto outcome = run(in(dir, {"config", "--config", file}));
    CHECK(outcome.exit_code == 2);
    return outcome.err.substr(0, outcome.err.find('\n'));
  };
  CHECK(error_of("folder.toml") == "error: cannot read folder.toml: Is a directory");
  CHECK(error_of("huge.toml") == "error: cannot read huge.toml: it is larger than 16 MiB");
}

TEST_CASE("a password never leaves the program, whatever libpq says about the connection string") {
  const TempDir dir;
  dir.write_file("migrations/V1__a.sql", "select 1;\n");
  for (const std::string url :
       {"postgresql://u:s3cr3t-pw@127.0.0.1:1/db", "postgresql://u:s3cr3t-pw@127.0.0.1:port/db",
        "postgresql://u:s3cr3t-pw%zz@127.0.0.1:1/db", "postgresql://u:x/s3cr3t-pw@127.0.0.1:1/db",
        "postgresql://u:x@s3cr3t-pw@127.0.0.1:1/db", "postgress://u:s3cr3t-pw@127.0.0.1:1/db",
        "host=127.0.0.1 port=1 password=x s3cr3t-pw", "host=127.0.0.1 port=1 password='s3cr3t-pw",
        "postgresql://127.0.0.1:1/db?password=x&s3cr3t-pw", "host=127.0.0.1 port=1 pasword=s3cr3t-pw"}) {
    for (const std::string output : {"text", "json"}) {
      auto command = in(dir, {"migrate", "--output", output, "--log-format", output, "-v"});
      command.env = {{"LOCKSTEP_URL", url}};
      const auto outcome = run(command);
      CAPTURE(url, outcome.out, outcome.err);
      CHECK(outcome.exit_code != 0);
      CHECK((outcome.out + outcome.err).find("s3cr3t") == std::string::npos);
    }
  }
}

TEST_CASE("new writes the next file and never over another one") {
  const TempDir dir;
  auto outcome = run(in(dir, {"new", "add orders"}));
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "migrations/V1__add_orders.sql\n");
  CHECK(outcome.err.empty());
  CHECK(read_file(dir.path() / "migrations/V1__add_orders.sql").starts_with("-- add orders\n"));
  CHECK(run(in(dir, {"validate", "--offline"})).exit_code == 0);
  CHECK(run(in(dir, {"new", "add orders"})).out == "migrations/V2__add_orders.sql\n");

  CHECK(run(in(dir, {"new", "--repeatable", "views"})).exit_code == 0);
  outcome = run(in(dir, {"new", "--repeatable", "views"}));
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err == "error: cannot write migrations/R__views.sql: File exists\n");
}

TEST_CASE("a full disk, a closed pipe and a closed output are clean errors") {
  const TempDir dir;
  for (const std::string line : {"$lockstep config >/dev/full", "$lockstep --output json config >/dev/full",
                                 "$lockstep --help >/dev/full", "$lockstep config >&-"}) {
    const auto outcome = run(shell(dir, line));
    CAPTURE(line);
    CHECK(outcome.exit_code == 70);
    CHECK(outcome.err.starts_with("error: cannot write to standard output"));
  }
  const auto outcome =
      run(shell(dir,
                "{ while kill -0 $$ 2>/dev/null && ! [[ -e go ]]; do :; done; $lockstep config; echo "
                "$? >status; } | { exec <&-; touch go; }; cat status"));
  CHECK(outcome.out == "70\n");
  CHECK(run(shell(dir, "$lockstep config 2>&-")).exit_code == 0);
}

TEST_CASE("completion for bash completes commands, options, and values") {
  const TempDir dir;
  const auto completions = [&](const std::string& words) {
    return run(shell(dir,
                     "source <($lockstep completion bash); COMP_WORDS=(" + words +
                         "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _lockstep; echo \"${COMPREPLY[*]}\""))
        .out;
  };
  CHECK(completions("lockstep mig") == "migrate\n");
  CHECK(completions("lockstep migrate --on-b") == "--on-busy\n");
  CHECK(completions("lockstep migrate --on-busy ''") == "wait fail skip\n");
  CHECK(completions("lockstep completion z") == "zsh\n");
  CHECK(completions("lockstep --output j") == "json\n");
  CHECK(completions("lockstep help bas") == "baseline\n");
}

TEST_CASE("ephemeral hands a server to a command and its status to us") {
  const TempDir dir;
  auto outcome =
      run(in(dir, {"ephemeral", "--", "sh", "-c",
                   "psql -XAtc 'select 40 + 2' && psql -XAt -d \"$LOCKSTEP_URL\" -c 'select 1' && exit 9"}));
  CHECK(outcome.exit_code == 9);
  CHECK(outcome.out == "42\n1\n");
  CHECK(outcome.err.empty());

  outcome = run(in(dir, {"ephemeral", "--", "no-such-program"}));
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err.starts_with("error: cannot run no-such-program: No such file or directory\n"));
}

TEST_CASE("a command of ephemeral dies of a closed pipe like any other") {
  const TempDir dir;
  const auto outcome =
      run(in(dir, {"ephemeral", "--", "bash", "-c", "yes | head -n 1; echo ${PIPESTATUS[0]}"}));
  CHECK(outcome.out == "y\n141\n");
  CHECK(outcome.err.empty());
}

TEST_CASE("SIGTERM goes to the command of ephemeral, and the server is removed") {
  const TempDir dir;
  Running running(in(dir, {"ephemeral", "--", "sh", "-c", "echo $PGHOST; exec sleep 600"}));
  running.wait_for_output("\n");
  auto directory = running.out();
  directory.pop_back();
  CHECK(std::filesystem::exists(directory));
  running.signal(15);
  CHECK(running.wait().exit_code == 143);
  CHECK_FALSE(std::filesystem::exists(directory));
}

}  // namespace
}  // namespace lockstep::test
