#include <sys/socket.h>
#include <sys/un.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "support/fd.h"
#include "support/migrating.h"
#include "support/pgbouncer.h"
#include "support/temp_dir.h"

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;

MigrationDir one_file() {
  return MigrationDir({{"V1__a.sql", "create table a (i int);"}});
}

TEST_CASE("a server that is away, then starting, then without the database is waited for") {
  PgServer server;
  server.stop();
  const auto files = one_file();
  const auto url = server.url("shop");

  const auto impatient = run(files.migrate(url));
  CHECK(impatient.exit_code == 4);
  CHECK_THAT(impatient.err, ContainsSubstring("--wait-for-db"));

  Running patient(files.migrate(url, {"--wait-for-db", "120s"}));
  patient.wait_for_output("cannot be reached");
  server.start_slowly();
  patient.wait_for_output("starting up");
  server.finish_start();
  patient.wait_for_output("does not exist");
  server.psql("postgres", "create database shop");
  const auto outcome = patient.wait();
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(server.psql("shop", "select to_regclass('a') is not null") == "t");
}

/// A unix socket whose queue of clients is full, as that of a server with few connections in a crowd.
class FullSocket {
 public:
  FullSocket() : listener_(open()) {
    REQUIRE(bind(listener_.get(), address(), sizeof(address_)) == 0);
    REQUIRE(listen(listener_.get(), 0) == 0);
    do clients_.push_back(open());
    while (connect(clients_.back().get(), address(), sizeof(address_)) == 0);
    REQUIRE(errno == EAGAIN);
  }
  std::string url() const { return "postgresql:///shop?host=" + directory_.path().string(); }

 private:
  static Fd open() { return Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }
  const sockaddr* address() {
    const auto path = (directory_.path() / ".s.PGSQL.5432").string();
    address_.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof(address_.sun_path));
    path.copy(address_.sun_path, path.size());
    return reinterpret_cast<const sockaddr*>(&address_);
  }

  TempDir directory_;
  sockaddr_un address_{};
  Fd listener_;
  std::vector<Fd> clients_;
};

TEST_CASE("a server with a full queue of clients is waited for") {
  const FullSocket server;
  const auto files = one_file();
  const auto impatient = run(files.migrate(server.url(), {"--output", "json"}));
  INFO(impatient.out);
  CHECK(impatient.exit_code == 4);
  CHECK(nlohmann::json::parse(impatient.out).at("error").at("code") == "too_many_connections");
  CHECK_THAT(impatient.out, ContainsSubstring("--wait-for-db"));

  Running patient(files.migrate(server.url(), {"--wait-for-db", "120s"}));
  patient.wait_for_output("too many clients connect at the same moment");
  patient.signal(SIGTERM);
  CHECK(patient.wait().exit_code == 143);
}

TEST_CASE("a server that speaks another language is understood all the same") {
  PgServer server(
      {.hba = "local all all trust\nhost all postgres all trust\nhost all all all scram-sha-256\n",
       .language = "de"});
  server.psql("postgres", "create role visitor login password 'geheim'");
  const auto files = one_file();
  const auto code_of = [&](const std::string& url, std::vector<std::string> more) {
    more.insert(more.end(), {"--output", "json"});
    const auto outcome = run(files.migrate(url, more));
    INFO(outcome.out);
    return nlohmann::json::parse(outcome.out).at("error").at("code").get<std::string>();
  };
  CHECK(code_of(server.url("nowhere"), {}) == "database_missing");
  CHECK(code_of(server.url("postgres", "visitor:falsch"), {"--wait-for-db", "60s"}) == "login_refused");

  Running patient(files.migrate(server.url("shop"), {"--wait-for-db", "120s"}));
  patient.wait_for_output("does not exist");
  server.psql("postgres", "create database shop");
  CHECK(patient.wait().exit_code == 0);
}

TEST_CASE("waiting for a server ends at its deadline") {
  PgServer server;
  server.stop();
  const auto outcome = run(one_file().migrate(server.url("postgres"), {"--wait-for-db", "300ms"}));
  CHECK(outcome.exit_code == 4);
  CHECK_THAT(outcome.err, ContainsSubstring("refused"));
}

