#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <set>
#include <string>

#include "cli/arguments.h"
#include "cli/completion.h"
#include "cli/next_version.h"
#include "cli/settings_keys.h"
#include "cli/settings_placeholders.h"
#include "support/fake_context.h"

using namespace lockstep;
using namespace lockstep::cli;
using namespace lockstep::test;

namespace {

using Words = std::vector<std::string>;

/// The problems of a command line, one line each.
Words problems_of(const Words& words) {
  try {
    parse_arguments(words);
  } catch (const Failure& failure) {
    Words lines;
    for (const auto& error : failure.errors()) {
      CHECK(error.kind == ErrorKind::usage);
      lines.push_back(error.message + " | " + error.hints.at(0));
    }
    return lines;
  }
  return {};
}

std::string next_after(const Words& scripts) {
  std::vector<Migration> migrations;
  for (const auto& script : scripts) migrations.push_back(fake_migration(script));
  return next_version(migrations, std::chrono::system_clock::time_point(std::chrono::seconds(1767323045)));
}

}  // namespace

TEST_CASE("options may stand before and after the command, with a blank or a sign of equality") {
  const auto words = GENERATE(Words{"--url", "x", "migrate", "--target", "3", "-d", "a", "-d", "b"},
                              Words{"migrate", "--target=3", "-u", "x", "--dir=a", "--dir", "b"},
                              Words{"-d", "a", "migrate", "-u", "x", "-d", "b", "--target", "3"});
  const auto arguments = parse_arguments(words);
  REQUIRE(arguments.command != nullptr);
  CHECK(arguments.command->name == "migrate");
  CHECK(arguments.value("--target") == "3");
  REQUIRE(arguments.settings.size() == 2);
  CHECK(arguments.settings[0].key == "database.url");
  CHECK(arguments.settings[0].values == Words{"x"});
  CHECK(arguments.settings[1].key == "migrations.dirs");
  CHECK(arguments.settings[1].values == Words{"a", "b"});
}

TEST_CASE("a directory's name does not swallow the command behind it") {
  const auto arguments = parse_arguments({"-d", "info", "migrate"});
  CHECK(arguments.command->name == "migrate");
  CHECK(arguments.settings[0].values == Words{"info"});
}

TEST_CASE("a word behind the command is not another command") {
  CHECK(parse_arguments({"new", "info"}).operands == Words{"info"});
  CHECK(problems_of({"migrate", "info"}) == Words{"unexpected \"info\" | See lockstep migrate --help."});
}

TEST_CASE("what follows two dashes belongs to the program") {
  const auto arguments = parse_arguments({"ephemeral", "--", "psql", "--version", "--", "-d"});
  CHECK(arguments.rest == Words{"psql", "--version", "--", "-d"});
  CHECK_FALSE(arguments.has("--version"));
  CHECK(problems_of({"migrate", "--", "x"}) ==
        Words{"unexpected \"x\" after -- | See lockstep migrate --help."});
}

TEST_CASE("misspelt commands and options get a suggestion") {
  CHECK(problems_of({"migrat"}) == Words{"unknown command \"migrat\" | Did you mean lockstep migrate?"});
  CHECK(problems_of({"migrat", "--target", "3"}).size() == 1);
  CHECK(problems_of({"xyzzy"}) == Words{"unknown command \"xyzzy\" | See lockstep --help."});
  CHECK(problems_of({"migrate", "--targt=3"}) ==
        Words{"unknown option \"--targt\" | Did you mean --target?"});
  CHECK(problems_of({"migrate", "--targt", "3"}) ==
        Words{"unknown option \"--targt\" | Did you mean --target?"});
  CHECK(problems_of({"info", "--chek", "--outptu", "json"}).size() == 2);
  CHECK(problems_of({"--target", "3", "migrate"}) ==
        Words{"--target stands before the command | Write it after migrate."});
  CHECK(problems_of({"migrate", "-x"}) == Words{"unknown option \"-x\" | See lockstep migrate --help."});
}

