#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/source.h"

namespace lockstep::sql {

/// A function, procedure or DO block on the server's call stack.
struct RoutineFrame {
  std::string name;      ///< without schema, quotes and arguments; empty: the block of a DO
  std::size_t line = 0;  ///< of its body, from 1: the line of the opening quote
};

/// The PL/pgSQL frames of an error's context, the innermost first, as the server prints them in English:
/// "PL/pgSQL function app.f(integer) line 3 at RAISE" (plpgsql_exec_error_callback).
std::vector<RoutineFrame> routine_frames(std::string_view context);

/// The body that a DO, CREATE FUNCTION or CREATE PROCEDURE brings along.
struct RoutineText {
  std::string name;             ///< as in RoutineFrame
  Place body;                   ///< behind its opening quote
  std::size_t body_offset = 0;  ///< there, in bytes of the statement
};

/// Nothing for other statements, and where the body is not a quoted constant. `start` is the statement's
/// place.
std::optional<RoutineText> routine_text(std::string_view statement, const Place& start);

}  // namespace lockstep::sql
