#include <libpq-fe.h>

#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <vector>

#include "sql/statement_reader.h"
#include "support/test_database.h"

namespace lockstep::test {
namespace {

using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

class Session {
 public:
  explicit Session(const TestDatabase& database)
      : connection_(PQconnectdb(database.socket_url().c_str()), &PQfinish) {}

  Result run(const std::string& text) { return {PQexec(connection_.get(), text.c_str()), &PQclear}; }
  void run_all(const std::vector<std::string>& texts) {
    for (const auto& text : texts) {
      INFO(text << ": " << PQerrorMessage(connection_.get()));
      REQUIRE(PQresultStatus(run(text).get()) == PGRES_COMMAND_OK);
    }
  }
  int major() const { return PQserverVersion(connection_.get()) / 10000; }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

sql::StatementClass class_of_statement(const std::string& text) {
  sql::StatementReader reader(sql::read_from(text));
  return reader.next().value().statement;
}

/// What the server says to it in a transaction. There it refuses some statements whatever else is wrong with
/// them; those come first in its checks.
std::string sqlstate_in_transaction(Session& session, const std::string& text) {
  session.run("begin");
  const auto result = session.run(text);
  const auto* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  session.run("rollback");
  return state == nullptr ? "" : state;
}

const std::vector<std::string> objects = {
    "create table t (a int, b text)",
    "create index i on t (a)",
    "create index \"concurrently\" on t (a)",
    "cluster t using i",
    "create table m (a int) partition by list (a)",
    "create table m1 partition of m for values in (1)",
    "create type e as enum ('a')",
    "create publication p for table t",
    "create subscription s connection 'dbname=x' publication p with (connect = false)",
};

const std::vector<std::string> statements = {
    "create index concurrently j on t (a)",
    "create unique index concurrently if not exists j on t (a)",
    "create index j on t (a)",
    "drop index concurrently i",
    "drop index i",
    "drop index \"concurrently\"",
    "reindex index concurrently i",
    "reindex table concurrently t",
    "reindex (verbose) table concurrently t",
    "reindex table t",
    "reindex index \"concurrently\"",
    "reindex schema public",
    "reindex (verbose) schema public",
    "vacuum",
    "vacuum (analyze) t",
    "vacuum full t",
    "analyze t",
    "cluster",
    "cluster verbose",
    "cluster t",
    "cluster verbose t",
    "cluster (verbose) t using i",
    "create database d1",
    "drop database if exists d1",
    "create tablespace ts location '/nowhere'",
    "drop tablespace if exists ts",
    "alter database postgres set tablespace pg_default",
    "alter database postgres with tablespace pg_default",
    "alter database postgres tablespace = pg_default",
    "alter database postgres set work_mem = '4MB'",
    "alter system set work_mem = '4MB'",
    "alter system reset work_mem",
    "commit prepared 'x'",
    "rollback prepared 'x'",
    "alter table m detach partition m1",
    "alter type e add value 'b'",
    "discard all",
    "discard plans",
    "discard temp",
    "create subscription s2 connection 'dbname=x' publication p",
    "create subscription s2 connection 'dbname=x' publication p with (enabled = false)",
    "create subscription s2 connection 'dbname=x' publication p with (connect = false)",
    "create subscription s2 connection 'dbname=x' publication p with (connect = off, slot_name = none)",
    "alter subscription s disable",
    "alter subscription s set publication q with (refresh = false)",
    "alter subscription s set (slot_name = none)",
    "refresh materialized view concurrently v",
    "checkpoint",
    "listen x",
    "lock table t",
    "truncate t",
    "do $$ begin perform 1; end $$",
    "create table vacuum (a int)",
    "comment on table t is 'create index concurrently'",
};

/// An older server cannot read these.
const std::vector<std::string> statements_of_14 = {
    "reindex (concurrently) index i",
    "reindex (concurrently true, verbose) table t",
    "reindex (concurrently false) index i",
    "reindex (concurrently off, concurrently on) index i",
    "reindex (concurrently on, concurrently off) index i",
    "reindex (concurrently off) index concurrently i",
    "alter table m detach partition m1 concurrently",
    "alter table only public.m detach partition public.m1 concurrently",
};

TEST_CASE("the server agrees which statements cannot run in a transaction block") {
  const TestDatabase database;
  Session session(database);
  session.run_all(objects);
  const auto check = [&](const std::string& text) {
    INFO(text);
    const bool refused = sqlstate_in_transaction(session, text) == "25001";
    CHECK(refuses_transaction(class_of_statement(text), session.major()) == refused);
  };
  for (const auto& text : statements) check(text);
  for (const auto& text : statements_of_14) {
    if (session.major() >= 14) {
      check(text);
    } else {
      CHECK(sqlstate_in_transaction(session, text) == "42601");
    }
  }
  session.run_all({"alter subscription s set (slot_name = none)", "drop subscription s"});
}

const std::vector<std::string> copies = {
    "copy t from stdin",
    "COPY \"t\" (a, \"b\") FROM STDIN WITH (FORMAT csv)",
    "copy public.t from stdout",
    "copy t from stdin csv header",
    "copy t from stdin using delimiters ','",
    "copy t from stdin where a > 1",
    "copy/**/t from--\nstdin",
};
const std::vector<std::string> not_copies = {
    "copy t to stdout",
    "copy t to stdin",
    "copy (select a from t) to stdout",
    "copy (select \"from stdin\" from (values (1)) as stdin (\"from stdin\")) to stdout",
};

TEST_CASE("the server agrees which statements take COPY data") {
  const TestDatabase database;
  for (const auto& text : copies) {
    INFO(text);
    Session session(database);
    session.run_all({"create table if not exists t (a int, b text)"});
    CHECK(PQresultStatus(session.run(text).get()) == PGRES_COPY_IN);
    CHECK(class_of_statement(text).kind == sql::StatementKind::copy_from_stdin);
  }
  for (const auto& text : not_copies) {
    INFO(text);
    Session session(database);
    CHECK(PQresultStatus(session.run(text).get()) == PGRES_COPY_OUT);
    CHECK(class_of_statement(text).kind == sql::StatementKind::copy_to_stdout);
  }
}

}  // namespace
}  // namespace lockstep::test
