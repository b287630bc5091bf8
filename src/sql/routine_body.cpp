#include "sql/routine_body.h"

#include <algorithm>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

constexpr std::array<std::string_view, 5> head_words = {"create", "function", "procedure", "or", "replace"};

bool is_routine(char letter) {
  return letter == 'f' || letter == 'p';
}

}  // namespace

void RoutineBody::note_head(std::string_view text) {
  const auto matters = [text](std::string_view word) { return same_word(text, word); };
  if (std::any_of(head_words.begin(), head_words.end(), matters)) head_[words_] = to_lower(text.front());
  ++words_;
  if (head_[0] != 'c') words_ = head_.size();  // whatever follows, it creates nothing
  const bool replace = head_[1] == 'o' && head_[2] == 'r';
  routine_ = head_[0] == 'c' && (is_routine(head_[1]) || (replace && is_routine(head_[3])));
}

void RoutineBody::note_block(std::string_view text) {
  if (same_word(text, "begin")) ++depth_;
  if (depth_ == 0) return;
  if (same_word(text, "case")) ++depth_;
  if (same_word(text, "end")) --depth_;
}

}  // namespace lockstep::sql
