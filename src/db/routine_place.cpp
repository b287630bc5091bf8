#include "db/routine_place.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sql/position.h"
#include "sql/routine.h"

namespace lockstep::db {
namespace {

/// A routine's statement, and where the file's placeholders were in it.
struct Routine {
  std::string name;
  std::size_t body;
  std::string text;
  sql::Place start;
  std::vector<sql::Replaced> values;
};

Routine kept(const sql::RoutineText& routine, const sql::Item& item) {
  return {routine.name, routine.body_offset, std::string(item.text), item.place,
          sql::values_in(item.replaced, item.begin, item.text.size())};
}

/// Where a line of its body is, counted from 1.
sql::Place place_of_line(const Routine& routine, std::size_t line) {
  auto byte = routine.body;
  for (; line > 1; --line) {
    const auto end = routine.text.find('\n', byte);
    if (end == std::string::npos) break;
    byte = end + 1;
  }
  auto place = sql::place_of_byte(routine.text, routine.start, routine.values, byte);
  place.column = 0;
  return place;
}

/// The routines that the file makes up to the statement that failed; a block only if it is that one.
std::vector<Routine> routines_of(const Migration& migration, const OpenScript& open,
                                 const sql::Place& failed) {
  HashedScript script(open, migration);
  std::vector<Routine> routines;
  while (const auto item = script.reader().next()) {
    if (item->kind != sql::Item::Kind::statement) continue;
    const bool is_failed = item->place == failed;
    const auto routine = sql::routine_text(item->text, item->place);
    if (routine && (is_failed || !routine->name.empty())) routines.push_back(kept(*routine, *item));
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
    const auto same = [&](const Routine& routine) { return routine.name == frame.name; };
    if (std::count_if(routines.begin(), routines.end(), same) != 1) continue;
    return place_of_line(*std::find_if(routines.begin(), routines.end(), same), frame.line);
  }
  return std::nullopt;
}

}  // namespace lockstep::db
