#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "files/load.h"
#include "files/open_script.h"
#include "sql/script_reader.h"
#include "support/program.h"
#include "support/psql_sends.h"
#include "support/recording_server.h"
#include "test_paths.h"

// A folder of tests/cases/include is a location with one migration, V1__main.sql. In expected.txt are the
// problems that it must have, "code place from place …"; without that file psql must send what lockstep
// reads.

namespace lockstep::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> folders(const std::function<bool(const fs::path&)>& wanted) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(LOCKSTEP_TESTS_DIR "/cases/include")) {
    if (wanted(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  REQUIRE(found.size() > 10);
  return found;
}

bool is_refused(const fs::path& folder) {
  return fs::exists(folder / "expected.txt");
}

std::string below(const fs::path& folder, const SourcePosition& position) {
  auto text = to_string(position);
  const auto prefix = folder.string() + "/";
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

std::string problems_of(const fs::path& folder) {
  std::string text;
  for (const auto& problem : files::load_migrations({folder}).problems) {
    CHECK_FALSE(problem.hints.empty());
    CHECK((problem.code == "migration_name" || problem.code == "utf16" || !problem.excerpt.empty()));
    text += problem.code + " " + below(folder, *problem.where);
    for (const auto& from : problem.included_from) text += " from " + below(folder, from);
    text += "\n";
  }
  return text;
}

std::vector<Sent> sent_by_lockstep(const fs::path& folder) {
  const auto local = files::load_migrations({folder});
  CHECK(local.problems.empty());
  const auto& migration = local.migrations.at(0);
  std::size_t file = 0;
  sql::ScriptReader reader(files::open_script(migration), [&](const sql::Item&) {
    return sql::IncludedFile{files::open_script(migration, ++file), 16};
  });
  std::vector<Sent> sent;
  while (const auto item = reader.next()) {
    if (item->kind != sql::Item::Kind::statement) continue;
    sent.push_back({Sent::Kind::query, std::string(item->text)});
    if (item->statement.kind != sql::StatementKind::copy_from_stdin) continue;
    sent.push_back({Sent::Kind::copy_data, {}});
    for (auto part = reader.next_copy_data(); !part.empty(); part = reader.next_copy_data())
      sent.back().text += part;
  }
  return sent;
}

}  // namespace

TEST_CASE("psql sends what lockstep reads of a file and of those that it includes") {
  const auto folder = GENERATE(from_range(folders([](const auto& path) { return !is_refused(path); })));
  INFO(folder.filename().string());
  RecordingServer server;
  const auto psql = sent_by_psql(server, folder, "V1__main.sql");
  const auto ours = sent_by_lockstep(folder);
  for (std::size_t i = 0; i < std::min(psql.size(), ours.size()); ++i) {
    CAPTURE(i, psql[i].text, ours[i].text);
    CHECK(same(psql[i], ours[i]));
  }
  CHECK(psql.size() == ours.size());
}

TEST_CASE("what cannot be included is refused with its place and with the way there") {
  const auto folder = GENERATE(from_range(folders(is_refused)));
  INFO(folder.filename().string());
  CHECK(problems_of(folder) == read_file(folder / "expected.txt"));
}

}  // namespace lockstep::test
