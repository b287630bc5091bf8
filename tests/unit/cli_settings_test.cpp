#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>
#include <string>

#include "cli/settings.h"
#include "cli/settings_keys.h"

using namespace lockstep;
using namespace lockstep::cli;

namespace {

LoadedSettings from_toml(const std::string& text, const std::string& overlay = {}) {
  SettingsSources sources{.config = ConfigFile{"conf/lockstep.toml", text}};
  if (!overlay.empty()) sources.overlay = Overlay{overlay, "--env"};
  return load_settings(sources);
}

LoadedSettings from_environment(const Environment& environment) {
  return load_settings({.environment = environment});
}

LoadedSettings from_flag(const std::string& key, const std::string& flag, std::vector<std::string> values) {
  return load_settings({.flags = {{key, flag, std::move(values)}}});
}

std::string origin_of(const LoadedSettings& loaded, const std::string& key) {
  for (const auto& setting : loaded.shown) {
    if (setting.key == key) return setting.origin.text;
  }
  return "no such key";
}

/// Every problem as one line: place, message and hints.
std::vector<std::string> lines(const LoadedSettings& loaded) {
  std::vector<std::string> result;
  for (const auto& problem : loaded.problems) {
    auto line = problem.where ? to_string(*problem.where) + ": " + problem.message : problem.message;
    for (const auto& hint : problem.hints) line += " | " + hint;
    result.push_back(line);
  }
  return result;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("without any source every setting has the default of the manual") {
  const auto loaded = load_settings({});
  CHECK(lines(loaded).empty());
  const auto& s = loaded.settings;
  CHECK(s.url.empty());
  CHECK(s.wait_for_db == Milliseconds(0));
  CHECK(s.pooler == PoolerPolicy::detect);
  CHECK(s.dirs == Lines{"migrations"});
  CHECK(s.out_of_order == OutOfOrder::refuse);
  CHECK(s.lock_timeout == Milliseconds(5000));
  CHECK(s.history_table == "lockstep_history");
  CHECK(s.lock_namespace == 1280262987);
  CHECK_FALSE(s.lock_resource.has_value());
  CHECK(s.lock_wait == Milliseconds(300000));
  CHECK(s.on_busy == OnBusy::wait);
  CHECK(s.output == OutputFormat::text);
  CHECK(s.log_format == LogFormat::text);
  CHECK(s.progress == ProgressMode::detect);
  CHECK(s.color == ColorMode::detect);
  CHECK(origin_of(loaded, "lock.wait") == "default");
}

TEST_CASE(
    "a flag is stronger than the environment, that than an overlay, that than the file, that than the "
    "default") {
  SettingsSources sources{.config = ConfigFile{"lockstep.toml", "[lock]\nwait = \"1s\"\n"}};
  CHECK(load_settings(sources).settings.lock_wait == Milliseconds(1000));
  CHECK(origin_of(load_settings(sources), "lock.wait") == "lockstep.toml:2");

  sources.config->text += "[env.prod.lock]\nwait = \"2s\"\n";
  CHECK(load_settings(sources).settings.lock_wait == Milliseconds(1000));
  sources.overlay = Overlay{"prod", "--env"};
  CHECK(load_settings(sources).settings.lock_wait == Milliseconds(2000));
  CHECK(origin_of(load_settings(sources), "lock.wait") == "lockstep.toml:4 [env.prod]");

  sources.environment["LOCKSTEP_LOCK_WAIT"] = "3s";
  CHECK(load_settings(sources).settings.lock_wait == Milliseconds(3000));
  CHECK(origin_of(load_settings(sources), "lock.wait") == "LOCKSTEP_LOCK_WAIT");

  sources.flags = {{"lock.wait", "--lock-wait", {"4s"}}};
  CHECK(load_settings(sources).settings.lock_wait == Milliseconds(4000));
  CHECK(origin_of(load_settings(sources), "lock.wait") == "--lock-wait");
}

TEST_CASE("an overlay that stands above its section wins all the same") {
  CHECK(from_toml("[env.prod]\nlock.wait = \"2s\"\n[lock]\nwait = \"1s\"\n", "prod").settings.lock_wait ==
        Milliseconds(2000));
}

TEST_CASE("LOCKSTEP_URL is stronger than DATABASE_URL, and an empty variable counts as unset") {
  CHECK(from_environment({{"DATABASE_URL", "a"}}).settings.url == "a");
  CHECK(from_environment({{"DATABASE_URL", "a"}, {"LOCKSTEP_URL", "b"}}).settings.url == "b");
  CHECK(from_environment({{"DATABASE_URL", "a"}, {"LOCKSTEP_URL", ""}}).settings.url == "a");
  CHECK(from_environment({{"LOCKSTEP_DATABASE_URL", "c"}}).settings.url == "c");
  CHECK(from_environment({{"LOCKSTEP_LOCK_WAIT", ""}}).settings.lock_wait == Milliseconds(300000));
}

TEST_CASE("libpq's variables say which database is meant only with host, database or service") {
  CHECK(has_libpq_target({{"PGHOST", "h"}}));
  CHECK(has_libpq_target({{"PGDATABASE", "d"}}));
  CHECK(has_libpq_target({{"PGSERVICE", "s"}}));
  CHECK_FALSE(has_libpq_target({{"PGUSER", "u"}, {"PGPASSWORD", "p"}, {"PGHOST", ""}}));
}

TEST_CASE("every key can be set by its variable") {
  for (const auto& key : keys()) {
    const std::string value = key.type == KeyType::duration  ? "7s"
                              : key.type == KeyType::boolean ? "true"
                              : key.type == KeyType::integer ? "-7"
                              : key.type == KeyType::mark    ? "{{"
                              : key.type == KeyType::choice  ? std::string(split(key.choices, '|').back())
                                                             : "some_text";
    const auto loaded = from_environment({{key.variable(), value}});
    CAPTURE(key.full_name());
    CHECK(lines(loaded).empty());
    CHECK(origin_of(loaded, key.full_name()) == key.variable());
    const auto shown = std::find_if(loaded.shown.begin(), loaded.shown.end(),
                                    [&](const auto& setting) { return setting.key == key.full_name(); });
    CHECK(shown->value == value);
  }
}

TEST_CASE("the choices of a key are in the order of its enumeration") {
  CHECK(from_environment({{"LOCKSTEP_DATABASE_POOLER", "refuse"}}).settings.pooler == PoolerPolicy::refuse);
  CHECK(from_environment({{"LOCKSTEP_DATABASE_POOLER", "assume-session"}}).settings.pooler ==
        PoolerPolicy::assume_session);
  CHECK(from_environment({{"LOCKSTEP_LOCK_ON_BUSY", "fail"}}).settings.on_busy == OnBusy::fail);
  CHECK(from_environment({{"LOCKSTEP_LOCK_ON_BUSY", "skip"}}).settings.on_busy == OnBusy::skip);
  CHECK(from_environment({{"LOCKSTEP_OUTPUT_FORMAT", "json"}}).settings.output == OutputFormat::json);
  CHECK(from_environment({{"LOCKSTEP_OUTPUT_LOG_FORMAT", "json"}}).settings.log_format == LogFormat::json);
  CHECK(from_environment({{"LOCKSTEP_OUTPUT_PROGRESS", "plain"}}).settings.progress == ProgressMode::plain);
  CHECK(from_environment({{"LOCKSTEP_OUTPUT_PROGRESS", "none"}}).settings.progress == ProgressMode::none);
  CHECK(from_environment({{"LOCKSTEP_OUTPUT_COLOR", "always"}}).settings.color == ColorMode::always);
  CHECK(from_environment({{"LOCKSTEP_OUTPUT_COLOR", "never"}}).settings.color == ColorMode::never);
  CHECK(from_environment({{"LOCKSTEP_MIGRATE_OUT_OF_ORDER", "true"}}).settings.out_of_order ==
        OutOfOrder::allow);
}

TEST_CASE("a list of names is an array or separated by commas, and each one must be a name") {
  const Lines both{"public", "My App"};
  CHECK(from_toml("[clean]\nschemas = [\"public\", \"My App\"]\n").settings.clean_schemas == both);
  CHECK(from_environment({{"LOCKSTEP_CLEAN_SCHEMAS", "public,My App"}}).settings.clean_schemas == both);
  CHECK(from_toml("[clean]\nschemas = \"\"\n").settings.clean_schemas.empty());
  CHECK(from_toml("[clean]\nschemas = []\n").settings.clean_schemas.empty());
  const auto loaded = from_toml("[clean]\nschemas = [\"a\", \"\"]\n");
  REQUIRE(loaded.problems.size() == 1);
  CHECK(loaded.problems[0].message == "clean.schemas: a name must not be empty");
  CHECK(from_environment({{"LOCKSTEP_CLEAN_SCHEMAS", std::string(64, 'x')}}).problems.size() == 1);
}

TEST_CASE("relative paths of the file are relative to it, others are as they stand") {
  const auto loaded = from_toml(
      "[migrations]\ndirs = [\"sql\", \"../shared\", \"/abs\"]\n[database]\npassword_file = \"pw\"\n");
  CHECK(loaded.settings.dirs == Lines{"conf/sql", "shared", "/abs"});
  CHECK(loaded.settings.password_file == "conf/pw");
  CHECK(from_toml("[migrations]\ndirs = \"a,b\"\n").settings.dirs == Lines{"conf/a,b"});
  CHECK(from_environment({{"LOCKSTEP_MIGRATIONS_DIRS", "sql,../more"}}).settings.dirs ==
        Lines{"sql", "../more"});
  CHECK(from_flag("migrations.dirs", "--dir", {"a", "b,c"}).settings.dirs == Lines{"a", "b,c"});
}

TEST_CASE("every problem of the file is reported, with its place") {
  const auto loaded = from_toml(
      "dirs = \"x\"\n"
      "[databse]\n"
      "url = \"x\"\n"
      "[database]\n"
      "rolle = \"x\"\n"
      "\"wéit\" = 1\n"
      "[lock]\n"
      "wait = 5\n"
      "on_busy = \"wiat\"\n"
      "namespace = 5000000000\n"
      "[migrate]\n"
      "out_of_order = \"yes\"\n"
      "[env.prod.lock]\n"
      "  wait = \"7\"\n");
  CHECK(
      lines(loaded) ==
      Lines{
          "conf/lockstep.toml:1:1: \"dirs\" is not in a section | Write it below [migrations].",
          "conf/lockstep.toml:2:2: unknown section \"databse\" | Did you mean \"database\"?",
          "conf/lockstep.toml:5:1: unknown key \"rolle\" in section \"database\" | Did you mean \"role\"?",
          "conf/lockstep.toml:6:1: unknown key \"wéit\" in section \"database\" | The keys of [database] are "
          "url, password_file, role, search_path, wait_for_db, pooler.",
          "conf/lockstep.toml:8:1: lock.wait: expected a duration in quotes, such as \"5s\", found an "
          "integer",
          "conf/lockstep.toml:9:1: lock.on_busy: \"wiat\" is not one of wait, fail, skip | Did you mean "
          "\"wait\"?",
          "conf/lockstep.toml:10:1: lock.namespace: \"5000000000\" is not an integer of 32 bits | Write a "
          "number from -2147483648 to 2147483647.",
          "conf/lockstep.toml:12:1: migrate.out_of_order: \"yes\" is neither true nor false",
          "conf/lockstep.toml:14:3: lock.wait: \"7\" is not a duration | Write a number with a unit, such as "
          "250ms, 5s, 10m or 2h."});
  CHECK(std::all_of(loaded.problems.begin(), loaded.problems.end(),
                    [](const Error& error) { return error.kind == ErrorKind::config; }));
}

TEST_CASE("a value of another type is an error that says which one is wanted") {
  const auto loaded = from_toml(
      "[migrations]\n"
      "dirs = [\"a\", 1]\n"
      "[database]\n"
      "url = 2026-01-02\n"
      "[lock]\n"
      "namespace = true\n"
      "wait = 1.5\n"
      "[migrate]\n"
      "out_of_order = 1\n"
      "[clean]\n"
      "schemas = {}\n"
      "[env]\n"
      "prod = 1\n");
  CHECK(
      lines(loaded) ==
      Lines{
          "conf/lockstep.toml:13:1: \"prod\" is not a section | Write [env.prod.<section>].",
          "conf/lockstep.toml:2:1: migrations.dirs: expected a string or an array of strings, found an "
          "array that "
          "does not hold strings alone",
          "conf/lockstep.toml:4:1: database.url: expected a string, found a date or time",
          "conf/lockstep.toml:6:1: lock.namespace: expected an integer, found a boolean",
          "conf/lockstep.toml:7:1: lock.wait: expected a duration in quotes, such as \"5s\", found a "
          "floating-point number",
          "conf/lockstep.toml:9:1: migrate.out_of_order: expected true or false, found an integer",
          "conf/lockstep.toml:11:1: clean.schemas: expected a string or an array of strings, found a table"});
}

TEST_CASE("true and false of the file are taken as they stand") {
  CHECK(from_toml("[undo]\nenabled = true\n").settings.undo_enabled);
  CHECK_FALSE(from_toml("[undo]\nenabled = false\n").settings.undo_enabled);
}

TEST_CASE("a text that is not TOML is an error with its place, in characters") {
  CHECK(lines(from_toml("[lock\n")) == Lines{"conf/lockstep.toml:1:6: this is not TOML: Error while parsing "
                                             "table header: expected ']', saw '\\n'"});
  const auto loaded = from_toml("[history]\ntable = \"é\" x\n");
  REQUIRE(loaded.problems.size() == 1);
  CHECK(to_string(*loaded.problems[0].where) == "conf/lockstep.toml:2:13");
}

TEST_CASE("a section's name that the TOML library takes for granted is an error, not undefined behaviour") {
  for (const std::string name : {"`a", "é", " !x.y", "[$a]"}) {
    const auto loaded = from_toml("[lock]\n[" + name + "]\n");
    REQUIRE(loaded.problems.size() == 1);
    CHECK(to_string(*loaded.problems[0].where) == "conf/lockstep.toml:2");
    CHECK(loaded.problems[0].code == "invalid_toml");
  }
}

TEST_CASE("an error in a line that may hold a password does not show the line") {
  for (const std::string text :
       {"[database]\nurl = postgres://u:hunter22@h/d\n", "[database]\nurl = \"postgres://u:hunter22@h/d\n",
        "[x]\npassword = hunter22\n", "[database]\nurl = [\"postgres://u:hunter22@h/d\"]\n",
        "[database]\nurll = \"host=h password=hunter22\"\n", "url = \"postgres://u:hunter22@h/d\"\n"}) {
    const auto loaded = from_toml(text);
    REQUIRE_FALSE(loaded.problems.empty());
    for (const auto& problem : loaded.problems) CHECK(render(problem).find("hunter22") == std::string::npos);
  }
}

TEST_CASE("an environment that the file does not have is an error") {
  CHECK(lines(from_toml("[env.prod.lock]\nwait = \"1s\"\n", "prd")) ==
        Lines{"conf/lockstep.toml: there is no environment \"prd\" (--env) | Did you mean \"prod\"?"});
  CHECK(lines(from_toml("[env.prod.lock]\n[env.staging.lock]\n", "x")) ==
        Lines{"conf/lockstep.toml: there is no environment \"x\" (--env) | The file has prod, staging."});
  CHECK(lines(load_settings({.overlay = Overlay{"prod", "LOCKSTEP_ENV"}})) ==
        Lines{"there is no environment \"prod\" (LOCKSTEP_ENV) | Environments are sections [env.<name>] of "
              "lockstep.toml, and there is no such file here."});
}

TEST_CASE("variables that begin with LOCKSTEP_ and mean nothing are errors") {
  CHECK(
      lines(from_environment({{"LOCKSTEP_LOCK_WIAT", "5s"}, {"LOCKSTEP_ZZZ", ""}, {"OTHER", "x"}})) ==
      Lines{
          "unknown environment variable \"LOCKSTEP_LOCK_WIAT\" | Did you mean \"LOCKSTEP_LOCK_WAIT\"?",
          "unknown environment variable \"LOCKSTEP_ZZZ\" | Variables that begin with LOCKSTEP_ are settings; "
          "see lockstep config."});
  CHECK(lines(from_environment({{"LOCKSTEP_CONFIG", "x"},
                                {"LOCKSTEP_ENV", "y"},
                                {"LOCKSTEP_URL", "z"},
                                {"LOCKSTEP_PG_BIN", "b"}}))
            .empty());
}

TEST_CASE("the variables that Kubernetes sets for a service called lockstep are not ours") {
  // kubernetes.io/docs/tutorials/services/connect-applications-service, for services lockstep and
  // lockstep-api
  CHECK(lines(from_environment({{"LOCKSTEP_SERVICE_HOST", "10.0.0.11"},
                                {"LOCKSTEP_SERVICE_PORT", "6379"},
                                {"LOCKSTEP_SERVICE_PORT_HTTP", "6379"},
                                {"LOCKSTEP_PORT", "tcp://10.0.0.11:6379"},
                                {"LOCKSTEP_PORT_6379_TCP", "tcp://10.0.0.11:6379"},
                                {"LOCKSTEP_PORT_6379_TCP_PROTO", "tcp"},
                                {"LOCKSTEP_PORT_6379_TCP_PORT", "6379"},
                                {"LOCKSTEP_PORT_6379_TCP_ADDR", "10.0.0.11"},
                                {"LOCKSTEP_API_SERVICE_HOST", "10.0.0.12"},
                                {"LOCKSTEP_API_PORT", "udp://10.0.0.12:53"}}))
            .empty());
  CHECK(lines(from_environment({{"LOCKSTEP_PORT", "5432"}})).size() == 1);
}

TEST_CASE("a wrong value of a variable or a flag is named after it") {
  CHECK(lines(from_environment({{"LOCKSTEP_LOCK_WAIT", "5"}})) ==
        Lines{"LOCKSTEP_LOCK_WAIT: \"5\" is not a duration | Write a number with a unit, such as 250ms, 5s, "
              "10m or "
              "2h."});
  const auto loaded = from_flag("output.format", "--output", {"jsn"});
  CHECK(lines(loaded) == Lines{"--output: \"jsn\" is not one of text, json | Did you mean \"json\"?"});
  CHECK(loaded.problems[0].kind == ErrorKind::usage);
}

TEST_CASE("a value that a stronger source replaces is checked all the same") {
  CHECK(load_settings({.flags = {{"lock.wait", "--lock-wait", {"1s"}}},
                       .environment = {{"LOCKSTEP_LOCK_WAIT", "soon"}}})
            .problems.size() == 1);
}

TEST_CASE("names of the history table keep to PostgreSQL's limit") {
  CHECK(lines(from_environment({{"LOCKSTEP_HISTORY_TABLE", std::string(63, 'x')}})).empty());
  CHECK(lines(from_environment({{"LOCKSTEP_HISTORY_TABLE", std::string(64, 'x')}})).size() == 1);
  CHECK(lines(from_toml("[history]\ntable = \"\"\n")) ==
        Lines{"conf/lockstep.toml:2:1: history.table: must not be empty"});
  CHECK(lines(from_toml("[history]\nschema = \"\"\n")).empty());
}

TEST_CASE("keys, variables and flags are unique") {
  std::set<std::string> names;
  std::set<std::string> flags;
  for (const auto& key : keys()) {
    CHECK(names.insert(key.full_name()).second);
    CHECK(names.insert(key.variable()).second);
    if (!key.flag.empty()) CHECK(flags.insert(std::string(key.flag)).second);
  }
}

TEST_CASE(
    "placeholders come from the file, its overlay, variables and flags, whatever the case of their names") {
  SettingsSources sources;
  sources.config = ConfigFile{"lockstep.toml",
                              "[placeholders]\nA = \"file\"\nb = 7\nc = true\n\"d.e\" = "
                              "\"x\"\n[env.prod.placeholders]\na = \"prod\"\n"};
  using Values = std::map<std::string, std::string>;
  CHECK(load_settings(sources).settings.placeholders.values ==
        Values{{"a", "file"}, {"b", "7"}, {"c", "true"}, {"d.e", "x"}});
  sources.overlay = Overlay{"prod", "--env"};
  CHECK(load_settings(sources).settings.placeholders.values.at("a") == "prod");
  sources.environment["LOCKSTEP_PLACEHOLDERS_A"] = "variable";
  sources.environment["LOCKSTEP_PLACEHOLDERS_DB_SERVICE_HOST"] = "";
  CHECK(load_settings(sources).settings.placeholders.values.at("a") == "variable");
  sources.flags = {{"placeholders", "--set", {"a=1=2", "z="}}};
  const auto loaded = load_settings(sources);
  CHECK(lines(loaded).empty());
  CHECK(loaded.settings.placeholders.values.at("a") == "1=2");
  CHECK(loaded.settings.placeholders.values.at("z").empty());
  CHECK(origin_of(loaded, "placeholders.a") == "--set");
  CHECK(origin_of(loaded, "placeholders.b") == "lockstep.toml:3");
}

TEST_CASE("a placeholder that cannot be is a problem, also in an overlay that is not in use") {
  CHECK(from_toml("[placeholders]\n\"a b\" = \"x\"\na.b = \"x\"\n[env.prod.placeholders]\nc = 1.5\n")
            .problems.size() == 3);
  CHECK(from_flag("placeholders", "--set", {"hunter22"}).problems.front().message ==
        "--set: this is no name with a value");
  CHECK(from_flag("placeholders", "--set", {"=x"}).problems.front().kind == ErrorKind::usage);
  CHECK(from_environment({{"LOCKSTEP_PLACEHOLDERS_X", "\xff"}}).problems.size() == 1);
  CHECK(from_environment({{"LOCKSTEP_MIGRATIONS_PLACEHOLDER_PREFIX", "'"}}).problems.size() == 1);
  CHECK(from_environment({{"LOCKSTEP_MIGRATIONS_PLACEHOLDER_SUFFIX", "x}"}}).problems.size() == 1);
}
