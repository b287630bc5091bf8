#include <catch2/catch_test_macros.hpp>

#include "sql/statement_reader.h"
#include "sql/target.h"

namespace lockstep::sql {
namespace {

Recovery recovery(std::string_view text) {
  StatementReader reader(read_from(text));
  const auto item = reader.next().value();
  return recovery_of(item.statement, item.text);
}

std::string name_of(std::string_view text) {
  return target_of(text).name;
}
std::string table_of(std::string_view text) {
  return target_of(text).table;
}

TEST_CASE("the index and table of CREATE INDEX CONCURRENTLY are told as they are written") {
  const auto* const plain =
      "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS by_a ON ONLY app.t USING btree (a)";
  CHECK(name_of(plain) == "by_a");
  CHECK(table_of(plain) == "app.t");
  const auto* const quoted = "create index concurrently \"By A\" /* c */ on \"App\" -- c\n . \"T.\"\"1\" (a)";
  CHECK(name_of(quoted) == "\"By A\"");
  CHECK(table_of(quoted) == "\"App\".\"T.\"\"1\"");
  const auto* const nameless = "create index concurrently on t (a)";
  CHECK(name_of(nameless).empty());
  CHECK(table_of(nameless) == "t");
}

TEST_CASE("the object of other statements outside a transaction is told") {
  CHECK(name_of("drop index concurrently if exists s.i cascade") == "s.i");
  CHECK(name_of("reindex (verbose) index concurrently i") == "i");
  CHECK(name_of("reindex (concurrently) index s.i") == "s.i");
  CHECK(table_of("reindex table concurrently t") == "t");
  CHECK(table_of("reindex schema concurrently t").empty());
  const auto* const detach = "alter table if exists only s.m detach partition s.m1 concurrently";
  CHECK(table_of(detach) == "s.m");
  CHECK(name_of(detach) == "s.m1");
  CHECK(name_of("create database \"My DB\" template x") == "\"My DB\"");
  CHECK(name_of("drop database if exists d") == "d");
  CHECK(name_of("create tablespace x location '/x'") == "x");
  CHECK(name_of("drop subscription s") == "s");
  CHECK(name_of("commit prepared 'gid 1'") == "gid 1");
}

TEST_CASE("a name in Unicode escapes is not told, rather than told wrongly") {
  CHECK(name_of("drop index concurrently U&\"\\0061\"").empty());
}

TEST_CASE("a statement commits together with its note unless it cannot or may commit itself") {
  CHECK(recovery("insert into t values (1)") == Recovery::together);
  CHECK(recovery("alter type e add value 'x'") == Recovery::together);
  CHECK(recovery("set search_path = a") == Recovery::together);
  CHECK(recovery("do $$begin perform 1; end$$") == Recovery::together);
  CHECK(recovery("do $$begin perform 1; COMMIT; end$$") == Recovery::ask);
  CHECK(recovery("do $$begin call p(); end$$") == Recovery::ask);
  CHECK(recovery("call p()") == Recovery::ask);
  CHECK(recovery("vacuum t") == Recovery::again);
  CHECK(recovery("reindex table concurrently t") == Recovery::again);
  CHECK(recovery("create index concurrently i on t (a)") == Recovery::look_up);
  CHECK(recovery("alter table m detach partition m1 concurrently") == Recovery::look_up);
  CHECK(recovery("create database d") == Recovery::look_up);
}

}  // namespace
}  // namespace lockstep::sql
