#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/server_error.h"

namespace lockstep::db {

struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};

using Result = std::unique_ptr<PGresult, ClearResult>;

/// What the server answered to one message: the results of the statements that succeeded, in order, and the
/// error that ended it.
struct Answer {
  std::vector<Result> results;
  std::optional<ServerError> error;
};

/// Column values of a binary result (PostgreSQL docs, 55.7 and the types' send functions: big-endian).
std::string_view text_at(const PGresult* result, int row, int column);
std::int64_t int8_at(const PGresult* result, int row, int column);
std::int32_t int4_at(const PGresult* result, int row, int column);
bool bool_at(const PGresult* result, int row, int column);
/// timestamptz as "2026-11-29T17:31:05.123Z"; empty for null.
std::string time_at(const PGresult* result, int row, int column);

}  // namespace lockstep::db
