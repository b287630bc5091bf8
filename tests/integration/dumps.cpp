#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "support/migrating.h"
#include "test_paths.h"

// What pg_dump writes is a migration as it stands.

namespace lockstep::test {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Options = std::vector<std::string>;

/// pg_dump refuses servers that are newer than itself. Then it dumps one of its own version, as before an
/// upgrade.
class DumpedServer {
 public:
  DumpedServer() {
    const auto bin = fs::canonical(PgServer::program("pg_dump")).parent_path();
    if (PgServer::version(bin) < PgServer::version())
      own_ = std::make_unique<PgServer>(ServerOptions{.bin = bin});
  }
  PgServer& server() const { return own_ ? *own_ : PgServer::shared(); }
  bool is_older() const { return own_ != nullptr; }

 private:
  std::unique_ptr<PgServer> own_;
};

/// The schema of a case, as this server can read it: BEGIN ATOMIC is new in 14.
std::string schema(const PgServer& server) {
  auto text = read_file(LOCKSTEP_TESTS_DIR "/cases/migrate/344-dump-of-a-schema/sql/V1__dump.sql");
  if (server.major() >= 14) return text;
  const auto begin = text.find("BEGIN ATOMIC"), end = text.find("END;", text.find("END AS", begin)) + 3;
  auto body = text.substr(begin, end - begin);
  body = body.substr(12, body.rfind("END") - 12);
  return text.replace(begin, end - begin, "AS $$" + body + "$$");
}

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

/// What a database holds in the schema of the case, where pg_dump cannot tell.
std::string contents(const TestDatabase& database) {
  return database.psql(R"(
select c.oid::regclass, c.relkind, pg_get_userbyid(c.relowner), c.relacl, obj_description(c.oid, 'pg_class') from pg_class as c
where c.relnamespace = 'shop'::regnamespace order by 1;
select a.attrelid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)
from pg_attribute as a join pg_class as c on c.oid = a.attrelid left join pg_attrdef as d on (d.adrelid, d.adnum) = (a.attrelid, a.attnum)
where c.relnamespace = 'shop'::regnamespace and c.relkind <> 'i' and a.attnum > 0 order by 1, a.attnum;
select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'shop'::regnamespace order by 1, 2;
select pg_get_indexdef(indexrelid) from pg_index join pg_class as c on c.oid = indexrelid where c.relnamespace = 'shop'::regnamespace order by 1;
select pg_get_viewdef(oid) from pg_class where relnamespace = 'shop'::regnamespace and relkind in ('v', 'm') order by oid::regclass;
select pg_get_triggerdef(t.oid) from pg_trigger as t join pg_class as c on c.oid = tgrelid
where c.relnamespace = 'shop'::regnamespace and not tgisinternal order by 1;
select pg_get_functiondef(oid), proacl from pg_proc where pronamespace = 'shop'::regnamespace order by oid::regprocedure;
select sequencename, last_value from pg_sequences where schemaname = 'shop' order by 1;
select c.oid::regclass, query_to_xml('select * from ' || c.oid::regclass || ' order by 1', true, false, '') from pg_class as c
where c.relnamespace = 'shop'::regnamespace and c.relkind in ('r', 'p') order by 1;)");
}

}  // namespace

TEST_CASE("a dump that is applied to an empty database gives the same dump again") {
  const auto options =
      GENERATE(Options{}, Options{"--inserts"}, Options{"--column-inserts", "--rows-per-insert=2"},
               Options{"--clean", "--if-exists"}, Options{"--disable-dollar-quoting"},
               Options{"--quote-all-identifiers", "--use-set-session-authorization"});
  static const DumpedServer dumped;
  const TestDatabase from(dumped.server());
  from.psql(schema(dumped.server()));
  const auto text = dump(from, options);
  REQUIRE_THAT(text, ContainsSubstring("customer"));

  const TestDatabase to;
  const MigrationDir files({{"V1__dump.sql", text}});
  const auto outcome = run(files.migrate(to.url()));
  INFO(outcome.err);
  CHECK(outcome.exit_code == 0);
  if (dumped.is_older()) {
    const TestDatabase by_psql;
    by_psql.psql(text);
    CHECK(contents(to) == contents(by_psql));
  } else {
    CHECK(without_keys(dump(to, options)) == without_keys(text));
  }
}

}  // namespace lockstep::test
