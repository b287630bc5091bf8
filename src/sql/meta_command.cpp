#include "sql/meta_command.h"

#include <algorithm>
#include <array>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

/// Commands of which psql reads one argument after the other, so that another command or SQL can follow on
/// the line. The others that it reads so are of no use in a migration; of those that it does not know it
/// drops the whole line.
constexpr std::array<std::string_view, 14> reads_arguments = {
    "echo",  "encoding", "i",   "include", "include_relative", "ir",    "pset",
    "qecho", "restrict", "set", "timing",  "unrestrict",       "unset", "warn"};

/// From an opening quote to behind the closing one, or to the end.
std::size_t skip_argument_quote(std::string_view line, std::size_t at) {
  const char quote = line[at++];
  while (at < line.size() && line[at] != quote) at += quote == '\'' && line[at] == '\\' ? 2U : 1U;
  return std::min(at + 1, line.size());
}

std::size_t find_end(std::string_view line, std::size_t at) {
  while (at < line.size() && line[at] != '\\') {
    const bool quote = line[at] == '\'' || line[at] == '"' || line[at] == '`';
    at = quote ? skip_argument_quote(line, at) : at + 1;
  }
  return at;
}

}  // namespace

MetaCommand read_meta_command(std::string_view line) {
  if (line.size() > 1 && (line[1] == ';' || line[1] == ':')) return {line.substr(1, 1), {}, 2};
  std::size_t name_end = 1;
  while (name_end < line.size() && !is_blank(line[name_end]) && line[name_end] != '\\') ++name_end;
  const auto name = line.substr(1, name_end - 1);
  const bool arguments =
      std::find(reads_arguments.begin(), reads_arguments.end(), name) != reads_arguments.end();
  const auto end = arguments ? find_end(line, name_end) : line.size();
  const auto size = line.substr(end, 2) == "\\\\" ? end + 2 : end;
  return {name, trim(line.substr(name_end, end - name_end)), size};
}

}  // namespace lockstep::sql
