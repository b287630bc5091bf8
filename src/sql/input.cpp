#include "sql/input.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lockstep::sql {

Input::Input(Substitution& substitution, std::size_t window, std::size_t file)
    : Input([&substitution](char* to, std::size_t at_most) { return substitution.read(to, at_most); }, window,
            file) {
  substitution_ = &substitution;
}

/// Reads at least half a window at a time and doubles the window when more than half of it is kept: bytes are
/// moved, and a token that the window's end cuts is read again, a bounded number of times on average, however
/// long it gets.
bool Input::more(std::size_t keep_from) {
  if (ended_) return false;
  if (capacity_ - size_ <= capacity_ / 2) make_room(keep_from);
  const auto got = read_(buffer_.get() + size_, capacity_ - size_);
  size_ += got;
  buffer_[size_] = '\0';
  ended_ = got == 0;
  return !ended_;
}

void Input::make_room(std::size_t keep_from) {
  const bool suffices = capacity_ > 0 && kept_from(keep_from) <= capacity_ / 2;
  keep(keep_from, suffices ? capacity_ : std::max(window_, 2 * capacity_));
}

void Input::shrink(std::size_t keep_from) {
  if (capacity_ <= window_ || kept_from(keep_from) > window_ / 2) return;
  keep(keep_from, window_);
  buffer_[size_] = '\0';
}

/// Forgets what is before `from`; the rest begins a window of this capacity.
void Input::keep(std::size_t from, std::size_t capacity) {
  place(std::max(from, counted_to_));
  if (substitution_ != nullptr) substitution_->forget(from);
  const auto kept = kept_from(from);
  if (capacity == capacity_) {
    std::memmove(buffer_.get(), at(from), kept);
  } else {
    auto other = std::make_unique_for_overwrite<char[]>(capacity + 1);
    std::memcpy(other.get(), at(from), kept);
    buffer_ = std::move(other);
    capacity_ = capacity;
  }
  size_ = kept;
  start_ = from;
}

Place Input::place(std::size_t offset) {
  const auto* value = substitution_ == nullptr ? nullptr : last_before(substitution_->replaced(), offset);
  if (value != nullptr && value->begin >= counted_to_) {
    const bool inside = offset < value->end();
    counted_ = inside ? value->from : value->to;
    counted_to_ = inside ? value->begin : value->end();
    if (inside) return counted_;
  }
  advance(counted_, view(counted_to_, offset));
  counted_to_ = offset;
  return counted_;
}

void Input::blank(std::size_t from, std::size_t to) {
  std::memset(buffer_.get() + (from - start_), ' ', to - from);
}

}  // namespace lockstep::sql
