#include "core/migration_name.h"

#include <catch2/catch_test_macros.hpp>

using namespace lockstep;

namespace {

struct Good {
  std::string_view file;
  MigrationKind kind;
  std::string_view version;
  std::string_view description;
  std::string_view event = "";
};

struct Bad {
  std::string_view file;
  std::string_view message;  ///< a part of it
  std::string_view hint;     ///< a part of it
};

std::string version_of(const MigrationName& name) {
  return name.version ? name.version->text() : std::string{};
}

constexpr auto versioned = MigrationKind::versioned;
constexpr auto repeatable = MigrationKind::repeatable;
constexpr auto callback = MigrationKind::callback;

}  // namespace

TEST_CASE("names are read as Flyway reads them") {
  const Good table[] = {
      {"V1__create_person.sql", versioned, "1", "create person"},
      {"V2__ok too.sql", versioned, "2", "ok too"},
      {"V1.2.3__x.sql", versioned, "1.2.3", "x"},
      {"V1_2__x.sql", versioned, "1.2", "x"},
      {"V001__x.sql", versioned, "001", "x"},
      {"V20240131235959__x.sql", versioned, "20240131235959", "x"},
      {"V99999999999999999999999999__x.sql", versioned, "99999999999999999999999999", "x"},
      {"V6__x.SQL", versioned, "6", "x"},
      {"V6__x.Sql", versioned, "6", "x"},
      {"V5__.sql", versioned, "5", ""},
      {"V1.sql", versioned, "1", ""},
      {"V1_2.sql", versioned, "1.2", ""},
      {"V1__a__b.sql", versioned, "1", "a  b"},
      {"V1___a.sql", versioned, "1", " a"},
      {"V1__größe.sql", versioned, "1", "größe"},
      {"V1__v1.2.sql", versioned, "1", "v1.2"},
      {"V1__x.sql.sql", versioned, "1", "x.sql"},
      {"U1__create_person.sql", MigrationKind::undo, "1", "create person"},
      {"B10__base.sql", MigrationKind::baseline, "10", "base"},
      {"R__views.sql", repeatable, "", "views"},
      {"R__10_views.sql", repeatable, "", "10 views"},
      {"beforeMigrate.sql", callback, "", "", "beforeMigrate"},
      {"afterMigrate__grant_rights.sql", callback, "", "grant rights", "afterMigrate"},
      {"beforeEachMigrateStatement.sql", callback, "", "", "beforeEachMigrateStatement"},
      {"createSchema.sql", callback, "", "", "createSchema"},
  };
  for (const auto& good : table) {
    CAPTURE(good.file);
    const auto parsed = parse_migration_name(good.file);
    REQUIRE(std::holds_alternative<MigrationName>(parsed));
    const auto& name = std::get<MigrationName>(parsed);
    CHECK(name.kind == good.kind);
    CHECK(version_of(name) == good.version);
    CHECK(name.description == good.description);
    CHECK(name.event == good.event);
  }
}

TEST_CASE("a name that is nearly right is told what to change") {
  const Bad table[] = {
      {"V4_one.sql", "one underscore", "Rename it to V4__one.sql."},
      {"V1_foo.sql", "one underscore", "V1__foo.sql"},
      {"V1_2_foo_bar.sql", "one underscore", "V1_2__foo_bar.sql"},
      {"U3_foo.sql", "one underscore", "U3__foo.sql"},
      {"V1-foo.sql", "two underscores are missing", "V1__foo.sql"},
      {"V1 foo.sql", "two underscores are missing", "V1__foo.sql"},
      {"V1foo.sql", "two underscores are missing", "V1__foo.sql"},
      {"v3__low.sql", "prefix v must be an upper-case V", "V3__low.sql"},
      {"r__low.sql", "prefix r must be an upper-case R", "R__low.sql"},
      {"b1__low.sql", "upper-case B", "B1__low.sql"},
      {"V 9__w.sql", "\" 9\" is not a version", "single dots"},
      {"V1.__x.sql", "\"1.\" is not a version", "single dots"},
      {"V1..2__x.sql", "\"1..2\" is not a version", "single dots"},
      {"V-1__x.sql", "\"-1\" is not a version", "numbers"},
      {"V1a__x.sql", "\"1a\" is not a version", "numbers"},
      {"V1_.sql", "\"1_\" is not a version", "numbers"},
      {"V__x.sql", "no version after V", "V1__"},
      {"V.sql", "no version after V", "V1__"},
      {"R_views.sql", "one underscore", "R__views.sql"},
      {"R1__views.sql", "no version", "R__views.sql"},
      {"R__.sql", "needs a description", "R__<description>.sql"},
      {"R.sql", "needs a description", "R__<description>.sql"},
      {"beforemigrate.sql", "not an event", "Did you mean beforeMigrate.sql?"},
      {"afterMigrat__x.sql", "not an event", "Did you mean afterMigrate__x.sql?"},
      {"README.sql", "none of the forms", "V<version>__<description>.sql"},
      {"Views.sql", "none of the forms", "R__<description>.sql"},
      {"schema.sql", "none of the forms", "move it"},
      {"1__x.sql", "none of the forms", "V<version>"},
      {".sql", "none of the forms", "V<version>"},
      {"V1__x.sq", "does not end in .sql", ""},
      {"sql", "does not end in .sql", ""},
      {"V1__\xff.sql", "not UTF-8", ""},
      {"V1__a\nb.sql", "control character", ""},
      {"V1__\x1b[31m.sql", "control character", ""},
  };
  for (const auto& bad : table) {
    CAPTURE(bad.file);
    const auto parsed = parse_migration_name(bad.file);
    REQUIRE(std::holds_alternative<NameProblem>(parsed));
    const auto& problem = std::get<NameProblem>(parsed);
    CAPTURE(problem.message, problem.hint);
    CHECK(problem.message.find(bad.message) != std::string::npos);
    CHECK(problem.hint.find(bad.hint) != std::string::npos);
    CHECK(problem.hint.back() != ' ');
  }
}

TEST_CASE("every name that a hint proposes is a good one") {
  for (const std::string_view file :
       {"V4_one.sql", "V1_2_a.sql", "V1 foo.sql", "v3__low.sql", "R_views.sql", "u1.sql"}) {
    CAPTURE(file);
    const auto problem = std::get<NameProblem>(parse_migration_name(file));
    const std::string_view prefix = "Rename it to ";
    REQUIRE(problem.hint.substr(0, prefix.size()) == prefix);
    const auto proposed = problem.hint.substr(prefix.size(), problem.hint.size() - prefix.size() - 1);
    CHECK(std::holds_alternative<MigrationName>(parse_migration_name(proposed)));
  }
}

TEST_CASE("only visible .sql files are meant to be migrations") {
  for (const std::string_view file : {"V1__x.sql", "v1__x.SQL", "anything.sql"}) CHECK(names_migration(file));
  for (const std::string_view file :
       {".V8__z.sql", ".sql", "V7__y.sql.bak", "V7__y.sql~", "readme.md", "V1__x.sql.conf", "sql", ""}) {
    CHECK_FALSE(names_migration(file));
  }
}

TEST_CASE("kinds are spelt as the history stores them") {
  CHECK(to_string(MigrationKind::versioned) == "versioned");
  CHECK(to_string(MigrationKind::repeatable) == "repeatable");
  CHECK(to_string(MigrationKind::undo) == "undo");
  CHECK(to_string(MigrationKind::baseline) == "baseline");
  CHECK(to_string(MigrationKind::callback) == "callback");
}
