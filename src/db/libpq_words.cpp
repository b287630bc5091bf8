#include "db/libpq_words.h"

#include <cstdlib>
#include <string_view>
#include <utility>

namespace lockstep::db {

// In glibc these are variables (The GNU C Library, "Standard Streams"). Without memory for a stream of ours,
// libpq keeps the one that it has.
LibpqWords::LibpqWords() : kept_(::open_memstream(&text_, &size_)) {
  if (kept_ != nullptr) stderr_ = std::exchange(stderr, kept_);
}

LibpqWords::~LibpqWords() {
  if (kept_ == nullptr) return;
  stderr = stderr_;
  std::fclose(kept_);
  std::free(text_);
}

std::string LibpqWords::line() const {
  if (kept_ == nullptr || std::fflush(kept_) != 0) return {};
  std::string line;
  for (const char c : std::string_view(text_, size_)) {
    const bool blank = c == ' ' || c == '\n' || c == '\t';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (!line.empty() && line.back() == ' ') line.pop_back();
  return line;
}

}  // namespace lockstep::db
