#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <filesystem>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "support/pg_server.h"
#include "support/program.h"
#include "support/psql_sends.h"
#include "support/recording_server.h"
#include "support/script_pieces.h"
#include "test_paths.h"

namespace lockstep::test {
namespace {

/// A statement of the reader's as psql sends it: \; and \: leave no blank.
std::string as_psql_sends(const ScriptPiece& statement, const std::vector<ScriptPiece>& inside) {
  auto text = statement.text;
  for (auto command = inside.rbegin(); command != inside.rend(); ++command) {
    if (command->text == "\\;" || command->text == "\\:") text.erase(command->offset - statement.offset, 1);
  }
  return text;
}

std::vector<Sent> sent_by_reader(const ScriptPieces& found) {
  std::vector<Sent> sent;
  std::vector<ScriptPiece> inside;
  for (const auto& piece : found.pieces) {
    if (piece.inside_statement) inside.push_back(piece);
    if (piece.kind == ScriptPiece::Kind::copy_data) sent.push_back({Sent::Kind::copy_data, piece.text});
    if (piece.kind != ScriptPiece::Kind::statement) continue;
    sent.push_back({Sent::Kind::query, as_psql_sends(piece, inside)});
    inside.clear();
  }
  return sent;
}

/// At a problem the reader stops; psql sends what is left, or goes on in its own way.
void check_rest(std::vector<Sent> psql, std::size_t matched, const ScriptPieces& found,
                std::string_view script) {
  if (found.problem.empty() || found.problem == "copy_without_end") {
    CHECK(psql.size() == matched);
    return;
  }
  if (found.problem == "text_after_copy") return;
  if (psql.size() > matched + 1 && psql.back().kind == Sent::Kind::copy_data) psql.pop_back();
  REQUIRE(psql.size() <= matched + 1);  // a comment alone is not sent
  const auto rest = squeezed(script.substr(found.problem_place.offset));
  if (psql.size() > matched) CHECK((squeezed(psql.back().text) + " ").find(rest) != std::string::npos);
}

void compare(RecordingServer& server, const std::string& script) {
  const auto found = read_script(script);
  const TempDir dir;
  dir.write_file("script.sql", script);
  const auto psql = sent_by_psql(server, dir.string(), "script.sql");
  const auto ours = sent_by_reader(found);
  CAPTURE(script, found.problem);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    REQUIRE(i < psql.size());
    CAPTURE(i, psql[i].text, ours[i].text);
    REQUIRE(same(psql[i], ours[i]));
  }
  check_rest(psql, ours.size(), found, script);
  CHECK(first_lost_byte(script, found) == std::nullopt);
}

/// In its restricted mode psql runs no command of a script, and reads on behind its line.
std::string harmless(const std::string& script) {
  const auto found = read_script(script).pieces;
  const auto runs = [](const ScriptPiece& piece) {
    static const std::vector<std::string> may = {"\\echo", "\\restrict", "\\unrestrict", "\\;", "\\:"};
    const auto name = piece.text.substr(0, piece.text.find(' '));
    return piece.kind == ScriptPiece::Kind::meta_command &&
           std::find(may.begin(), may.end(), name) == may.end();
  };
  return std::any_of(found.begin(), found.end(), runs) ? "\\restrict key\n" + script : script;
}

std::vector<std::string> case_scripts() {
  std::vector<std::string> scripts;
  for (const auto& entry : std::filesystem::directory_iterator(LOCKSTEP_TESTS_DIR "/cases/sql")) {
    scripts.push_back(read_file(entry.path() / "input.sql"));
  }
  std::sort(scripts.begin(), scripts.end());
  REQUIRE(scripts.size() > 50);
  return scripts;
}

TEST_CASE("the reader finds in every case file the statements that psql sends") {
  RecordingServer server;
  for (const auto& script : case_scripts()) compare(server, harmless(script));
}

/// Marks that open, close or cut something.
const std::vector<std::string> marks = {"'",
                                        "\"",
                                        "$$",
                                        "$a$",
                                        "/*",
                                        "*/",
                                        "--",
                                        "\n",
                                        ";",
                                        "(",
                                        ")",
                                        " E'",
                                        " e'",
                                        "\r\n",
                                        "begin",
                                        "end",
                                        " case ",
                                        " atomic ",
                                        " U&'",
                                        " b'",
                                        "$1",
                                        "\xC3\xA9",
                                        "/",
                                        "*",
                                        "-",
                                        "+",
                                        "''",
                                        "\"\"",
                                        "create function f() returns int ",
                                        "\ncopy t from stdin;\n1\n\\.\n",
                                        " $a",
                                        "$",
                                        "\t",
                                        "1",
                                        " or replace ",
                                        " procedure ",

                                        "\\;",
                                        "/*/",
                                        "$\xC3\xA9$"};

/// In restricted mode psql drops the whole line of commands whose arguments it would read one by one. It
/// takes notice of standard_conforming_strings only on the next line.
bool cannot_be_damaged(const std::string& script) {
  static const std::regex differs(R"(\\(echo|i|ir|restrict|unrestrict)\s|standard_conforming_strings)");
  return script.size() > 2000 || std::regex_search(script, differs);
}

/// psql's versions do not agree on a `\.` that ends no COPY data; lockstep refuses such a file.
bool ends_copy_astray(const std::string& script) {
  const auto found = read_script(script).pieces;
  return std::any_of(found.begin(), found.end(), [](const ScriptPiece& piece) {
    return piece.kind == ScriptPiece::Kind::meta_command && piece.text.starts_with("\\.");
  });
}

/// A script made of parts of `scripts`, with a few marks put in and a few bytes taken out.
std::string mutated(const std::vector<std::string>& scripts, std::mt19937& random) {
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  std::string script;
  for (std::size_t parts = 1 + below(3); parts > 0; --parts) script += scripts[below(scripts.size())] + "\n";
  for (std::size_t edits = 1 + below(6); edits > 0; --edits) {
    auto at = below(script.size());
    while (at > 0 && (static_cast<unsigned char>(script[at]) & 0xC0U) == 0x80U) --at;
    if (below(3) > 0) {
      script.insert(at, marks[below(marks.size())]);
    } else if ((script[at] & 0x80) == 0 && script[at] != '\\') {
      script.erase(at, 1);
    }
  }
  return script;
}

TEST_CASE("the reader and psql cut damaged scripts alike") {
  RecordingServer server;
  auto scripts = case_scripts();
  std::erase_if(scripts, cannot_be_damaged);
  const auto seed = static_cast<unsigned>(std::stoul("0" + environment("LOCKSTEP_TEST_SEED")));
  std::mt19937 random(seed);
  for (int i = 0; i < 400; ++i) {
    INFO("seed " << seed << ", script " << i);
    const auto script = mutated(scripts, random);
    if (!ends_copy_astray(script)) compare(server, "\\restrict key\n" + script);
  }
}

}  // namespace
}  // namespace lockstep::test
