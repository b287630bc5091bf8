#include "core/clean.h"

#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "support/postgres_lab.h"
#include "support/recording_reporter.h"
#include "support/test_database.h"

// What clean drops on a real server, and what it leaves alone.

namespace lockstep::test {
namespace {

/// An object of every kind that lives in a schema.
constexpr const char* one_of_each = R"(
create table t (id serial primary key, e int generated always as identity, constraint pos check (id > 0));
create table u (t_id int references t, x int default 5);
create type mood as enum ('a', 'b');
create domain dm as int check (value > 0);
create domain dm2 as dm;
create type comp as (a dm2, b dm[]);
create type rng as range (subtype = int8);
create type shell;
create type base;
create function base_in(cstring) returns base language internal immutable strict as 'int4in';
create function base_out(base) returns cstring language internal immutable strict as 'int4out';
create type base (input = base_in, output = base_out, like = int4);
create function f(c comp) returns int language sql as 'select 1';
create function f() returns int language sql as 'select 1';
create procedure p(inout a int) language sql as 'select 1';
create aggregate agg(*) (sfunc = int8inc, stype = int8, initcond = '0');
create aggregate agg(float8 order by float8) (sfunc = float8_accum, stype = float8[], initcond = '{0,0,0}');
create function of_table(t) returns int language sql as 'select 1';
alter table t add column c int default f();
create view v as select * from t;
create materialized view m as select * from v;
create view "odd "" name" as select f() as a;
create function gt(comp, comp) returns bool language sql as 'select true';
create operator ### (leftarg = comp, rightarg = comp, procedure = gt);
create operator @@@ (rightarg = comp, procedure = f);
create operator family fam using btree;
create operator class oc for type mood using hash as operator 1 = (anyenum, anyenum), function 1 hashenum(anyenum);
create collation co from "C";
create conversion cv for 'LATIN1' to 'UTF8' from iso8859_1_to_utf8;
create text search configuration tc (copy = simple);
create text search dictionary td (template = simple);
create text search parser tp (start = prsd_start, gettoken = prsd_nexttoken, end = prsd_end, lextypes = prsd_lextype);
create text search template tt (lexize = dsimple_lexize);
create statistics st on id, e from t;
create foreign data wrapper fdw;
create server srv foreign data wrapper fdw;
create foreign table ft (a int) server srv;
create table pt (a int primary key) partition by range (a);
create table pt1 partition of pt for values from (0) to (10);
create table inh () inherits (t);
create sequence sq;
create cast (mood as comp) with inout;
create cast (text as mood) with inout;
create function trg() returns trigger language plpgsql as 'begin return null; end';
create trigger tr after insert on t for each row execute function trg();
create rule ru as on insert to u do also select 1;
create policy po on t using (f() > 0);
)";

/// Everything in the schema public that is no member of an extension, catalog by catalog.
constexpr const char* left_in_public = R"(
with found as (
  select 'pg_class'::regclass::oid as classid, oid, relname::text as name from pg_class where relnamespace = 'public'::regnamespace
  union all select 'pg_type'::regclass, oid, typname from pg_type where typnamespace = 'public'::regnamespace
  union all select 'pg_proc'::regclass, oid, proname from pg_proc where pronamespace = 'public'::regnamespace
  union all select 'pg_operator'::regclass, oid, oprname from pg_operator where oprnamespace = 'public'::regnamespace
  union all select 'pg_opclass'::regclass, oid, opcname from pg_opclass where opcnamespace = 'public'::regnamespace
  union all select 'pg_opfamily'::regclass, oid, opfname from pg_opfamily where opfnamespace = 'public'::regnamespace
  union all select 'pg_collation'::regclass, oid, collname from pg_collation where collnamespace = 'public'::regnamespace
  union all select 'pg_conversion'::regclass, oid, conname from pg_conversion where connamespace = 'public'::regnamespace
  union all select 'pg_ts_config'::regclass, oid, cfgname from pg_ts_config where cfgnamespace = 'public'::regnamespace
  union all select 'pg_ts_dict'::regclass, oid, dictname from pg_ts_dict where dictnamespace = 'public'::regnamespace
  union all select 'pg_ts_parser'::regclass, oid, prsname from pg_ts_parser where prsnamespace = 'public'::regnamespace
  union all select 'pg_ts_template'::regclass, oid, tmplname from pg_ts_template where tmplnamespace = 'public'::regnamespace
  union all select 'pg_statistic_ext'::regclass, oid, stxname from pg_statistic_ext where stxnamespace = 'public'::regnamespace
  union all select 'pg_constraint'::regclass, oid, conname from pg_constraint where connamespace = 'public'::regnamespace)
select name from found where not exists
  (select from pg_depend as d where d.classid = found.classid and d.objid = found.oid and d.deptype = 'e')
order by 1)";

