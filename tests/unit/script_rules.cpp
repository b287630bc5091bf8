#include "core/script_rules.h"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace lockstep;
using Catch::Matchers::ContainsSubstring;
using Texts = std::vector<std::string>;

namespace {

Judgement judge(std::string_view script, std::string_view config = {}) {
  const auto survey = sql::survey(sql::read_from(script));
  if (config.empty()) return judge_script(survey, {}, {"V1.sql"});
  return judge_script(survey, {"V1.sql.conf", read_script_config(config, "V1.sql.conf")}, {"V1.sql"});
}

/// Code and place of every problem.
Texts problems(const Judgement& judgement) {
  Texts texts;
  for (const auto& problem : judgement.problems) {
    CHECK(problem.kind == ErrorKind::files);
    CHECK_FALSE(problem.message.empty());
    texts.push_back(problem.code + " " + to_string(*problem.where));
  }
  return texts;
}

Texts problems(std::string_view script, std::string_view config = {}) {
  return problems(judge(script, config));
}

}  // namespace

TEST_CASE("ordinary statements run in a transaction") {
  const auto judgement = judge("create table t (a int);\ninsert into t values (1);\n");
  CHECK(problems(judgement).empty());
  CHECK(judgement.transaction == TransactionMode::on);
}

TEST_CASE("a file without a statement is fine") {
  for (const auto* script : {"", "\n\n", "-- later\n/* nothing */ ;"}) {
    CHECK(problems(script).empty());
    CHECK(judge(script).transaction == TransactionMode::on);
  }
}

TEST_CASE("a file whose statements all cannot run in a transaction runs outside of one") {
  for (const auto* script :
       {"create index concurrently i on t (a);",
        "create index concurrently i on t (a); create index concurrently j on t (b);", "vacuum (analyze) t;",
        "create database d;", "alter system set a = 'b';",
        "set lock_timeout = '1h'; reindex index concurrently i;", "commit prepared 'x';"}) {
    CAPTURE(script);
    const auto judgement = judge(script);
    CHECK(problems(judgement).empty());
    CHECK(judgement.transaction == TransactionMode::off);
  }
}

TEST_CASE("what works in a transaction stays in one") {
  for (const auto* script :
       {"alter type tone add value 'high';", "reindex table t; analyze t; cluster t using i;",
        "create procedure p() language sql begin atomic; select 1; end;",
        "create function f() returns text language sql as $$ vacuum; $$;"}) {
    CAPTURE(script);
    CHECK(problems(script).empty());
    CHECK(judge(script).transaction == TransactionMode::on);
  }
}

TEST_CASE("a mixed file says which statements are in each other's way and how to part them") {
  const auto judgement = judge("create table t (a int);\n\n  create index concurrently i on t (a);\n");
  REQUIRE(problems(judgement) == Texts{"mixed_transaction_modes V1.sql:3:3"});
  const auto& problem = judgement.problems.front();
  CHECK(problem.message ==
        "CREATE INDEX CONCURRENTLY cannot run in a transaction, but CREATE TABLE in line 1 should");
  REQUIRE(problem.hints.size() == 2);
  CHECK_THAT(problem.hints[0], ContainsSubstring("a migration of its own"));
  CHECK_THAT(problem.hints[1], ContainsSubstring("-- lockstep: transaction=off"));
}

TEST_CASE("transaction=off, in the file or beside it, allows anything in any order") {
  const std::string_view script =
      "create table t (a int); vacuum t; begin; insert into t values (1); commit;";
  const auto inside = judge("-- lockstep: transaction=off\n" + std::string(script));
  CHECK(problems(inside).empty());
  CHECK(inside.transaction == TransactionMode::off);
  const auto beside = judge(script, "executeInTransaction=false");
  CHECK(problems(beside).empty());
  CHECK(beside.transaction == TransactionMode::off);
}

TEST_CASE("a transaction that is asked for and impossible is refused") {
  CHECK(problems("-- lockstep: transaction=on\nvacuum;") == Texts{"transaction_impossible V1.sql:2:1"});
  CHECK(problems("vacuum;", "executeInTransaction=true") == Texts{"transaction_impossible V1.sql:1:1"});
  CHECK(problems("-- lockstep: transaction=on\nselect 1;").empty());
}

TEST_CASE("one pair of BEGIN and COMMIT around the whole file is harmless, and so are savepoints") {
  for (const auto* script :
       {"begin; create table t (a int); commit;", "start transaction;\nselect 1;\nend;\n",
        "begin isolation level serializable; select 1; commit work;",
        "begin; savepoint a; select 1; rollback to a; release a; commit;",
        "savepoint a; select 1; rollback to savepoint a;"}) {
    CAPTURE(script);
    CHECK(problems(script).empty());
    CHECK(judge(script).transaction == TransactionMode::on);
  }
}

