#include "sql/substitution.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lockstep::sql {
namespace {

/// A default value is short; what goes on for longer is text with an unclosed mark in it.
constexpr std::size_t longest_placeholder = 4096;

std::size_t give(std::string_view text, char* to, std::size_t at_most) {
  const auto size = std::min(text.size(), at_most);
  std::memcpy(to, text.data(), size);
  return size;
}

}  // namespace

Substitution::Substitution(const Placeholders& placeholders, PlaceholderScope scope, PlaceholderUses* uses)
    : placeholders_(placeholders), scope_(scope), uses_(uses) {}

void Substitution::open(ReadBytes read, std::size_t chunk, std::size_t file) {
  constexpr std::size_t largest_chunk = std::size_t{64} * 1024;
  read_ = std::move(read);
  chunk_ = std::min(chunk, largest_chunk);
  counted_.file = file;
}

std::size_t Substitution::read(char* to, std::size_t at_most) {
  if (!std::exchange(begun_, true)) begin();
  std::size_t size = 0;
  while (size == 0) {
    if (!value_.empty()) {
      size = give(value_, to, at_most);
      value_.erase(0, size);
    } else if (at_ < plain_) {
      size = give(std::string_view(raw_).substr(at_, plain_ - at_), to, at_most);
      at_ += size;
    } else if (mark_) {
      decide();
    } else {
      return 0;
    }
    look();
  }
  given_ += size;
  return size;
}

void Substitution::forget(std::size_t offset) {
  const auto kept = std::find_if(replaced_.begin(), replaced_.end(),
                                 [offset](const Replaced& value) { return value.end() >= offset; });
  replaced_.erase(replaced_.begin(), kept);
}

/// A byte order mark, which no editor shows, does not count as a character.
void Substitution::begin() {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  while (raw_.size() < byte_order_mark.size() && !ended_) fill();
  if (raw_.starts_with(byte_order_mark)) counted_.offset = counted_at_ = byte_order_mark.size();
  look();
}

/// Finds out what comes next, unless that is known: plain bytes, a mark, or the end of the file.
void Substitution::look() {
  const auto& prefix = placeholders_.prefix;
  while (at_ == plain_ && !mark_) {
    const auto found = raw_.find(prefix, at_);
    if (found == std::string::npos) {
      // What is held back may be the begin of a mark.
      const auto held_back = ended_ ? 0 : std::min(prefix.size(), raw_.size() - at_);
      plain_ = raw_.size() - held_back;
      if (ended_) return;
      if (at_ == plain_) fill();
      continue;
    }
    const bool escaped = found > at_ && raw_[found - 1] == '$';
    plain_ = escaped ? found - 1 : found;
    if (at_ < plain_) return;
    if (escaped) {
      mark_ = Mark{.size = prefix.size() + 1, .escaped = true};
    } else if (auto mark = mark_at(found)) {
      mark_ = std::move(mark);
    } else if (!ended_ && may_go_on(found)) {
      fill();
    } else {
      keep_byte();
    }
  }
}

void Substitution::fill() {
  place();
  raw_.erase(0, at_);
  counted_at_ -= at_;
  at_ = plain_ = 0;
  const auto size = raw_.size();
  raw_.resize(size + chunk_);
  const auto got = read_(raw_.data() + size, chunk_);
  raw_.resize(size + got);
  ended_ = got == 0;
}

/// "${name}" or "${name:default}", on one line.
std::optional<Substitution::Mark> Substitution::mark_at(std::size_t begin) const {
  const auto inner = begin + placeholders_.prefix.size();
  const auto end = raw_.find(placeholders_.suffix, inner);
  if (end == std::string::npos) return std::nullopt;
  const auto text = std::string_view(raw_).substr(inner, end - inner);
  const auto name = text.substr(0, text.find(':'));
  const bool fits = text.size() <= longest_placeholder && text.find('\n') == std::string_view::npos;
  if (!fits || !is_placeholder_name(name)) return std::nullopt;
  Mark mark{.size = end + placeholders_.suffix.size() - begin, .name = std::string(name)};
  if (name.size() < text.size()) mark.fallback = text.substr(name.size() + 1);
  return mark;
}

/// More of the file may show that a mark begins here.
bool Substitution::may_go_on(std::size_t begin) const {
  const auto text = std::string_view(raw_).substr(begin + placeholders_.prefix.size());
  const auto name = text.substr(0, std::min(text.find(':'), text.size()));
  if (text.size() > longest_placeholder || text.find('\n') != std::string_view::npos) return false;
  if (text.find(placeholders_.suffix) != std::string_view::npos) return false;
  // The name may be followed by a part of the suffix.
  const auto odd =
      std::find_if(name.begin(), name.end(), [](char c) { return !is_placeholder_name({&c, 1}); });
  return odd == name.end() || placeholders_.suffix.starts_with(std::string_view(odd, name.end()));
}

bool Substitution::keeps() const {
  if (scope_ == PlaceholderScope::off || around_ == Around::kept) return true;
  return around_ == Around::body && scope_ != PlaceholderScope::bodies;
}

void Substitution::decide() {
  const auto mark = *std::exchange(mark_, std::nullopt);
  if (keeps() || (mark.escaped && around_ == Around::code)) return keep_byte();
  if (mark.escaped) return replace(mark.size, placeholders_.prefix);
  // What begins with flyway: is no name with a default, but a placeholder of Flyway's own.
  const bool foreign = mark.fallback && lower_case(mark.name) == "flyway";
  const auto* const declared = foreign ? nullptr : placeholders_.find(mark.name);
  if (declared != nullptr) {
    if (uses_ != nullptr) uses_->declared.insert(lower_case(mark.name));
    return replace(mark.size, *declared);
  }
  if (mark.fallback && !foreign) return replace(mark.size, *mark.fallback);
  if (uses_ != nullptr) uses_->undefined.push_back({mark.name, raw_.substr(at_, mark.size), place()});
  keep_byte();
}

void Substitution::replace(std::size_t size, std::string value) {
  if (uses_ != nullptr) uses_->replaced = true;
  Replaced replaced{.begin = given_, .size = value.size(), .from = place(), .to = {}};
  at_ += size;
  plain_ = at_;
  replaced.to = place();
  replaced_.push_back(replaced);
  value_ = std::move(value);
}

/// Where at_ is.
Place Substitution::place() {
  if (at_ > counted_at_) {
    advance(counted_, std::string_view(raw_).substr(counted_at_, at_ - counted_at_));
    counted_at_ = at_;
  }
  return counted_;
}

const Replaced* last_before(std::span<const Replaced> replaced, std::size_t offset) {
  const auto after = std::upper_bound(replaced.begin(), replaced.end(), offset,
                                      [](std::size_t at, const Replaced& value) { return at < value.begin; });
  return after == replaced.begin() ? nullptr : &*std::prev(after);
}

}  // namespace lockstep::sql
