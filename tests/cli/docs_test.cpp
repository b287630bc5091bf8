#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/settings_keys.h"
#include "core/error.h"
#include "test_paths.h"

using namespace lockstep;
using namespace lockstep::cli;
using Catch::Matchers::ContainsSubstring;

namespace {

std::string page(const std::string& name) {
  std::ifstream file(std::string(LOCKSTEP_SOURCE_DIR) + "/docs/" + name);
  REQUIRE(file.is_open());
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "`" + text + "`";
}

std::string choices_of(const Key& key) {
  if (key.choices.empty()) return "";
  std::string text;
  for (const auto choice : split(key.choices, '|'))
    text += (text.empty() ? "" : ", ") + code(std::string(choice));
  return " One of " + text + ".";
}

/// The row of a key in docs/configuration.md.
std::string row_of(const Key& key) {
  return "| `" + key.full_name() + "` | `" + key.variable() + "` | " + code(std::string(key.flag)) + " | " +
         code(std::string(key.fallback)) + " | " + std::string(key.description) + choices_of(key) + " |";
}

}  // namespace

TEST_CASE("docs/configuration.md has the row of every key") {
  const auto text = page("configuration.md");
  for (const auto& key : keys()) CHECK_THAT(text, ContainsSubstring(row_of(key) + "\n"));
}

TEST_CASE("docs/commands.md has the help of every command") {
  const auto text = page("commands.md");
  CHECK_THAT(text, ContainsSubstring("```text\n" + general_help() + "```\n"));
  for (const auto& command : commands()) {
    CHECK_THAT(text, ContainsSubstring("## " + std::string(command.name) + "\n"));
    CHECK_THAT(text, ContainsSubstring("```text\n" + command_help(command) + "```\n"));
  }
}

TEST_CASE("docs/exit-codes.md has the codes that exit_code gives, and no other") {
  const std::map<std::string, ErrorKind> kinds{
      {"negative", ErrorKind::negative},       {"usage", ErrorKind::usage},
      {"config", ErrorKind::config},           {"files", ErrorKind::files},
      {"connection", ErrorKind::connection},   {"unsafe", ErrorKind::unsafe},
      {"migration", ErrorKind::migration},     {"part_way", ErrorKind::part_way},
      {"internal", ErrorKind::internal},       {"lock_busy", ErrorKind::lock_busy},
      {"interrupted", ErrorKind::interrupted}, {"terminated", ErrorKind::terminated}};
  std::istringstream lines(page("exit-codes.md"));
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::string bar;
    std::string number;
    std::string kind;
    if (!(cells >> bar >> number >> bar >> kind) ||
        number.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    if (number == "0") continue;
    CAPTURE(line);
    REQUIRE(kinds.contains(kind));
    CHECK(std::stoi(number) == exit_code(kinds.at(kind)));
    found.insert(kind);
  }
  CHECK(found.size() == kinds.size());
}
