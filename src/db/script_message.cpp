#include "db/script_message.h"

#include <algorithm>

#include "sql/position.h"

namespace lockstep::db {

void ScriptMessage::add_own(std::string_view sql) {
  parts_.push_back({.begin = text_.size(), .size = sql.size(), .place = std::nullopt});
  text_.append(sql).append(";\n");
}

void ScriptMessage::add(const sql::Item& item, const Migration* callback) {
  parts_.push_back({text_.size(), item.text.size(), ScriptPlace{item.place, callback},
                    sql::values_in(item.replaced, item.begin, item.text.size())});
  // The line end keeps a comment at the statement's end from reaching into the next one.
  constexpr std::string_view end = "\n;\n";
  text_.reserve(text_.size() + item.text.size() + end.size());  // a statement can be as large as the memory
  text_.append(item.text).append(end);
}

std::optional<ScriptPlace> ScriptMessage::locate(const ServerError& error, std::size_t completed) const {
  const auto offset =
      error.position == 0 ? text_.size() : sql::place_of_character(text_, {}, error.position).offset;
  const auto* part = error.position == 0 ? nullptr : part_at(offset);
  const bool known = part != nullptr;
  if (!known && completed < parts_.size()) part = &parts_[completed];
  if (part == nullptr || !part->place) return std::nullopt;
  auto found = *part->place;
  if (!known) return found;
  const auto text = std::string_view(text_).substr(part->begin, part->size);
  found.place =
      sql::place_of_byte(text, found.place, part->replaced, std::min(offset - part->begin, part->size));
  return found;
}

const ScriptMessage::Part* ScriptMessage::part_at(std::size_t offset) const {
  const auto after = std::upper_bound(parts_.begin(), parts_.end(), offset,
                                      [](std::size_t at, const Part& part) { return at < part.begin; });
  return after == parts_.begin() ? nullptr : &*std::prev(after);
}

}  // namespace lockstep::db
