#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>

#include "files/load.h"
#include "files/open_script.h"
#include "support/program.h"
#include "support/temp_dir.h"

using namespace lockstep;
using namespace lockstep::test;
using Catch::Matchers::ContainsSubstring;
using files::load_migrations;
namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

namespace {

/// Paths are shown without the temporary directory in front.
std::string short_path(const TempDir& temp, std::string path) {
  const auto prefix = temp.string() + "/";
  for (auto at = path.find(prefix); at != std::string::npos; at = path.find(prefix))
    path.erase(at, prefix.size());
  return path;
}

LocalMigrations load(const TempDir& temp, const Texts& folders = {""}) {
  Texts locations;
  for (const auto& folder : folders) {
    locations.push_back(folder.empty() ? temp.string() : temp.string() + "/" + folder);
  }
  return load_migrations(locations);
}

Texts scripts(const LocalMigrations& local) {
  Texts names;
  for (const auto& migration : local.migrations) names.push_back(migration.script);
  return names;
}

/// "code place" of every problem.
Texts problems(const TempDir& temp, const LocalMigrations& local) {
  Texts texts;
  for (const auto& problem : local.problems) {
    CHECK_FALSE(problem.hints.empty());
    texts.push_back(problem.code + " " + (problem.where ? short_path(temp, to_string(*problem.where)) : "-"));
  }
  return texts;
}

/// Root may read everything, so that what is unreadable is looked at as another user.
class AsUnprivileged {
 public:
  AsUnprivileged() {
    if (root_ && ::seteuid(unprivileged_user()->pw_uid) != 0) FAIL("cannot change the user");
  }
  AsUnprivileged(const AsUnprivileged&) = delete;
  AsUnprivileged& operator=(const AsUnprivileged&) = delete;
  ~AsUnprivileged() {
    if (root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  const bool root_ = ::geteuid() == 0;
};

}  // namespace

TEST_CASE("migrations are found in all folders and sorted by kind, version and description") {
  const TempDir temp;
  for (const auto* name :
       {"V10__j.sql", "V2__b.sql", "V1.5__a.sql", "R__views.sql", "R__functions.sql", "U2__b.sql",
        "B9__base.sql", "sub/dir with space/V3__ok too.sql", "V4__UPPER.SQL"}) {
    temp.write_file(name, "select 1;");
  }
  const auto local = load(temp);
  CHECK(problems(temp, local).empty());
  CHECK(scripts(local) == Texts{"V1.5__a.sql", "V2__b.sql", "sub/dir with space/V3__ok too.sql",
                                "V4__UPPER.SQL", "V10__j.sql", "R__functions.sql", "R__views.sql",
                                "U2__b.sql", "B9__base.sql"});
  CHECK(local.migrations[2].path == temp.string() + "/sub/dir with space/V3__ok too.sql");
  CHECK(local.migrations[2].name.description == "ok too");
  CHECK(local.migrations[2].statements == 1);
}

TEST_CASE("versions of any length are in order, whatever the order of their files") {
  const TempDir temp;
  const Texts rising = {"V1__a.sql",
                        "V1.2__a.sql",
                        "V1.10__a.sql",
                        "V2__a.sql",
                        "V1152921504606846975__a.sql",
                        "V1152921504606846976__a.sql",
                        "V1152921504606846976.1__a.sql",
                        "V18446744073709551615__a.sql",
                        "V18446744073709551616__a.sql",
                        "V99999999999999999999999__a.sql"};
  for (const auto& name : rising) temp.write_file(name, "select 1;");
  const auto local = load(temp);
  CHECK(local.problems.empty());
  CHECK(scripts(local) == rising);
}

TEST_CASE("an empty location is fine") {
  const TempDir temp;
  const auto local = load(temp);
  CHECK(local.migrations.empty());
  CHECK(local.problems.empty());
}

TEST_CASE("several locations make one list, and a location inside another adds nothing") {
  const TempDir temp;
  temp.write_file("a/V1__a.sql", "select 1;");
  temp.write_file("a/sub/V3__c.sql", "select 3;");
  temp.write_file("b/V2__b.sql", "select 2;");
  const auto local = load(temp, {"a/", "b", "a/sub"});
  CHECK(problems(temp, local).empty());
  CHECK(scripts(local) == Texts{"V1__a.sql", "V2__b.sql", "sub/V3__c.sql"});
  CHECK(local.migrations[0].path == temp.string() + "/a/V1__a.sql");
}

TEST_CASE("hidden files and folders, backups and other files are not looked at") {
  const TempDir temp;
  for (const auto* name :
       {".V8__z.sql", "V7__y.sql.bak", "V7__y.sql~", "readme.md", ".git/V9__x.sql", ".hidden.sql"}) {
    temp.write_file(name, "not sql '");
  }
  const auto local = load(temp);
  CHECK(local.migrations.empty());
  CHECK(local.problems.empty());
}

TEST_CASE("every wrong name is told, with what to change") {
  const TempDir temp;
  for (const auto* name : {"V1__ok.sql", "V4_one.sql", "v3__low.sql", "V 9__w.sql", "sub/schema.sql"}) {
    temp.write_file(name, "select 1;");
  }
  const auto local = load(temp);
  CHECK(scripts(local) == Texts{"V1__ok.sql"});
  CHECK(problems(temp, local) == Texts{"migration_name V 9__w.sql", "migration_name V4_one.sql",
                                       "migration_name sub/schema.sql", "migration_name v3__low.sql"});
  CHECK_THAT(render(local.problems[1]), ContainsSubstring("Rename it to V4__one.sql."));
}

TEST_CASE("names that cannot be shown or stored are refused, and told in a form that can") {
  const TempDir temp;
  temp.write_file("V1__\xff.sql", "select 1;");
  temp.write_file("V2__\x1b[31m.sql", "select 1;");
  temp.write_file(
      "fold\xff"
      "er/V3__x.sql",
      "select 1;");
  CHECK(problems(temp, load(temp)) == Texts{"migration_name V1__\\xff.sql",
                                            "migration_name V2__\\x1b[31m.sql",
                                            "folder_name fold\\xffer/V3__x.sql"});
}

TEST_CASE("the links of a Kubernetes ConfigMap mount make no duplicates") {
  const TempDir temp;
  temp.write_file("..2024_01_31_10_00/V1__a.sql", "select 1;");
  temp.write_file("..2024_01_31_10_00/V2__b.sql", "vacuum;");
  temp.write_file("..2024_01_31_10_00/V2__b.sql.conf", "executeInTransaction=false");
  fs::create_directory_symlink("..2024_01_31_10_00", temp.path() / "..data");
  for (const auto* name : {"V1__a.sql", "V2__b.sql", "V2__b.sql.conf"}) {
    fs::create_symlink(fs::path("..data") / name, temp.path() / name);
  }
  const auto local = load(temp);
  CHECK(problems(temp, local).empty());
  CHECK(scripts(local) == Texts{"V1__a.sql", "V2__b.sql"});
  CHECK(local.migrations[1].directives.transaction == TransactionMode::off);

  CHECK(scripts(load(temp, {"", "..data"})).size() == 2);
}

TEST_CASE("links to files and folders are followed, and loops come to an end") {
  const TempDir temp;
  temp.write_file("elsewhere/V1__a.sql", "select 1;");
  temp.write_file("elsewhere/more/V2__b.sql", "select 2;");
  temp.write_file("here/V3__c.sql", "select 3;");
  fs::create_symlink("../elsewhere/V1__a.sql", temp.path() / "here/V1__a.sql");
  fs::create_directory_symlink("../elsewhere/more", temp.path() / "here/more");
  fs::create_directory_symlink("..", temp.path() / "here/loop");
  const auto local = load(temp, {"here"});
  CHECK(problems(temp, local).empty());
  CHECK(scripts(local).size() == 3);
}

TEST_CASE("a link to a folder in which it lies is not followed") {
  const TempDir temp;
  temp.write_file("V9__around.sql", "select 9;");
  temp.write_file("here/V1__a.sql", "select 1;");
  temp.write_file("elsewhere/below/V2__b.sql", "select 2;");
  temp.write_file("elsewhere/V3__not_linked.sql", "select 3;");
  fs::create_directory_symlink("..", temp.path() / "here/up");
  fs::create_directory_symlink("/", temp.path() / "here/root");
  fs::create_directory_symlink("../elsewhere/below", temp.path() / "here/below");
  fs::create_directory_symlink("..", temp.path() / "elsewhere/below/up");
  const auto local = load(temp, {"here"});
  CHECK(problems(temp, local).empty());
  CHECK(scripts(local) == Texts{"V1__a.sql", "below/V2__b.sql"});
}

TEST_CASE("the same file under two versions is two migrations") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "select 1;");
  fs::create_symlink("V1__a.sql", temp.path() / "V2__a.sql");
  CHECK(scripts(load(temp)) == Texts{"V1__a.sql", "V2__a.sql"});
}

