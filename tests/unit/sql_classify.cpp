#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "sql/statement_reader.h"

namespace lockstep::sql {
namespace {

StatementClass class_of_statement(std::string_view text) {
  StatementReader reader(read_from(text));
  return reader.next().value().statement;
}

/// PostgreSQL 15 and 17 say of each "cannot run inside a transaction block" (or, for want of a publisher, the
/// manual).
const std::vector<std::string_view> refused_in_transactions = {
    "create index concurrently on t (a)",
    "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON t (a)",
    "create /* ; */ index -- note\n concurrently i on t (a)",
    "drop index concurrently if exists i, j",
    "reindex index concurrently i",
    "reindex table concurrently t",
    "reindex (verbose) table concurrently t",
    "reindex (concurrently) index i",
    "reindex (verbose, concurrently true, tablespace x) table t",
    "reindex (concurrently false, concurrently on) table t",
    "reindex (concurrently off) index concurrently i",
    "reindex schema s",
    "reindex (verbose) database d",
    "reindex system d",
    "vacuum",
    "vacuum (analyze) t",
    "cluster",
    "cluster verbose",
    "cluster (verbose)",
    "create database d template x",
    "drop database if exists d",
    "create tablespace x location '/x'",
    "drop tablespace x",
    "alter database d set tablespace x",
    "alter database d with tablespace = x",
    "alter system set work_mem = '1MB'",
    "commit prepared 'x'",
    "rollback prepared 'x'",
    "alter table m detach partition m1 concurrently",
    "ALTER TABLE IF EXISTS \"A\".m DETACH PARTITION a.m1 CONCURRENTLY",
    "create subscription s connection 'x' publication p",
    "create subscription s connection 'x' publication p with (enabled = false)",
    "create subscription s connection 'x' publication p with (connect = true, create_slot)",
    "drop subscription s",
    "alter subscription s refresh publication with (copy_data = false)",
    "alter subscription s set publication p, q",
    "alter subscription s add publication p with (copy_data = false)",
    "discard all",
};

const std::vector<std::string_view> taken_in_transactions = {
    "create index i on t (a)",
    "create index \"concurrently\" on t (a)",
    "create index i on concurrently_kept (a)",
    "drop index i, concurrently_kept",
    "reindex table t",
    "reindex (concurrently false) index i",
    "reindex (concurrently, concurrently off) index i",
    "reindex (tablespace x) table concurrently_kept",
    "analyze t",
    "cluster t using i",
    "cluster verbose t",
    "cluster (verbose) t",
    "cluster i on t",
    "create table database (vacuum int)",
    "alter database d set work_mem = '1MB'",
    "alter database d rename to tablespace",
    "alter table m detach partition m1",
    "alter table m detach partition m1 finalize",
    "alter table m attach partition m1 for values in ('concurrently')",
    "create subscription s connection 'x' publication p with (connect = false)",
    "create subscription s connection 'x' publication p with (slot_name = none, create_slot = false)",
    "alter subscription s set publication p with (refresh = false)",
    "alter subscription s disable",
    "alter type e add value 'x'",
    "refresh materialized view concurrently v",
    "discard temp",
    "comment on table t is 'vacuum'",
    "select 'create index concurrently'",
    "do $$ begin execute 'vacuum'; end $$",
    "checkpoint",
};

TEST_CASE("statements that cannot run in a transaction block are known") {
  for (const auto text : refused_in_transactions) {
    INFO(text);
    CHECK(refuses_transaction(class_of_statement(text), std::nullopt));
    CHECK(refuses_transaction(class_of_statement(text), 17));
  }
}

TEST_CASE("statements that merely look like those are not") {
  for (const auto text : taken_in_transactions) {
    INFO(text);
    CHECK_FALSE(refuses_transaction(class_of_statement(text), std::nullopt));
  }
}

TEST_CASE("what only newer servers refuse is judged by the server's version") {
  const auto refresh = class_of_statement("alter subscription s refresh publication");
  CHECK_FALSE(refuses_transaction(refresh, 13));
  CHECK(refuses_transaction(refresh, 14));
  const auto failover = class_of_statement("alter subscription s set (failover = true)");
  CHECK_FALSE(refuses_transaction(failover, 16));
  CHECK(refuses_transaction(failover, 17));
  const auto two_phase = class_of_statement("alter subscription s set (two_phase = false)");
  CHECK_FALSE(refuses_transaction(two_phase, 17));
  CHECK(refuses_transaction(two_phase, 18));
  CHECK(class_of_statement("alter subscription s set (two_phase)").not_in_transaction_since == 0);
}

struct Known {
  std::string_view text;
  StatementKind kind;
};

const std::vector<Known> kinds = {
    {"begin", StatementKind::begin},
    {"BEGIN ISOLATION LEVEL SERIALIZABLE", StatementKind::begin},
    {"start transaction read only", StatementKind::begin},
    {"commit", StatementKind::commit},
    {"end work", StatementKind::commit},
    {"rollback", StatementKind::rollback},
    {"abort transaction", StatementKind::rollback},
    {"rollback to a", StatementKind::rollback_to},
    {"rollback work to savepoint a", StatementKind::rollback_to},
    {"savepoint a", StatementKind::savepoint},
    {"release savepoint a", StatementKind::release},
    {"prepare transaction 'x'", StatementKind::prepare_transaction},
    {"prepare transaction as select 1", StatementKind::other},
    {"prepare transaction (int) as select $1", StatementKind::other},
    {"commit prepared 'x'", StatementKind::commit_prepared},
    {"rollback prepared 'x'", StatementKind::rollback_prepared},
    {"set transaction isolation level serializable", StatementKind::set_transaction},
    {"set local transaction read only", StatementKind::set_transaction},
    {"set session characteristics as transaction read only", StatementKind::set},
    {"set search_path = a, b", StatementKind::set},
    {"set constraints all deferred", StatementKind::other},
    {"reset all", StatementKind::set},
    {"select pg_catalog.set_config('search_path', '', false)", StatementKind::set},
    {"alter type s.e add value if not exists 'x' before 'y'", StatementKind::alter_type_add_value},
    {"alter type e rename value 'x' to 'y'", StatementKind::other},
    {"call p(1)", StatementKind::call},
    {"do $$ begin end $$", StatementKind::do_block},
    {"copy t from stdin", StatementKind::copy_from_stdin},
    {"COPY \"From\".t (\"to\", b) FROM STDIN WITH (FORMAT csv, NULL '')", StatementKind::copy_from_stdin},
    {"copy t from stdout", StatementKind::copy_from_stdin},
    {"copy t to stdin", StatementKind::copy_to_stdout},
    {"copy (select a from stdin) to stdout", StatementKind::copy_to_stdout},
    {"copy t from '/x'", StatementKind::other},
    {"copy t from program 'x'", StatementKind::other},
};

TEST_CASE("transaction control, settings and COPY are told apart") {
  for (const auto& known : kinds) {
    INFO(known.text);
    CHECK(class_of_statement(known.text).kind == known.kind);
  }
}

TEST_CASE("AND CHAIN is seen in all its forms") {
  CHECK(class_of_statement("commit and chain").chains);
  CHECK(class_of_statement("rollback work and chain").chains);
  CHECK(class_of_statement("end transaction and chain").chains);
  CHECK_FALSE(class_of_statement("commit and no chain").chains);
}

TEST_CASE("the format of COPY data is known in old and new spelling") {
  CHECK(class_of_statement("copy t from stdin").copy_format == CopyFormat::text);
  CHECK(class_of_statement("copy t from stdin csv header").copy_format == CopyFormat::csv);
  CHECK(class_of_statement("copy t from stdin (force_null (a, b), format 'CSV')").copy_format ==
        CopyFormat::csv);
  CHECK(class_of_statement("copy t from stdin with (format text)").copy_format == CopyFormat::text);
  CHECK(class_of_statement("copy t from stdin with (format binary)").copy_format == CopyFormat::binary);
  CHECK(class_of_statement("copy binary t from stdin").copy_format == CopyFormat::binary);
  CHECK(class_of_statement("copy t from stdin with binary").copy_format == CopyFormat::binary);
}

TEST_CASE("a COPY with a very long list of columns is still a COPY") {
  std::string text = "copy t (a0";
  for (int i = 1; i < 1600; ++i) text += ", a" + std::to_string(i);
  CHECK(class_of_statement(text + ") from stdin").kind == StatementKind::copy_from_stdin);
}

TEST_CASE("settings that change how text is read are seen") {
  using To = ReadingChange::To;
  const auto change = [](std::string_view text) { return class_of_statement(text).reading; };
  CHECK(change("set standard_conforming_strings = off").to == To::off);
  CHECK(change("SET SESSION Standard_Conforming_Strings TO 'on'").to == To::on);
  CHECK(change("set local standard_conforming_strings to default").to == To::initial);
  CHECK(change("set local standard_conforming_strings = off").local);
  CHECK(change("set names 'latin1'").setting == ReadingSetting::client_encoding);
  CHECK(change("set backslash_quote = on").setting == ReadingSetting::backslash_quote);
  CHECK(change("reset client_encoding").setting == ReadingSetting::client_encoding);
  CHECK(change("discard all").setting == ReadingSetting::all);
  CHECK(change("select set_config('standard_conforming_strings', 'off', true)").local);
  CHECK(change("set work_mem = 1").setting == ReadingSetting::none);
}

TEST_CASE("statements that let go of advisory locks are noted") {
  CHECK(class_of_statement("discard all").drops_session_locks());
  CHECK_FALSE(class_of_statement("discard plans").drops_session_locks());
}

TEST_CASE("a command is called by its words") {
  const auto name = [](std::string_view text) { return command_name(class_of_statement(text), text); };
  CHECK(name("create unique index concurrently i on t (a)") == "CREATE INDEX CONCURRENTLY");
  CHECK(name("alter table t add a int") == "ALTER TABLE");
  CHECK(name("create or replace view v as select 1") == "CREATE VIEW");
  CHECK(name("drop materialized view v") == "DROP MATERIALIZED VIEW");
  CHECK(name("insert into t values (1)") == "INSERT");
  CHECK(name("(select 1)") == "SELECT");
}

}  // namespace
}  // namespace lockstep::sql