TEST_CASE(
    "a server whose connections are all taken is waited for, and not taken for one that refuses the login") {
  const TestDatabase database;
  database.psql(
      "create role crowded_user login connection limit 1;"
      "grant all on schema public to crowded_user");
  std::optional<PsqlSession> other(std::in_place, database, "crowded_user");
  other->run("select 1;");
  const auto files = one_file();
  const auto url = database.url("crowded_user");
  const auto impatient = run(files.migrate(url));
  CHECK(impatient.exit_code == 4);
  CHECK_THAT(impatient.err, ContainsSubstring("53300") && ContainsSubstring("connections"));

  Running patient(files.migrate(url, {"--wait-for-db", "60s"}));
  patient.wait_for_output("waiting for the database");
  other.reset();
  CHECK(patient.wait().exit_code == 0);
  database.psql("drop owned by crowded_user; drop role crowded_user");
}

TEST_CASE("a wrong password is not tried again, and never shown") {
  PgServer server({.hba = "local all all trust\nhost all all all scram-sha-256\n"});
  server.psql("postgres", "create role deploy superuser login password 'right-secret'");
  const auto files = one_file();
  for (const auto* format : {"text", "json"}) {
    const auto mark = server.log_mark();
    const auto outcome = run(files.migrate(server.url("postgres", "deploy:wrong-secret"),
                                           {"--wait-for-db", "60s", "--output", format, "-v"}));
    CHECK(outcome.exit_code == 4);
    CHECK_THAT(outcome.out + outcome.err, ContainsSubstring("28P01") && !ContainsSubstring("wrong-secret"));
    CHECK(server.errors_since(mark).size() == 1);
  }
  const auto outcome = run(files.migrate(server.url("postgres", "deploy:right-secret"), {"-v"}));
  CHECK(outcome.exit_code == 0);
  CHECK_THAT(outcome.out + outcome.err, !ContainsSubstring("right-secret"));
}

TEST_CASE("the password can come from a password file of libpq") {
  PgServer server({.hba = "local all all trust\nhost all all all scram-sha-256\n"});
  server.psql("postgres", "create role deploy superuser login password 'from:file'");
  const TempDir dir;
  const auto pass_file = dir.write_file("pgpass", "*:*:*:deploy:from\\:file\n");
  std::filesystem::permissions(pass_file, std::filesystem::perms::owner_read);
  const auto files = one_file();
  auto command = files.migrate(server.url("postgres", "deploy"));
  const auto refused = run(command);
  INFO(refused.err);
  CHECK(refused.exit_code == 4);
  command.env["PGPASSFILE"] = pass_file;
  const auto accepted = run(command);
  INFO(accepted.err);
  CHECK(accepted.exit_code == 0);
}

TEST_CASE("an encrypted connection is verified as the connection string asks") {
  PgServer server({.hba = "local all all trust\nhostssl all all all trust\n", .tls = Tls::on});
  const auto files = one_file();
  const auto url = server.url("postgres");
  CHECK(run(files.migrate(url + "?sslmode=disable")).exit_code == 4);
  CHECK(run(files.migrate(url + "?sslmode=verify-full&sslrootcert=/nowhere/root.crt")).exit_code == 4);
  CHECK(run(files.migrate(url + "?sslmode=verify-full&sslrootcert=" + server.certificate().string()))
            .exit_code == 0);
}

TEST_CASE("a standby is refused for writing and can be asked for information") {
  PgServer server;
  server.stop();
  server.start_as_standby();
  const auto files = one_file();
  const auto refused = run(files.migrate(server.url("postgres"), {"--output", "json"}));
  CHECK(refused.exit_code == 5);
  CHECK(nlohmann::json::parse(refused.out).at("error").at("code") == "standby");
  CHECK(run(lockstep({"info", "--url", server.url("postgres"), "--dir", files.path()})).exit_code == 0);
}

TEST_CASE("of several hosts the one that can be written is taken") {
  const TestDatabase database;
  PgServer standby;
  standby.psql("postgres", "create database " + database.name());
  standby.stop();
  standby.start_as_standby();
  const auto files = one_file();
  const auto hosts = "host=127.0.0.1,127.0.0.1 port=" + std::to_string(standby.port()) + "," +
                     std::to_string(database.server().port()) + " user=postgres dbname=" + database.name();
  CHECK(run(files.migrate(hosts)).exit_code == 5);
  const auto accepted = run(files.migrate(hosts + " target_session_attrs=read-write"));
  INFO(accepted.err);
  CHECK(accepted.exit_code == 0);
  CHECK(applied_versions(database) == "1");
}

