#include "core/placeholder_rules.h"

#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace lockstep;

namespace {

/// The error about a placeholder that a file has at its third line.
Error error_about(const std::string& name, const std::string& written,
                  const sql::Placeholders& declared = {}) {
  return undefined_placeholder({.name = name, .written = written, .place = {.line = 3, .column = 7}},
                               declared, {.script = "migrations/V1__a.sql"});
}

std::string hint_for_flyway(const std::string& name, const sql::Placeholders& declared = {}) {
  const auto error = error_about("flyway", declared.prefix + "flyway:" + name + declared.suffix, declared);
  CHECK(error.code == "placeholder_unsupported");
  REQUIRE(error.hints.size() == 1);
  return error.hints.front();
}

}  // namespace

TEST_CASE("a placeholder without a value is told with its place and the ways to give it one") {
  const auto error = error_about("Schema", "${Schema}", {.values = {{"shema", "app"}}});
  CHECK(error.kind == ErrorKind::files);
  CHECK(error.code == "placeholder_undefined");
  CHECK(error.message == "the placeholder ${Schema} has no value");
  CHECK(to_string(*error.where) == "migrations/V1__a.sql:3:7");
  CHECK(error.hints ==
        std::vector<std::string>{
            "Did you mean ${shema}?",
            "Give it a value: --set Schema=…, LOCKSTEP_PLACEHOLDERS_SCHEMA=… or [placeholders] in "
            "lockstep.toml.",
            "If the text is meant as it stands, write $${Schema} in a string, or begin the file with: "
            "-- lockstep: placeholders=off"});
}

TEST_CASE("a name that no variable can have is not offered one") {
  CHECK(error_about("app.owner", "${app.owner}").hints.front() ==
        "Give it a value: --set app.owner=…, or [placeholders] in lockstep.toml.");
}

TEST_CASE("what Flyway fills in itself has a counterpart in SQL, or wants a placeholder of one's own") {
  CHECK(hint_for_flyway("user") == "Write current_user.");
  CHECK(hint_for_flyway("defaultSchema") ==
        "Write current_schema() where a value is meant; a name without schema lies there anyway.");
  CHECK(hint_for_flyway("filename") == "Declare a placeholder of your own for it, such as ${filename}.");
  CHECK(hint_for_flyway("filename", {.prefix = "#[", .suffix = "]"}) ==
        "Declare a placeholder of your own for it, such as #[filename].");
}

TEST_CASE("a placeholder called flyway is one like any other") {
  CHECK(error_about("flyway", "${flyway}").code == "placeholder_undefined");
}