TEST_CASE("a link that leads nowhere is a problem when it is named like a migration") {
  const TempDir temp;
  fs::create_symlink("nowhere", temp.path() / "V1__a.sql");
  fs::create_symlink("nowhere", temp.path() / "notes");
  CHECK(problems(temp, load(temp)) == Texts{"link_broken V1__a.sql"});
}

TEST_CASE("what is not a regular file is refused and never waited for") {
  const TempDir temp;
  REQUIRE(::mkfifo((temp.path() / "V1__pipe.sql").c_str(), 0644) == 0);
  fs::create_symlink("V1__pipe.sql", temp.path() / "V2__link.sql");
  fs::create_symlink("/dev/zero", temp.path() / "V3__zero.sql");
  REQUIRE(::mkfifo((temp.path() / "unnamed").c_str(), 0644) == 0);
  CHECK(problems(temp, load(temp)) ==
        Texts{"not_a_file V1__pipe.sql", "not_a_file V2__link.sql", "not_a_file V3__zero.sql"});
}

TEST_CASE("files and folders that cannot be read are problems") {
  const TempDir temp;
  fs::permissions(temp.path(), fs::perms(0755));
  const auto file = temp.write_file("V1__secret.sql", "select 1;");
  temp.write_file("closed/V2__b.sql", "select 1;");
  fs::permissions(file, fs::perms::none);
  fs::permissions(temp.path() / "closed", fs::perms::none);
  LocalMigrations local;
  {
    const AsUnprivileged user;
    local = load(temp);
  }
  fs::permissions(temp.path() / "closed", fs::perms::owner_all);
  CHECK(problems(temp, local) == Texts{"file_unreadable V1__secret.sql", "folder_unreadable closed"});
  CHECK_THAT(render(local.problems.front()), ContainsSubstring("Permission denied"));
}