TEST_CASE("where only a standby answers, it is said that no primary is there, and a run can wait for it") {
  PgServer standby;
  standby.stop();
  standby.start_as_standby();
  const auto files = one_file();
  for (const std::string asked : {"read-write", "primary"}) {
    const auto hosts = "host=127.0.0.1,127.0.0.1 port=1," + std::to_string(standby.port()) +
                       " user=postgres dbname=postgres target_session_attrs=" + asked;
    const auto outcome = run(files.migrate(hosts, {"--output", "json", "--wait-for-db", "300ms"}));
    CHECK(outcome.exit_code == 4);
    CHECK_THAT(outcome.err, ContainsSubstring("waiting for the database: no server there takes writes"));
    CHECK(nlohmann::json::parse(outcome.out).at("error").at("code") == "no_primary");
  }
}

TEST_CASE("a session that is read-only by default is refused before anything is written") {
  const TestDatabase database;
  database.psql("alter database " + database.name() + " set default_transaction_read_only = on");
  const auto outcome = run(one_file().migrate(database.url()));
  CHECK(outcome.exit_code == 5);
  CHECK_THAT(outcome.err, ContainsSubstring("default_transaction_read_only"));
}

TEST_CASE("commands that only read work through a transaction pooler and write nothing") {
  const TestDatabase database;
  const PgBouncer pooler(database.server(), {.mode = PoolMode::transaction, .pool_size = 1});
  const auto files = one_file();
  const auto read = [&](const std::string& command) {
    return run(lockstep({command, "--url", pooler.url(database.name()), "--dir", files.path()}));
  };
  CHECK_THAT(read("info").out, ContainsSubstring("pending"));
  CHECK(read("validate").exit_code == 0);
  CHECK(database.psql("select count(*) from pg_catalog.pg_class where relname like 'lockstep%'") == "0");
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  CHECK_THAT(read("info").out, ContainsSubstring("applied"));
}

TEST_CASE("the session's name and its dead-client settings can be seen on the server") {
  const TestDatabase database;
  Gate gate(database);
  const MigrationDir files({{"V1__slow.sql", Gate::knock}});
  Running migrator(files.migrate(database.url()));
  const auto pid = std::to_string(gate.wait_for_knock());
  CHECK(database.psql(
            "select application_name ~ '^lockstep migrate [0-9a-f-]+' from pg_catalog.pg_stat_activity "
            "where pid = " +
            pid) == "t");
  gate.open();
  CHECK(migrator.wait().exit_code == 0);
  CHECK(database.psql("select count(distinct run_id), bool_and(duration_ms >= 0) from lockstep_history") ==
        "1|t");
}

TEST_CASE("the settings that free the lock of a dead client hold while a migration runs") {
  const TestDatabase database;
  const MigrationDir files({{"V1__settings.sql",
                             "create table seen as select name, setting from pg_catalog.pg_settings "
                             "where name ~ '^tcp_' or name = 'client_connection_check_interval';"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  CHECK(
      database.psql("select name, setting from seen order by name collate \"C\"") ==
      (PgServer::notices_dead_clients() ? "client_connection_check_interval|2000\n" : std::string()) +
          "tcp_keepalives_count|3\ntcp_keepalives_idle|5\ntcp_keepalives_interval|2\ntcp_user_timeout|7000");
}

TEST_CASE("a history that the role may not read is a matter of configuration, not of the connection") {
  const TestDatabase database;
  const MigrationDir files({{"V1__a.sql", "create role stranger login; create table a (i int);"}});
  REQUIRE(run(files.migrate(database.url())).exit_code == 0);
  for (const std::string command : {"info", "migrate"}) {
    auto strange = files.migrate(database.socket_url("stranger"));
    strange.argv[1] = command;
    const auto outcome = run(strange);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK_THAT(outcome.err, ContainsSubstring("42501") && ContainsSubstring("docs/history-table.md"));
  }
  database.psql("drop role stranger");
}

}  // namespace
}  // namespace lockstep::test
