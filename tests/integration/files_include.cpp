#include <fmt/format.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>

#include "core/checksum.h"
#include "files/load.h"
#include "support/temp_dir.h"

// What the folders of tests/cases/include cannot show.

using namespace lockstep;
using namespace lockstep::test;
using Catch::Matchers::ContainsSubstring;
using files::load_migrations;
namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

namespace {

Texts codes(const LocalMigrations& local) {
  Texts texts;
  for (const auto& problem : local.problems) texts.push_back(problem.code);
  return texts;
}

Texts included(const LocalMigrations& local) {
  Texts names;
  for (const auto& include : local.migrations.at(0).includes) names.push_back(include.file);
  return names;
}

}  // namespace

TEST_CASE("a migration knows the files that it includes, below the location as that was given") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "\\ir x/a.sql\n\\i x/../b.sql\n");
  temp.write_file("x/a.sql", "select 1;\n\\i b.sql\n");
  temp.write_file("b.sql", "select 2;");
  const auto local = load_migrations({temp.string() + "/"});
  CHECK(codes(local).empty());
  const auto in = [&temp](const char* name) { return temp.string() + "/" + name; };
  CHECK(included(local) == Texts{in("x/a.sql"), in("b.sql"), in("b.sql")});
  CHECK(local.migrations.at(0).statements == 3);
}

TEST_CASE("the checksum covers the content of included files, and not where they lie") {
  const TempDir temp;
  temp.write_file("1/V1__a.sql", "\\ir a.sql\nselect 2;\n");
  temp.write_file("1/a.sql", "select 1;\r\n");
  temp.write_file("2/sub/V1__a.sql", "\\ir a.sql\nselect 2;\n");
  temp.write_file("2/sub/a.sql", "select 1;");
  temp.write_file("3/V1__a.sql", "\\ir a.sql\nselect 2;\n");
  temp.write_file("3/a.sql", "select 3;");
  const auto sum_of = [&temp](const char* location) {
    return load_migrations({temp.string() + "/" + location}).migrations.at(0).checksum;
  };
  const auto expected = checksum(checksum("\\ir a.sql\nselect 2;") + "\n" + checksum("select 1;"));
  CHECK(sum_of("1") == expected);
  CHECK(sum_of("2") == expected);
  CHECK(sum_of("3") != expected);
}

TEST_CASE("a link to a file outside of all locations is not included, one to another location is") {
  const TempDir temp;
  temp.write_file("outside/a.sql", "select 1;");
  temp.write_file("shared/b.sql", "select 2;");
  temp.write_file("migrations/V1__a.sql", "\\i a.sql\n\\i b.sql\n\\i folder/a.sql\n");
  fs::create_symlink(temp.path() / "outside/a.sql", temp.path() / "migrations/a.sql");
  fs::create_symlink(temp.path() / "outside", temp.path() / "migrations/folder");
  fs::create_symlink(temp.path() / "shared/b.sql", temp.path() / "migrations/b.sql");
  const auto local = load_migrations({temp.string() + "/migrations", temp.string() + "/shared"});
  Texts outside;
  for (const auto& problem : local.problems) {
    if (problem.code == "include_outside") outside.push_back(fmt::format("{}", problem.where->line));
  }
  CHECK(outside == Texts{"1", "3"});
}

TEST_CASE("an absolute path is good when it leads into a location") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "\\i " + temp.string() + "/a.sql\n");
  temp.write_file("a.sql", "select 1;");
  CHECK(codes(load_migrations({temp.string()})).empty());
}

TEST_CASE("a location is where its link leads") {
  const TempDir temp;
  temp.write_file("real/V1__a.sql", "\\i a.sql\n\\ir a.sql\n");
  temp.write_file("real/a.sql", "select 1;");
  fs::create_symlink(temp.path() / "real", temp.path() / "link");
  CHECK(codes(load_migrations({temp.string() + "/link"})).empty());
}

TEST_CASE("files include each other ten deep and no deeper") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "\\i 1.inc\n");
  for (int i = 1; i <= 9; ++i) temp.write_file(fmt::format("{}.inc", i), fmt::format("\\i {}.inc\n", i + 1));
  temp.write_file("10.inc", "select 1;");
  CHECK(codes(load_migrations({temp.string()})).empty());
  temp.write_file("10.inc", "\\i 11.inc\n");
  temp.write_file("11.inc", "select 1;");
  const auto local = load_migrations({temp.string()});
  CHECK(codes(local) == Texts{"include_too_deep"});
  CHECK(local.problems.front().included_from.size() == 10);
}

TEST_CASE("a migration may be included as well, a configuration beside an included file may not be") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "select 1;");
  temp.write_file("V2__b.sql", "\\ir V1__a.sql\n\\ir c.sql\n");
  temp.write_file("c.sql", "select 2;");
  CHECK(codes(load_migrations({temp.string()})).empty());
  temp.write_file("c.sql.conf", "executeInTransaction=false\n");
  CHECK(codes(load_migrations({temp.string()})) == Texts{"config_of_included"});
}

TEST_CASE("a large file that is included is streamed") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "\\i a.sql\n\\i a.sql\n");
  std::string text = "copy t from stdin;\n";
  for (int i = 0; i < 300'000; ++i) text += "0123456789\n";
  temp.write_file("a.sql", text + "\\.\nselect 1;");
  const auto local = load_migrations({temp.string()});
  CHECK(codes(local).empty());
  CHECK(local.migrations.at(0).statements == 4);
}
