#include <catch2/catch_test_macros.hpp>
#include <string>
#include <vector>

#include "sql/statement_reader.h"

namespace lockstep::sql {
namespace {

/// The items of a script as text, and the problem at its end if there is one.
std::vector<std::string> read(std::string_view script, std::size_t piece = std::string_view::npos) {
  StatementReader reader(read_from(script, piece));
  std::vector<std::string> found;
  while (const auto item = reader.next()) {
    found.emplace_back(item->text);
    std::string data;
    for (auto part = reader.next_copy_data(); !part.empty(); part = reader.next_copy_data()) data += part;
    if (item->statement.kind == StatementKind::copy_from_stdin) found.push_back("data: " + data);
  }
  if (reader.problem()) found.push_back("problem: " + reader.problem()->code);
  return found;
}

struct Cut {
  std::string_view script;
  std::vector<std::string> items;
};

const std::vector<Cut> cuts = {
    {"", {}},
    {" ;; -- only\n /* this; */ ;", {}},
    {"select 1", {"select 1"}},
    {"select 1;select 2 ;", {"select 1", "select 2"}},
    {"select ';'';', \";\"\";\", $$;$$, $a$;$$;$a$;x", {"select ';'';', \";\"\";\", $$;$$, $a$;$$;$a$", "x"}},
    {"select E'\\';', e'\\\\';x", {"select E'\\';', e'\\\\'", "x"}},
    {"select '\\';x", {"select '\\'", "x"}},
    {"select /* a /* ; */ ; */ 1 /**/;x", {"select /* a /* ; */ ; */ 1", "x"}},
    {"select a$b$;c$b$", {"select a$b$", "c$b$"}},
    {"select $1;x", {"select $1", "x"}},
    {"select 1 *--;\n;x", {"select 1 *", "x"}},
    {"create rule r as on insert to t do (select 1; select 2);x",
     {"create rule r as on insert to t do (select 1; select 2)", "x"}},
    {"copy t from stdin;\n1;'\n\\.\nx", {"copy t from stdin", "data: 1;'\n", "x"}},
    {"copy t from stdin;\n1", {"copy t from stdin", "data: 1", "problem: copy_without_end"}},
    {"select 'x", {"problem: unterminated_string"}},
};

TEST_CASE("a script is cut into its statements") {
  for (const auto& cut : cuts) {
    INFO(cut.script);
    CHECK(read(cut.script) == cut.items);
  }
}

TEST_CASE("how a file arrives in pieces makes no difference") {
  for (const auto& cut : cuts) {
    for (const std::size_t piece : {1U, 2U, 3U, 7U}) {
      INFO(cut.script);
      CHECK(read(cut.script, piece) == cut.items);
    }
  }
}

}  // namespace
}  // namespace lockstep::sql
