#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "support/script_pieces.h"
#include "test_paths.h"

namespace lockstep::test {
namespace {

using Json = nlohmann::ordered_json;

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string place(std::size_t line, std::size_t column) {
  return std::to_string(line) + ":" + std::to_string(column);
}

std::string kind_of(const ScriptPiece& piece) {
  switch (piece.kind) {
    case ScriptPiece::Kind::statement:
      return "statement";
    case ScriptPiece::Kind::meta_command:
      return piece.inside_statement ? "command_inside" : "command";
    case ScriptPiece::Kind::directive:
      return "directive";
    case ScriptPiece::Kind::copy_data:
      return "copy_data";
  }
  return {};
}

/// One object a piece, {"its kind": "its text", "at": "line:column"}, and one for the problem at the end.
Json to_json(const ScriptPieces& found) {
  Json json = Json::array();
  for (const auto& piece : found.pieces)
    json.push_back({{kind_of(piece), piece.text}, {"at", place(piece.line, piece.column)}});
  const auto& at = found.problem_place;
  if (!found.problem.empty()) json.push_back({{"problem", found.problem}, {"at", place(at.line, at.column)}});
  return json;
}

/// A folder of tests/cases/sql is a case: input.sql and what is found in it, expected.json. A test of
/// tests/integration checks with psql that the statements are right.
TEST_CASE("scripts of the case files are cut as expected, however they arrive") {
  std::size_t cases = 0;
  for (const auto& folder : std::filesystem::directory_iterator(LOCKSTEP_TESTS_DIR "/cases/sql")) {
    INFO(folder.path().filename());
    const auto script = bytes_of(folder.path() / "input.sql");
    const auto found = read_script(script);
    const auto json = to_json(found);
    INFO(json.dump(1));
    CHECK(json == Json::parse(bytes_of(folder.path() / "expected.json")));
    CHECK(first_lost_byte(script, found) == std::nullopt);
    for (const std::size_t piece : {1U, 3U, 64U}) CHECK(read_script(script, piece) == found);
    ++cases;
  }
  CHECK(cases > 100);
}

}  // namespace
}  // namespace lockstep::test
