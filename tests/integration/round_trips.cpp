#include <catch2/catch_test_macros.hpp>
#include <chrono>

#include "support/migrating.h"
#include "support/proxy.h"

namespace lockstep::test {
namespace {

TEST_CASE("a run with nothing to do takes two round trips, one that applies n files four and one for each") {
  const TestDatabase database;
  // A server this far away shows what is sent without waiting for an answer: it comes before the answer does.
  constexpr std::chrono::milliseconds away{20};
  Proxy proxy(database.server(), {.transport = Transport::unix_socket, .delay = away});
  const MigrationDir files({{"V1__a.sql", "create table a (i int); insert into a values (1);"},
                            {"V2__b.sql", "create table b (i int);"},
                            {"V3__c.sql", "create table c (i int);"}});
  const auto migrate = unprobed(files.migrate(proxy.url(database.name())));

  REQUIRE(run(migrate).exit_code == 0);
  CHECK(proxy.round_trips() <= 4 + 3);
  CHECK(proxy.connections() == 1);

  proxy.reset();
  REQUIRE(run(migrate).exit_code == 0);
  CHECK(proxy.round_trips() <= 2);

  proxy.reset();
  files.write("V4__d.sql", "create table d (i int);");
  REQUIRE(run(migrate).exit_code == 0);
  CHECK(proxy.round_trips() <= 4 + 1);
}

}  // namespace
}  // namespace lockstep::test