struct Cleaning {
  Inventory clean(const std::vector<std::string>& schemas = {"public"}) {
    RecordingReporter reporter;
    return lockstep::clean(*lab.open(), schemas, {}, reporter);
  }

  Error failure(const std::vector<std::string>& schemas = {"public"}) {
    try {
      clean(schemas);
    } catch (const Failure& failure) {
      return failure.error();
    }
    return {};
  }

  std::string psql(const std::string& sql) const { return lab.server().psql(sql); }

  PostgresLab lab = {};
};

}  // namespace

TEST_CASE("clean drops an object of every kind, whatever depends on what") {
  Cleaning cleaning;
  cleaning.psql(one_of_each);
  CHECK(cleaning.clean().dependents.empty());
  CHECK(cleaning.psql(left_in_public).empty());
  CHECK(cleaning.psql("select count(*) from pg_cast where oid >= 16384") == "0");
  CHECK(cleaning.psql("select srvname from pg_foreign_server") == "srv");
  CHECK(cleaning.lab.server().errors().empty());
  cleaning.psql(std::string("drop foreign data wrapper fdw cascade;") + one_of_each);
}

TEST_CASE("clean leaves what belongs to an extension, its indexes' operators included") {
  Cleaning cleaning;
  cleaning.psql(
      "create extension pg_trgm; create extension hstore;"
      "create table t (a text, b hstore); create index on t using gin (a gin_trgm_ops)");
  const auto dropped = cleaning.clean();
  CHECK(dropped.objects == std::vector<SchemaObject>{{.kind = "table", .name = "public.t"}});
  CHECK(cleaning.psql("select 'word' % 'words', 'a=>1'::hstore -> 'a'") == "t|1");
}

TEST_CASE("what elsewhere depends on the schema is named and nothing is dropped") {
  Cleaning cleaning;
  cleaning.psql(R"(
create table t (id int primary key, e int);
create type mood as enum ('a');
create sequence sq;
create function f() returns int immutable language sql as 'select 1';
create function trg() returns trigger language plpgsql as 'begin return null; end';
create function evf() returns event_trigger language plpgsql as 'begin end';
create table pt (a int primary key) partition by range (a);
create schema other;
create view other.v as select * from t;
create view other.on_v as select * from other.v;
create table other.o (a int references t, m mood, s int default nextval('sq'), d int);
create index on other.o (d) where d > f();
create table other.part partition of pt for values from (10) to (20);
create table other.child () inherits (t);
create function other.f(t) returns int language sql as 'select 1';
create statistics other.st on id, e from t;
create trigger tr before insert on other.o for each row execute function trg();
create event trigger ev on ddl_command_end execute function evf();
)");
  const auto error = cleaning.failure();
  CHECK(error.kind == ErrorKind::config);
  CHECK(error.code == "dependents_outside");
  CHECK(error.message == "11 objects elsewhere depend on what would be dropped");
  CHECK(error.detail ==
        "default value for other.o.s depends on sequence public.sq\n"
        "event trigger ev depends on function public.evf()\n"
        "function other.f(public.t) depends on type public.t\n"
        "index other.o_d_idx depends on function public.f()\n"
        "statistics object other.st depends on table public.t\n"
        "table column other.o.m depends on type public.mood\n"
        "table constraint o_a_fkey on other.o depends on index public.t_pkey\n"
        "table other.child depends on table public.t\n"
        "table other.part depends on table public.pt\n"
        "trigger tr on other.o depends on function public.trg()\n"
        "view other.v depends on table public.t");
  CHECK(cleaning.psql("select count(*) from t") == "0");

  cleaning.psql("drop event trigger ev");
  CHECK(cleaning.failure({"public", "other"}).code.empty());
  CHECK(cleaning.psql("select count(*) from pg_class where relnamespace in ('public'::regnamespace, "
                      "'other'::regnamespace)") == "0");
}