TEST_CASE("any other transaction control in a transactional file is refused at its place") {
  CHECK(problems("create table ghost (id int);\nROLLBACK;") == Texts{"transaction_control V1.sql:2:1"});
  CHECK(problems("select 1; commit;") == Texts{"transaction_control V1.sql:1:11"});
  CHECK(problems("select 1;\nprepare transaction 'x';") == Texts{"transaction_control V1.sql:2:1"});
  CHECK(problems("begin; select 1;") == Texts{"transaction_control V1.sql:1:1"});
  CHECK(problems("begin; select 1; commit; begin; select 2; commit;").size() == 4);
  CHECK(problems("begin; select 1; rollback;").size() == 2);
  CHECK(problems("select 1; abort;").size() == 1);
  CHECK(problems("begin; select 1; commit and chain;").size() == 2);
  CHECK(problems("select 0; begin; select 1; commit;").size() == 2);
}

TEST_CASE("the message of refused transaction control names the command") {
  const auto judgement = judge("select 1; prepare transaction 'x';");
  REQUIRE(judgement.problems.size() == 1);
  CHECK_THAT(judgement.problems.front().message, ContainsSubstring("PREPARE TRANSACTION"));
}

TEST_CASE("a pair around statements that cannot run in a transaction is refused") {
  CHECK(problems("begin; vacuum; commit;") ==
        Texts{"transaction_control V1.sql:1:1", "transaction_control V1.sql:1:16"});
}

TEST_CASE("what drops the migration lock is refused in any mode") {
  CHECK(problems("select 1;\ndiscard all;") ==
        Texts{"mixed_transaction_modes V1.sql:2:1", "lock_dropped V1.sql:2:1"});
  CHECK(problems("-- lockstep: transaction=off\nDISCARD ALL;") == Texts{"lock_dropped V1.sql:2:1"});
  CHECK(problems("discard temp; discard plans;").empty());
  CHECK(problems("select pg_advisory_unlock_all();").empty());
}

TEST_CASE("commands of psql are refused with a reason and a way out") {
  struct {
    const char* script;
    const char* reason;
    const char* instead;
  } const table[] = {
      {"\\connect other\n", "\\connect is a command of psql: a migration stays in the one session", "URL"},
      {"\\copy t from 'x'\n", "\\copy is a command of psql: it reads", "COPY … FROM STDIN;"},
      {"\\set a 1\n", "variables of psql", "DO block"},
      {"\\! ls\n", "runs no programs", "before or after"},
      {"\\if true\n", "conditions of psql", "IF … END IF"},
      {"select 1 \\gexec\n", "\\gexec", "EXECUTE"},
      {"select 1 \\g\n", "results of queries", "semicolon"},
      {"\\dt\n", "\\dt is a command of psql: it shows", "Remove it."},
      {"\\frobnicate\n", "only psql understands it", "in SQL"},
      {"select 1 \\; select 2;", "several statements as one", "without the backslash"},
  };
  for (const auto& row : table) {
    CAPTURE(row.script);
    const auto judgement = judge(row.script);
    REQUIRE_FALSE(judgement.problems.empty());
    const auto& problem = judgement.problems.front();
    CHECK(problem.code == "meta_command_refused");
    CHECK_THAT(problem.message, ContainsSubstring(row.reason));
    REQUIRE(problem.hints.size() == 1);
    CHECK_THAT(problem.hints.front(), ContainsSubstring(row.instead));
  }
}

TEST_CASE("pg_dump's \\restrict and \\unrestrict are welcome as a pair") {
  CHECK(problems("\\restrict k3y\nselect 1;\n\\unrestrict k3y\n").empty());
  CHECK(problems("\\restrict k3y\nselect 1;\n").size() == 1);
}

TEST_CASE("what the lexer cannot read is passed on") {
  CHECK(problems("select 'open;\n").size() == 1);
  CHECK(problems("copy t from stdin (format binary);\nabc\n\\.\n").size() == 1);
}

TEST_CASE("all problems of a file are told in its order, those of its settings first") {
  CHECK(problems("-- lockstep: transaktion=off\n\\if x\nselect 1;\ncommit;\ndiscard all;\n",
                 "shouldExecute=no") ==
        Texts{"directive_unknown V1.sql:1:14", "directive_unsupported V1.sql.conf:1:1",
              "meta_command_refused V1.sql:2:1", "transaction_control V1.sql:4:1",
              "mixed_transaction_modes V1.sql:5:1", "lock_dropped V1.sql:5:1"});
}

TEST_CASE("a setting behind the first statement is refused, since it would come too late") {
  CHECK(problems("select 1;\n-- lockstep: transaction=off\n") == Texts{"directive_late V1.sql:2:1"});
}

TEST_CASE("the settings of a file are handed on") {
  const auto judgement = judge("-- lockstep: lock_timeout=2s, statement_timeout=1m\nselect 1;");
  CHECK(judgement.directives.lock_timeout == std::chrono::seconds(2));
  CHECK(judgement.directives.statement_timeout == std::chrono::minutes(1));
}