TEST_CASE("a location that is not there, or is no folder, is a matter of configuration") {
  const TempDir temp;
  temp.write_file("file", "");
  const auto local = load(temp, {"nowhere", "file"});
  REQUIRE(local.problems.size() == 2);
  CHECK(local.problems[0].kind == ErrorKind::config);
  CHECK(local.problems[0].code == "location_missing");
  CHECK_THAT(local.problems[0].message, ContainsSubstring(temp.string() + "/nowhere does not exist"));
  CHECK(local.problems[1].code == "location_unreadable");
  CHECK(load_migrations({""}).problems.front().code == "location_missing");
}

TEST_CASE("a configuration is read with its script, and does not stand alone") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "create table t (a int); vacuum t;");
  temp.write_file("V1__a.sql.conf", "executeInTransaction=false\n");
  temp.write_file("V2__b.sql", "select 1;");
  temp.write_file("V2__b.sql.conf", "encoding=UTF-8\nexecuteInTransation=false\n");
  temp.write_file("V3__c.sql.conf", "executeInTransaction=false\n");
  temp.write_file("V4__d.sql", "select 1;");
  temp.write_file("V4__d.sql.conf", std::string(100'000, '\n'));
  temp.write_file("nginx.conf", "server {}");
  const auto local = load(temp);
  CHECK(problems(temp, local) == Texts{"directive_unknown V2__b.sql.conf:2:1",
                                       "config_without_script V3__c.sql.conf",
                                       "config_too_large V4__d.sql.conf"});
  CHECK(local.migrations[0].transaction == TransactionMode::off);
}

TEST_CASE("the same version twice is told with both files, however it is written") {
  const TempDir temp;
  for (const auto* name :
       {"a/V1__a.sql", "a/V2__b.sql", "a/U2__b.sql", "b/V2.0__c.sql", "b/sub/V02__d.sql"}) {
    temp.write_file(name, "select 1;");
  }
  const auto local = load(temp, {"a", "b"});
  CHECK(problems(temp, local) ==
        Texts{"duplicate_version b/V2.0__c.sql", "duplicate_version b/sub/V02__d.sql"});
  CHECK(short_path(temp, local.problems[0].message) == "versioned migration 2 is there already: a/V2__b.sql");
  CHECK_THAT(render(local.problems[0]), ContainsSubstring("2 and 2.0 are the same version"));
}

TEST_CASE("the same repeatable twice is told with both files") {
  const TempDir temp;
  temp.write_file("a/R__views.sql", "select 1;");
  temp.write_file("b/R__views.sql", "select 2;");
  temp.write_file("b/R__Views.sql", "select 3;");
  const auto local = load(temp);
  CHECK(problems(temp, local) == Texts{"duplicate_repeatable b/R__views.sql"});
  CHECK(short_path(temp, local.problems[0].message) ==
        "repeatable migration \"views\" is there already: a/R__views.sql");
}

TEST_CASE("one report has all problems of all files, in the order of their paths") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "create table t (a int);\ncommit;\nselect 'open");
  temp.write_file("V1__b.sql", "select 1;");
  temp.write_file("V2__c.sql", "\\connect x\n");
  temp.write_file("V3_d.sql", "select 1;");
  temp.write_file("R__latin.sql",
                  "select 'gr\xfc\xdf"
                  "e';");
  const auto local = load(temp, {"", "nowhere"});
  CHECK(problems(temp, local) == Texts{"location_missing -", "not_utf8 R__latin.sql:1:11",
                                       "transaction_control V1__a.sql:2:1",
                                       "unterminated_string V1__a.sql:3:8", "duplicate_version V1__b.sql",
                                       "meta_command_refused V2__c.sql:1:1", "migration_name V3_d.sql"});
}

