#include "support/proxy.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>

#include "support/test_database.h"

namespace lockstep::test {
namespace {

TEST_CASE("the proxy counts a change of direction as one round trip") {
  const TestDatabase database;
  const auto transport = GENERATE(Transport::tcp, Transport::unix_socket);
  const Proxy proxy(database.server(), {.transport = transport});
  PsqlSession session(proxy.url(database.name()));
  session.run("select 1;");
  CHECK(proxy.connections() == 1);
  CHECK(proxy.round_trips() == 1);
  session.run("select 1\\; select 2\\; select 3;");
  CHECK(proxy.round_trips() == 2);
  session.run("select 1;\nselect 2;");
  CHECK(proxy.round_trips() == 4);
}

TEST_CASE("the proxy delays each way") {
  const TestDatabase database;
  const Proxy proxy(database.server(), {.delay = 25ms});
  PsqlSession session(proxy.url(database.name()));
  session.run("select 1;");
  const auto begin = std::chrono::steady_clock::now();
  CHECK(session.run("select 1;") == "1");
  CHECK(std::chrono::steady_clock::now() - begin >= 50ms);
}

TEST_CASE("the proxy cuts a connection before a message, so that the server never sees it") {
  const TestDatabase database;
  const Proxy proxy(
      database.server(),
      {.fault = {.kind = Fault::Kind::cut, .moment = Fault::Moment::before, .message = 2, .text = "insert"}});
  database.psql("create table t (i int)");
  PsqlSession session(proxy.url(database.name()));
  session.run("insert into t values (1);");
  CHECK_THROWS(session.run("insert into t values (2);"));
  CHECK(proxy.fault_happened());
  CHECK(database.psql("select * from t") == "1");
}

TEST_CASE("the proxy cuts a connection after a message, so that the server's answer is lost") {
  const TestDatabase database;
  const Proxy proxy(database.server(),
                    {.fault = {.kind = Fault::Kind::cut, .moment = Fault::Moment::after, .text = "insert"}});
  database.psql("create table t (i int)");
  PsqlSession session(proxy.url(database.name()));
  CHECK_THROWS(session.run("insert into t values (1);"));
  wait_until("the server to insert", [&] { return database.psql("select * from t") == "1"; });
}

TEST_CASE("the proxy stalls a connection: nothing passes and nobody is told") {
  const TestDatabase database;
  const Proxy proxy(database.server(), {.fault = {.kind = Fault::Kind::stall, .text = "select 2"}});
  Running psql({.argv = {PgServer::program("psql"), "-XAt", "-c", "select 1", "-c", "select 2", "-d",
                         proxy.url(database.name())}});
  wait_until("the fault", [&] { return proxy.fault_happened(); });
  CHECK_FALSE(holds_within(300ms, [&] { return psql.finished(); }));
}

}  // namespace
}  // namespace lockstep::test
