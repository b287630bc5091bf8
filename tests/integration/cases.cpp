#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/program.h"
#include "support/temp_dir.h"
#include "support/test_database.h"
#include "test_paths.h"

// The situations of tests/cases/migrate, run by the built program. Their README says what a case is.

namespace lockstep::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<fs::path> case_folders() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(LOCKSTEP_TESTS_DIR "/cases/migrate")) {
    if (fs::exists(entry.path() / "case.json")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string text(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? std::string{} : found->get<std::string>();
}

std::map<std::string, std::string> environment_of(const json& object) {
  return object.value("environment", std::map<std::string, std::string>{});
}

std::string trimmed(std::string value) {
  while (value.ends_with('\n')) value.pop_back();
  return value;
}

void replace_all(std::string& in, const std::string& what, const std::string& with) {
  for (auto at = in.find(what); at != std::string::npos; at = in.find(what, at + with.size()))
    in.replace(at, what.size(), with);
}

/// What the case is on this server: where it is older than a version of "before", the keys of that one count.
json facts_of(const fs::path& folder) {
  auto facts = json::parse(read_file(folder / "case.json"));
  std::map<int, json, std::greater<>> before;
  const auto older = facts.value("before", json::object());
  for (const auto& [version, keys] : older.items()) before[std::stoi(version)] = keys;
  for (const auto& [version, keys] : before) {
    if (PgServer::version() < version) facts.update(keys);
  }
  return facts;
}

/// One case, from its setup to the check of what the database holds.
class Case {
 public:
  explicit Case(fs::path folder)
      : folder_(std::move(folder)),
        facts_(facts_of(folder_)),
        own_server_(make_server()),
        database_(std::make_unique<TestDatabase>(server(), text(facts_, "createdb"))) {}

  ~Case() {
    database_.reset();
    for (const auto& role : facts_.value("roles", std::vector<std::string>{}))
      server().psql("postgres", "drop role " + role);
  }

  void run() {
    run_sql("setup.sql");
    check_migrate(lockstep_with({"migrate", "--output", "json", "--dir", files()}, json::object()));
    for (const auto& step : facts_.value("then", std::vector<json>{})) check_step(step);
    CHECK(database_->psql(text_or_file("verify", "verify.sql")) ==
          trimmed(text_or_file("prints", "expected.txt")));
    run_sql("after.sql");
  }

 private:
  PgServer& server() const { return own_server_ ? *own_server_ : PgServer::shared(); }

  std::unique_ptr<PgServer> make_server() const {
    const auto found = facts_.find("own_server");
    if (found == facts_.end()) return nullptr;
    return std::make_unique<PgServer>(ServerOptions{.settings = *found, .hba = text(facts_, "pg_hba")});
  }

  std::string text_or_file(const char* key, const char* name) const {
    return facts_.contains(key) ? text(facts_, key) : read_file(folder_ / name);
  }

  void run_sql(const char* name) const {
    if (fs::exists(folder_ / name)) database_->psql(read_file(folder_ / name));
  }

  /// The folder with the migrations: sql/, or a copy of those files of it that are migrations.
  std::string files() {
    const auto only = facts_.value("only", json());
    if (!only.is_array()) return folder_ / "sql";
    for (const std::string name : only) chosen_.write_file(name, read_file(folder_ / "sql" / name));
    return chosen_.string();
  }

  std::string filled_in(std::string value) const {
    replace_all(value, "{dir}", folder_.string());
    replace_all(value, "{port}", std::to_string(server().port()));
    replace_all(value, "{db}", database_->name());
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      const auto mark = "{file:" + entry.path().filename().string() + "}";
      if (value.find(mark) != std::string::npos) replace_all(value, mark, read_file(entry.path()));
    }
    return value;
  }

  Outcome lockstep_with(const std::vector<std::string>& args, const json& step) const {
    auto command = lockstep({});
    for (const auto& argument : args) command.argv.push_back(filled_in(argument));
    const auto user = text(facts_, "user");
    const auto url = text(step, "url");
    command.env["LOCKSTEP_URL"] =
        url.empty() ? database_->socket_url(user.empty() ? "postgres" : user) : filled_in(url);
    if (const auto path = text(facts_, "search_path"); !path.empty())
      command.env["LOCKSTEP_DATABASE_SEARCH_PATH"] = path;
    for (const auto& [name, value] : environment_of(facts_)) command.env[name] = filled_in(value);
    for (const auto& [name, value] : environment_of(step)) command.env[name] = filled_in(value);
    return test::run(command);
  }

  void check_migrate(const Outcome& outcome) const {
    INFO(outcome.out << outcome.err);
    for (const std::string text : facts_.value("says", json::array()))
      CHECK_THAT(outcome.err, Catch::Matchers::ContainsSubstring(text));
    for (const std::string text : facts_.value("hides", json::array()))
      CHECK_THAT(outcome.out + outcome.err, !Catch::Matchers::ContainsSubstring(text));
    if (facts_.at("expect") == "ok") {
      CHECK(outcome.exit_code == 0);
      return;
    }
    const auto document = json::parse(outcome.out);
    CHECK_FALSE(document.at("ok"));
    const auto& error = document.at("error");
    if (facts_.at("sqlstate") == "refused") {
      CHECK(outcome.exit_code == 3);
      CHECK(database_->psql("select to_regclass('lockstep_history') is null") == "t");
    } else {
      CHECK((outcome.exit_code == 6 || outcome.exit_code == 7));
      const auto sqlstates = text(facts_, "sqlstate");
      CHECK_THAT(sqlstates, Catch::Matchers::ContainsSubstring(error.at("sqlstate").get<std::string>()));
    }
    const auto failing = text(facts_, "failing_file");
    if (failing != "*")
      CHECK_THAT(error.at("file").get<std::string>(), Catch::Matchers::EndsWith("/" + failing));
  }

  void check_step(const json& step) const {
    const auto outcome = lockstep_with(step.at("args"), step);
    INFO(step.dump() << "\n" << outcome.out << outcome.err);
    CHECK(outcome.exit_code == step.at("exit"));
    const auto output = outcome.out + outcome.err;
    if (step.contains("says"))
      CHECK_THAT(output, Catch::Matchers::ContainsSubstring(filled_in(step.at("says"))));
    if (step.contains("hides"))
      CHECK_THAT(output, !Catch::Matchers::ContainsSubstring(filled_in(step.at("hides"))));
  }

  fs::path folder_;
  json facts_;
  std::unique_ptr<PgServer> own_server_;
  std::unique_ptr<TestDatabase> database_;
  TempDir chosen_;
};

}  // namespace

TEST_CASE("every situation from the bug reports ends as it should") {
  const auto folder = GENERATE(from_range(case_folders()));
  INFO(folder.filename().string());
  Case(folder).run();
}

}  // namespace lockstep::test