TEST_CASE("clean takes the history along, wherever that is, and the next migrate begins a new one") {
  Cleaning cleaning;
  cleaning.psql("create schema app; create table app.t ()");
  const auto database = cleaning.lab.open();
  REQUIRE(database->try_lock().acquired);
  database->prepare_history();
  database->apply({.migration = cleaning.lab.works("V1__a.sql")}, 0, {});
  const auto dropped = database->drop_contents({"app"}, {[](const Inventory&) {}});
  CHECK(dropped.objects == std::vector<SchemaObject>{{.kind = "table", .name = "app.t"},
                                                     {.kind = "table", .name = "public.lockstep_history"}});
  CHECK(database->history().empty());
  CHECK_FALSE(cleaning.lab.has_table());
  database->prepare_history();
  CHECK(database->apply({.migration = cleaning.lab.works("V1__a.sql")}, 0, {}).rank == 1);
}

TEST_CASE("a table of somebody else makes clean drop nothing") {
  Cleaning cleaning;
  cleaning.psql("create role cleaner login; grant all on schema public to cleaner; create table theirs ()");
  auto options = cleaning.lab.options();
  options.conninfo = cleaning.lab.server().socket_url("cleaner");
  {
    const auto database = cleaning.lab.open(options);
    cleaning.psql("create table own (); alter table own owner to cleaner");
    REQUIRE(database->try_lock().acquired);
    try {
      database->drop_contents({"public"}, [](const Inventory&) {});
      FAIL("it was dropped");
    } catch (const Failure& failure) {
      CHECK(failure.error().kind == ErrorKind::migration);
      CHECK(failure.error().sqlstate == "42501");
    }
  }
  CHECK(cleaning.psql("select to_regclass('own') is not null") == "t");
  cleaning.psql("drop owned by cleaner; drop role cleaner");
}

TEST_CASE("clean waits no longer for another session's lock than lock_timeout") {
  Cleaning cleaning;
  cleaning.psql("create table t ()");
  PsqlSession other(cleaning.lab.server());
  other.run("begin; select * from t;");
  auto options = cleaning.lab.options();
  options.lock_timeout = Milliseconds{50};
  const auto database = cleaning.lab.open(options);
  REQUIRE(database->try_lock().acquired);
  try {
    database->drop_contents({"public"}, [](const Inventory&) {});
    FAIL("it was dropped");
  } catch (const Failure& failure) {
    CHECK(failure.error().sqlstate == "55P03");
  }
  database->unlock();
}

TEST_CASE("nothing that a role puts into its search_path changes what clean finds") {
  Cleaning cleaning;
  cleaning.psql(R"(
create schema trap;
create table trap.pg_depend (classid oid, objid oid, objsubid int, refclassid oid, refobjid oid, refobjsubid int, deptype "char");
create function trap.always(name, name) returns bool language sql as 'select true';
create operator trap.= (leftarg = name, rightarg = name, procedure = trap.always);
create table public.t ();
)");
  auto options = cleaning.lab.options();
  options.search_path = "trap, pg_catalog, public";
  options.history_schema = "public";
  const auto found = cleaning.lab.open(options)->inventory({"public"});
  CHECK(found.objects == std::vector<SchemaObject>{{.kind = "table", .name = "public.t"}});
}

TEST_CASE("a schema that is not there is reported, and the others are looked at") {
  Cleaning cleaning;
  cleaning.psql("create schema \"a\"\"b\"; create table \"a\"\"b\".t ()");
  const auto found = cleaning.lab.open()->inventory({"nowhere", "a\"b"});
  CHECK(found.missing_schemas == std::vector<std::string>{"nowhere"});
  CHECK(found.objects == std::vector<SchemaObject>{{.kind = "table", .name = "\"a\"\"b\".t"}});
}

}  // namespace lockstep::test