TEST_CASE("missing values and surplus words are usage errors") {
  CHECK(problems_of({"migrate", "--target"}) ==
        Words{"--target needs a value | See lockstep migrate --help."});
  CHECK(problems_of({"migrate", "now"}) == Words{"unexpected \"now\" | See lockstep migrate --help."});
  CHECK(problems_of({"new", "add", "orders"}) ==
        Words{"unexpected \"orders\" | Put words that belong together in quotes."});
}

TEST_CASE("without a command help goes to standard error and the exit status is 2") {
  FakeWorld world;
  const auto outcome = world.run({});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == world.run({"--help"}).out);
  CHECK(world.run({"--output", "json"}).out.find("\"no_command\"") != std::string::npos);
}

TEST_CASE("help and version are answered on standard output, without settings") {
  FakeWorld world;
  world.environment["LOCKSTEP_NONSENSE"] = "x";
  for (const auto& command : commands()) {
    const auto help = world.run({std::string(command.name), "--help"});
    CHECK(help.exit_code == 0);
    CHECK(help.err.empty());
    CHECK(help.out == world.run({"help", std::string(command.name)}).out);
    for (const auto& option : command.options) CHECK(help.out.find(option.long_name()) != std::string::npos);
  }
  CHECK(world.run({"--version"}).out == "lockstep 0.1.0\nlibpq 15.18\n");
  CHECK(world.run({"version"}).out == "lockstep 0.1.0\nlibpq 15.18\n");
  CHECK(world.run({"help", "nothing"}).exit_code == 2);
}

TEST_CASE("a usage error is a JSON document when one was asked for") {
  FakeWorld world;
  const auto outcome = world.run({"migrate", "--targt", "--output=json"});
  CHECK(outcome.exit_code == 2);
  CHECK(outcome.err.empty());
  CHECK(outcome.out.find("\"unknown_option\"") != std::string::npos);
}

TEST_CASE("options that set a setting name a key that exists, and the key names the flag") {
  std::set<std::string> flags;
  const auto check = [&](const OptionSpec& option) {
    if (option.setting.empty() || option.setting == placeholder_section) return;
    const auto* const key = find_key(option.setting);
    REQUIRE(key != nullptr);
    CHECK(key->flag == option.long_name());
    if (key->type == KeyType::choice) CHECK(key->choices == option.choices);
    flags.insert(std::string(key->flag));
  };
  for (const auto& option : global_options()) check(option);
  for (const auto& command : commands()) {
    for (const auto& option : command.options) check(option);
  }
  for (const auto& key : keys()) {
    if (!key.flag.empty()) CHECK(flags.contains(std::string(key.flag)));
  }
}

TEST_CASE("completion scripts know every command and option") {
  for (const auto* const shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell).value();
    for (const auto& command : commands()) {
      CHECK(script.find(command.name) != std::string::npos);
      for (const auto& option : command.options) {
        CHECK(script.find(option.long_name().substr(2)) != std::string::npos);
      }
    }
  }
  CHECK_FALSE(completion_script("tcsh").has_value());
  FakeWorld world;
  CHECK(world.run({"completion"}).exit_code == 2);
  CHECK(world.run({"completion", "tcsh"}).exit_code == 2);
}

TEST_CASE("the next version goes on as the existing ones do") {
  CHECK(next_after({}) == "1");
  CHECK(next_after({"R__views.sql"}) == "1");
  CHECK(next_after({"V1__a.sql", "V10__b.sql", "V9__c.sql"}) == "11");
  CHECK(next_after({"V009__a.sql"}) == "010");
  CHECK(next_after({"V99__a.sql"}) == "100");
  CHECK(next_after({"V1.9__a.sql", "V1.10__b.sql"}) == "1.11");
  CHECK(next_after({"V2_1__a.sql"}) == "2.2");
  CHECK(next_after({"V20250101120000__a.sql"}) == "20260102030405");
  CHECK(next_after({"V20990101120000__a.sql"}) == "20990101120001");
  CHECK(next_after({"V123456789012345678901234567899__a.sql"}) == "123456789012345678901234567900");
}

TEST_CASE("a description becomes the part of a file name") {
  CHECK(file_description("add orders") == "add_orders");
  CHECK(file_description("  Füge  hinzu: ../x!  ") == "Füge_hinzu_.._x");
  CHECK(file_description("a__b") == "a_b");
  CHECK(file_description("//").empty());
}