TEST_CASE("a problem shows the line of the file that it is about") {
  const TempDir temp;
  temp.write_file("V1__a.sql", "\xef\xbb\xbfselect 1;\r\n\tselect 'é'; rollback;\r\n");
  const auto local = load(temp);
  REQUIRE(local.problems.size() == 1);
  const auto text = short_path(temp, render(local.problems[0]));
  CHECK_THAT(text, ContainsSubstring("error: V1__a.sql:2:14: ROLLBACK would break up"));
  CHECK_THAT(text, ContainsSubstring("  2 | \tselect 'é'; rollback;\n    | \t            ^\n"));
}

TEST_CASE("a line that is too long, or that a terminal would obey, is not shown as it is") {
  const TempDir temp;
  temp.write_file("V1__long.sql", "select '" + std::string(5000, 'x') + "'; rollback;");
  temp.write_file("V2__escape.sql", "select '\x1b[31m'; rollback;");
  const auto local = load(temp);
  REQUIRE(local.problems.size() == 2);
  CHECK(local.problems[0].excerpt.empty());
  CHECK(local.problems[1].excerpt == "select '\uFFFD[31m'; rollback;");
}

TEST_CASE("the checksum is what sed and sha256sum make of the file") {
  const TempDir temp;
  const std::string text = "create table t (\n  name text\n);\n\ninsert into t values ('\xc3\xa9');";
  std::string crlf = "\xef\xbb\xbf";
  for (const char c : text + "\n\n") crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  temp.write_file("V1__lf.sql", text + "\n");
  temp.write_file("V2__crlf.sql", crlf);
  const auto local = load(temp);
  REQUIRE(local.migrations.size() == 2);
  for (const auto& migration : local.migrations) {
    const auto sum = output_of({.argv = {"sh", "-c",
                                         "sed -e '1s/^\\xef\\xbb\\xbf//' -e 's/\\r$//' \"$0\" | "
                                         "perl -0777 -pe 's/\\n+\\z//' | sha256sum",
                                         migration.path}});
    CHECK(migration.checksum == "sha256:" + sum.substr(0, 64));
  }
}

TEST_CASE("many files, read by two threads, are the same as few") {
  const TempDir temp;
  for (int i = 1; i <= 600; ++i) {
    temp.write_file(fmt::format("V{}__x.sql", i), i % 100 == 0 ? "rollback;" : "select 1; select 2;");
  }
  const auto local = load(temp);
  REQUIRE(local.migrations.size() == 600);
  CHECK(local.problems.size() == 6);
  for (std::size_t i = 0; i < 600; ++i) {
    const auto& migration = local.migrations[i];
    if (version_text(migration) != std::to_string(i + 1)) FAIL(migration.script);
    if (migration.statements != ((i + 1) % 100 == 0 ? 1U : 2U)) FAIL(migration.script);
  }
}

TEST_CASE("a script is opened again for the run, and streamed") {
  const TempDir temp;
  const std::string text = "select '" + std::string(200'000, 'x') + "';\n";
  temp.write_file("V1__a.sql", text);
  const auto local = load(temp);
  const auto read = files::open_script(local.migrations.at(0));
  std::string all;
  std::string piece(1000, '\0');
  while (const auto size = read(piece.data(), piece.size())) all.append(piece, 0, size);
  CHECK(all == text);
  CHECK(read(piece.data(), piece.size()) == 0);
}

TEST_CASE("a script that has gone when it is to be run is named") {
  const TempDir temp;
  const auto path = temp.write_file("V1__a.sql", "select 1;");
  const auto local = load(temp);
  fs::remove(path);
  try {
    files::open_script(local.migrations.at(0));
    FAIL("it was opened");
  } catch (const Failure& failure) {
    CHECK(failure.error().code == "file_vanished");
    CHECK(failure.error().kind == ErrorKind::files);
    CHECK(failure.error().where->file == path);
  }
}