namespace {

Judgement judge_as(CallbackPlace place, std::string_view script) {
  return judge_callback(sql::survey(sql::read_from(script)), {}, {"beforeMigrate.sql"}, place);
}

}  // namespace

TEST_CASE("a callback always runs in a transaction") {
  for (const auto place : {CallbackPlace::of_its_own, CallbackPlace::within_migration}) {
    const auto ordinary = judge_as(place, "set role a;\nselect 1;\nsavepoint s;\n");
    CHECK(problems(ordinary).empty());
    CHECK(ordinary.transaction == TransactionMode::on);
    CHECK(problems(judge_as(place, "select 1;\nvacuum;\n")) ==
          Texts{"callback_outside_transaction beforeMigrate.sql:2:1"});
    CHECK(problems(judge_as(place, "vacuum;\n")) ==
          Texts{"callback_outside_transaction beforeMigrate.sql:1:1"});
    CHECK(problems(judge_as(place, "-- lockstep: transaction=off\nselect 1;\n")) ==
          Texts{"callback_outside_transaction beforeMigrate.sql"});
    CHECK(problems(judge_as(place, "rollback;\n")) == Texts{"transaction_control beforeMigrate.sql:1:1"});
    CHECK(problems(judge_as(place, "discard all;\n")) ==
          Texts{"callback_outside_transaction beforeMigrate.sql:1:1", "lock_dropped beforeMigrate.sql:1:1"});
  }
}

TEST_CASE("one BEGIN and COMMIT may be around a callback of its own, and it may have time-outs") {
  const auto* const wrapped = "begin;\nselect 1;\ncommit;\n";
  CHECK(problems(judge_as(CallbackPlace::of_its_own, wrapped)).empty());
  CHECK(problems(judge_as(CallbackPlace::within_migration, wrapped)) ==
        Texts{"transaction_control beforeMigrate.sql:1:1", "transaction_control beforeMigrate.sql:3:1"});
  const auto* const timeout = "-- lockstep: lock_timeout=1s\nselect 1;\n";
  CHECK(problems(judge_as(CallbackPlace::of_its_own, timeout)).empty());
  CHECK(problems(judge_as(CallbackPlace::within_migration, timeout)) ==
        Texts{"callback_setting beforeMigrate.sql"});
}

namespace {

std::string times(std::size_t count, const std::string& text) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("of very many problems of a file the first hundred are told, and how many there are besides") {
  const auto* const line = GENERATE("commit;\n", "\\x\n", "discard all;\n", "\\.\n", "-- lockstep: a=1\n");
  CAPTURE(line);
  const auto few = problems(times(100, line));
  CHECK(few.size() == 100);
  const auto many = judge(times(3000, line)).problems;
  REQUIRE(many.size() == 101);
  for (std::size_t i = 0; i < 100; ++i) CHECK(many[i].where->line == i + 1);
  CHECK(many.back().code == "more_problems");
  CHECK(many.back().message == "2900 more problems of this migration are not shown");
  CHECK(to_string(*many.back().where) == "V1.sql");
}

TEST_CASE("problems of all kinds count together") {
  const auto many = judge("-- lockstep: a=1, b=2\n" + times(60, "commit;\n\\x\ndiscard all;\n")).problems;
  REQUIRE(many.size() == 101);
  CHECK(many[0].code == "directive_unknown");
  CHECK(many[2].code == "transaction_control");
  CHECK(many[99].where->line == 99);
  CHECK(many.back().message == "82 more problems of this migration are not shown");
}

TEST_CASE("however many statements there are before it, what is refused is found") {
  const auto savepoints = times(1000, "savepoint a;\n");
  CHECK(problems(savepoints).empty());
  CHECK(problems("begin;\n" + savepoints + "commit;\n").empty());
  CHECK(problems(savepoints + "commit;\n") == Texts{"transaction_control V1.sql:1001:1"});
  CHECK(problems(times(1000, "commit prepared 'x';\n") + "commit;\n") ==
        Texts{"transaction_control V1.sql:1001:1"});
  CHECK(problems("-- lockstep: transaction=off\n" + times(1000, "begin;\nselect 1;\ncommit;\n")).empty());
  CHECK(problems(times(1000, "vacuum;\n") + "select 1;\n") == Texts{"mixed_transaction_modes V1.sql:1:1"});
}

TEST_CASE("a callback's many problems are told in the same way") {
  const auto place = GENERATE(CallbackPlace::of_its_own, CallbackPlace::within_migration);
  const auto* const line = GENERATE("vacuum;\n", "rollback;\n");
  const auto many = judge_as(place, times(1000, line)).problems;
  REQUIRE(many.size() == 101);
  CHECK(many.back().message == "900 more problems of this migration are not shown");
}
