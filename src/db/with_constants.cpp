#include "db/with_constants.h"

#include "db/quote.h"

namespace lockstep::db {

std::string with_constants(const Query& query) {
  std::string text;
  const std::string_view sql = query.sql;
  for (std::size_t i = 0; i < sql.size(); ++i) {
    if (sql[i] != '$') {
      text += sql[i];
      continue;
    }
    std::size_t number = 0;
    for (; i + 1 < sql.size() && sql[i + 1] >= '0' && sql[i + 1] <= '9'; ++i)
      number = number * 10 + static_cast<std::size_t>(sql[i + 1] - '0');
    const auto& value = query.parameters[number - 1];
    text += value ? quote_literal(*value) : "null";
  }
  return text;
}

}  // namespace lockstep::db
