#include "db/with_constants.h"

#include <algorithm>

#include "db/quote.h"

namespace lockstep::db {
namespace {

/// Steps over a quoted name or constant; a doubled quote in it looks like the end of one and the start of
/// the next, which comes to the same.
std::string_view take_quoted(std::string_view& sql) {
  const auto size = std::min(sql.size(), sql.find(sql.front(), 1) + 1);
  const auto taken = sql.substr(0, size);
  sql.remove_prefix(size);
  return taken;
}

/// The number of a parameter, from 1.
std::size_t take_number(std::string_view& sql) {
  std::size_t number = 0;
  for (; !sql.empty() && sql.front() >= '0' && sql.front() <= '9'; sql.remove_prefix(1))
    number = number * 10 + static_cast<std::size_t>(sql.front() - '0');
  return number;
}

}  // namespace

std::string with_constants(const Query& query) {
  std::string text;
  for (std::string_view sql = query.sql; !sql.empty();) {
    const auto plain = sql.substr(0, sql.find_first_of("$'\""));
    text += plain;
    sql.remove_prefix(plain.size());
    if (sql.empty()) break;
    if (sql.front() != '$') {
      text += take_quoted(sql);
      continue;
    }
    sql.remove_prefix(1);
    const auto& value = query.parameters[take_number(sql) - 1];
    text += value ? quote_literal(*value) : "null";
  }
  return text;
}

}  // namespace lockstep::db
