#include "core/directives.h"

#include <catch2/catch_test_macros.hpp>

using namespace lockstep;
using namespace std::chrono_literals;

namespace {

DirectivesRead lines(const std::vector<std::string_view>& comments) {
  DirectivesRead read;
  std::size_t number = 0;
  for (const auto comment : comments) read_directive_line(comment, {"V1__x.sql", ++number, 1}, read);
  return read;
}

DirectivesRead config(std::string_view text) {
  return read_script_config(text, "V1__x.sql.conf");
}

/// code, place and message of every problem.
std::vector<std::string> told(const DirectivesRead& read) {
  std::vector<std::string> texts;
  for (const auto& problem : read.problems) {
    CHECK(problem.kind == ErrorKind::files);
    CHECK_FALSE(problem.hints.empty());
    texts.push_back(problem.code + " " + to_string(*problem.where) + ": " + problem.message);
  }
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a directive line sets what it names") {
  const auto read = lines({"-- lockstep: transaction=off, lock_timeout=2s"});
  CHECK(told(read).empty());
  CHECK(read.directives.transaction == TransactionMode::off);
  CHECK(read.directives.lock_timeout == 2s);
  CHECK_FALSE(read.directives.statement_timeout.has_value());
}

TEST_CASE("blanks around the parts of a directive do not matter, and lines add up") {
  const auto read =
      lines({"--lockstep:transaction = on\r", "--  lockstep :  lock_timeout=0 ,statement_timeout=10m  "});
  CHECK(told(read).empty());
  CHECK(read.directives.transaction == TransactionMode::on);
  CHECK(read.directives.lock_timeout == 0ms);
  CHECK(read.directives.statement_timeout == 10min);
}

TEST_CASE("a directive that is not understood is a problem with its place") {
  CHECK(told(lines({"-- lockstep: transaktion=off"})) ==
        Texts{"directive_unknown V1__x.sql:1:14: unknown setting \"transaktion\""});
  CHECK(told(lines({"-- lockstep: transaction=no"})) ==
        Texts{"directive_invalid V1__x.sql:1:14: transaction cannot be \"no\""});
  CHECK(told(lines({"-- lockstep: lock_timeout=2s, lock_timeout=3s"})) ==
        Texts{"directive_duplicate V1__x.sql:1:31: lock_timeout is given twice"});
  CHECK(told(lines({"-- lockstep: lock_timeout=2s", "-- lockstep: lock_timeout=2s"})) ==
        Texts{"directive_duplicate V1__x.sql:2:14: lock_timeout is given twice"});
  CHECK(told(lines({"-- lockstep: lock_timeout=5000"})) ==
        Texts{"directive_invalid V1__x.sql:1:14: lock_timeout cannot be \"5000\""});
  CHECK(told(lines({"-- lockstep: statement_timeout=600h"})) ==
        Texts{"directive_invalid V1__x.sql:1:14: statement_timeout cannot be \"600h\""});
  CHECK(told(lines({"-- lockstep: lock_timeout"})) ==
        Texts{"directive_invalid V1__x.sql:1:14: lock_timeout has no value"});
  CHECK(told(lines({"-- lockstep:"})) ==
        Texts{"directive_invalid V1__x.sql:1:13: a setting is missing here"});
  CHECK(told(lines({"-- lockstep: transaction=off,"})) ==
        Texts{"directive_invalid V1__x.sql:1:30: a setting is missing here"});
}

TEST_CASE("a file says which of its placeholders are replaced") {
  using sql::PlaceholderScope;
  CHECK(lines({"-- lockstep: transaction=on, placeholders = bodies"}).directives.placeholders ==
        PlaceholderScope::bodies);
  CHECK(lines({"-- lockstep: placeholders=off"}).directives.placeholders == PlaceholderScope::off);
  CHECK(told(lines({"-- lockstep: placeholders=yes"})) ==
        Texts{"directive_invalid V1__x.sql:1:14: placeholders cannot be \"yes\""});
  auto read = lines({"-- lockstep: placeholders=bodies"});
  merge_script_config(config("placeholderReplacement=true"), "V1__x.sql.conf", read);
  CHECK(told(read).empty());
  merge_script_config(config("placeholderReplacement=false"), "V1__x.sql.conf", read);
  CHECK(told(read) ==
        Texts{"directive_conflict V1__x.sql.conf: placeholderReplacement contradicts placeholders in the "
              "migration itself"});
}

TEST_CASE("all problems of a line are told, and the rest of it still counts") {
  const auto read = lines({"-- lockstep: a=1, transaction=off, b=2"});
  CHECK(told(read).size() == 2);
  CHECK(read.directives.transaction == TransactionMode::off);
}

TEST_CASE("a misspelt setting finds the one that was meant") {
  CHECK(lines({"-- lockstep: lock-timeout=2s"}).problems.front().hints ==
        Texts{"Did you mean lock_timeout?"});
  CHECK(config("executeInTransactions=false").problems.front().hints ==
        Texts{"Did you mean executeInTransaction?"});
}

TEST_CASE("the caret of a problem stands under what is wrong") {
  DirectivesRead read;
  read_directive_line("-- lockstep: transaction=no", {"V1__x.sql", 3, 5}, read);
  CHECK(render(read.problems.front()) ==
        "error: V1__x.sql:3:18: transaction cannot be \"no\"\n"
        "  3 |     -- lockstep: transaction=no\n"
        "    |                  ^\n"
        "  hint: Write transaction=on or transaction=off.\n");
}

TEST_CASE("Flyway's script configuration is read") {
  const auto read = config(
      "\xef\xbb\xbf# made by hand\r\n\r\n  executeInTransaction = False \r\nencoding=UTF-8\n"
      "! a comment too\nplaceholderReplacement=false");
  CHECK(told(read).empty());
  CHECK(read.directives.transaction == TransactionMode::off);
  CHECK(read.directives.placeholders == sql::PlaceholderScope::off);
  CHECK(config("executeInTransaction=true").directives.transaction == TransactionMode::on);
  CHECK(config("placeholderReplacement=true").directives.placeholders == sql::PlaceholderScope::on);
  CHECK_FALSE(config("").directives.transaction.has_value());
}

TEST_CASE("what a script configuration asks for in vain is a problem with its line") {
  CHECK(told(config("\nexecuteInTransaction=maybe\n encoding=ISO-8859-1\n")) ==
        Texts{"directive_invalid V1__x.sql.conf:2:1: executeInTransaction cannot be \"maybe\"",
              "directive_invalid V1__x.sql.conf:3:2: encoding cannot be \"ISO-8859-1\""});
  CHECK(told(config("placeholderReplacement=perhaps")) ==
        Texts{"directive_invalid V1__x.sql.conf:1:1: placeholderReplacement cannot be \"perhaps\""});
  CHECK(
      told(config("shouldExecute=${x}==1")) ==
      Texts{
          "directive_unsupported V1__x.sql.conf:1:1: conditions for running a migration are not supported"});
  CHECK(told(config("transaction=off")) ==
        Texts{"directive_unknown V1__x.sql.conf:1:1: unknown setting \"transaction\""});
  CHECK(told(config("executeInTransaction=false\nexecuteInTransaction=false")) ==
        Texts{"directive_duplicate V1__x.sql.conf:2:1: executeInTransaction is given twice"});
}

TEST_CASE("a script and its configuration add up, and may not contradict each other") {
  auto read = lines({"-- lockstep: lock_timeout=2s"});
  merge_script_config(config("executeInTransaction=false"), "V1__x.sql.conf", read);
  CHECK(told(read).empty());
  CHECK(read.directives.transaction == TransactionMode::off);
  CHECK(read.directives.lock_timeout == 2s);

  read = lines({"-- lockstep: transaction=off"});
  merge_script_config(config("executeInTransaction=false"), "V1__x.sql.conf", read);
  CHECK(told(read).empty());

  merge_script_config(config("executeInTransaction=true"), "V1__x.sql.conf", read);
  CHECK(told(read) ==
        Texts{"directive_conflict V1__x.sql.conf: executeInTransaction contradicts transaction in "
              "the migration itself"});
}

TEST_CASE("a line of settings that is too long to be one is refused as a whole") {
  std::string line = "-- lockstep: ";
  while (line.size() < 100000) line += "a=1,";
  CHECK(told(lines({line})) ==
        Texts{"directive_too_long V1__x.sql:1:1: this line of settings has more than 1000 bytes"});
}
