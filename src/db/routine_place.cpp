#include "db/routine_place.h"

#include <algorithm>
#include <vector>

#include "sql/routine.h"

namespace lockstep::db {
namespace {

/// The routines that the file makes up to the statement that failed; a block only if it is that one.
std::vector<sql::RoutineText> routines_of(const Migration& migration, const OpenScript& open,
                                          const sql::Place& failed) {
  HashedScript script(open, migration);
  std::vector<sql::RoutineText> routines;
  while (const auto item = script.reader().next()) {
    if (item->kind != sql::Item::Kind::statement) continue;
    const bool is_failed = item->place == failed;
    auto routine = sql::routine_text(item->text, item->place);
    if (routine && (is_failed || !routine->name.empty())) routines.push_back(std::move(*routine));
    if (is_failed) break;
  }
  return routines;
}

}  // namespace

std::optional<sql::Place> place_in_routine(std::string_view context, const Migration& migration,
                                           const OpenScript& open, const sql::Place& failed) {
  const auto frames = sql::routine_frames(context);
  if (frames.empty()) return std::nullopt;
  const auto routines = routines_of(migration, open, failed);
  for (const auto& frame : frames) {
    const auto same = [&](const sql::RoutineText& routine) { return routine.name == frame.name; };
    if (std::count_if(routines.begin(), routines.end(), same) != 1) continue;
    const auto& body = std::find_if(routines.begin(), routines.end(), same)->body;
    return sql::Place{.line = body.line + frame.line - 1, .column = 0, .file = body.file};
  }
  return std::nullopt;
}

}  // namespace lockstep::db
