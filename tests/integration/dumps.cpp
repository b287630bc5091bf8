#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <regex>
#include <string>
#include <vector>

#include "support/migrating.h"
#include "test_paths.h"

// What pg_dump writes is a migration as it stands.

namespace lockstep::test {
namespace {

using Catch::Matchers::ContainsSubstring;
using Options = std::vector<std::string>;

constexpr const char* schema = LOCKSTEP_TESTS_DIR "/cases/migrate/344-dump-of-a-schema/sql/V1__dump.sql";

std::string dump(const TestDatabase& database, const Options& options) {
  Command command{.argv = {PgServer::program("pg_dump"), "-d", database.url(), "-T", "lockstep_history"}};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  return output_of(command);
}

/// Newer ones of every major version write \restrict with a key made by chance.
std::string without_keys(const std::string& dump) {
  static const std::regex key(R"(\\(un)?restrict \w+)");
  return std::regex_replace(dump, key, "");
}

}  // namespace

TEST_CASE("a dump that is applied to an empty database gives the same dump again") {
  const auto options =
      GENERATE(Options{}, Options{"--inserts"}, Options{"--column-inserts", "--rows-per-insert=2"},
               Options{"--clean", "--if-exists"}, Options{"--disable-dollar-quoting"},
               Options{"--quote-all-identifiers", "--use-set-session-authorization"});
  const TestDatabase from;
  output_of(
      {.argv = {PgServer::program("psql"), "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", schema, from.url()}});
  const auto text = dump(from, options);
  REQUIRE_THAT(text, ContainsSubstring("customer"));

  const TestDatabase to;
  const MigrationDir files({{"V1__dump.sql", text}});
  const auto outcome = run(files.migrate(to.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  CHECK(without_keys(dump(to, options)) == without_keys(text));
}

}  // namespace lockstep::test
