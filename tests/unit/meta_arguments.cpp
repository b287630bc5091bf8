#include "sql/meta_arguments.h"

#include <catch2/catch_test_macros.hpp>

#include "sql/include.h"

namespace lockstep::sql {
namespace {

using Values = std::vector<MetaArgument>;

std::string refusal(std::string_view text) {
  const auto problem = read_meta_arguments(text).problem;
  return problem ? problem->code : "";
}

}  // namespace

TEST_CASE("arguments of a psql command end at blanks outside of quotes") {
  CHECK(read_meta_arguments("").values.empty());
  CHECK(read_meta_arguments(" a  b\tc ").values == Values{{"a"}, {"b"}, {"c"}});
  CHECK(read_meta_arguments("'a  b' \"c  d\"").values == Values{{"a  b", true}, {"\"c  d\"", true}});
  CHECK(read_meta_arguments("''").values == Values{{"", true}});
  CHECK(read_meta_arguments("a'b'\"c\"d").values == Values{{"ab\"c\"d", true}});
}

TEST_CASE("in single quotes '' is a quote and a backslash begins an escape") {
  CHECK(read_meta_arguments(R"('it''s')").values == Values{{"it's", true}});
  CHECK(read_meta_arguments(R"('a\nb\tc\\d\'e')").values == Values{{"a\nb\tc\\d'e", true}});
  CHECK(read_meta_arguments(R"('\101\x42\1011\xg')").values == Values{{"ABA1xg", true}});
}

TEST_CASE("what only psql could replace is refused, a colon alone is not") {
  CHECK(refusal(":a") == "variable");
  CHECK(refusal("a:'b'") == "variable");
  CHECK(refusal(":\"b\"") == "variable");
  CHECK(refusal("12:30") == "variable");
  CHECK(refusal(":{?a}") == "variable");
  CHECK(refusal("x `ls` y") == "command_output");
  CHECK(refusal("Note: x := :") == "");
  CHECK(refusal("':a `b` 12:30'") == "");
  CHECK(refusal("'a") == "unterminated_argument");
  CHECK(refusal("x \"a") == "unterminated_argument");
}

TEST_CASE("semicolons behind the name of an included file do not count") {
  CHECK(read_include_path("a.sql;").path == "a.sql");
  CHECK(read_include_path("a.sql ;; ;").path == "a.sql");
  CHECK(read_include_path("a;b.sql").path == "a;b.sql");
  CHECK(read_include_path("'a.sql;'").path == "a.sql;");
  CHECK(read_include_path(" 'a b.sql' ;").path == "a b.sql");
  CHECK(read_include_path("'a b.sql';;").path == "a b.sql");
  CHECK(read_include_path("'a.sql;';").path == "a.sql;");
  CHECK(read_include_path("'a.'sql;").path == "a.sql");
  CHECK(read_include_path(";").problem->code == "include_without_file");
  CHECK(read_include_path("'';").problem->code == "include_without_file");
  CHECK(echoed_text("a 'b';") == "a b;");
}

}  // namespace lockstep::sql
