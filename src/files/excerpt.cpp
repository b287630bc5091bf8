#include "files/excerpt.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string_view>

#include "core/text.h"
#include "core/utf8.h"
#include "files/input_file.h"

namespace lockstep::files {
namespace {

constexpr std::size_t longest = 200;

/// A line as it can be shown, with one character for each of its own, so that columns stay right.
std::string showable(std::string_view line) {
  std::string shown;
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  while (!line.empty()) {
    const auto bytes = line.substr(0, first_character(line).size);
    line.remove_prefix(bytes.size());
    shown += is_printable(bytes) ? bytes : std::string_view("\xef\xbf\xbd");
  }
  return shown;
}

bool wants_line(const Error& error, const std::string& file) {
  return error.excerpt.empty() && error.where && error.where->line > 0 && error.where->file == file;
}

/// Reads line by line and keeps the beginnings of those that are wanted.
class LineCollector {
 public:
  explicit LineCollector(std::map<std::size_t, std::string> wanted) : lines_(std::move(wanted)) {}

  /// Also when the last line is too long to be shown, wherever it ends.
  bool done() const {
    const auto& [last, text] = *lines_.rbegin();
    return number_ > last || (number_ == last && text.size() > longest);
  }
  const std::map<std::size_t, std::string>& lines() const { return lines_; }

  void take(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto end = std::min(bytes.find('\n'), bytes.size());
      const auto wanted = lines_.find(number_);
      if (wanted != lines_.end()) wanted->second += bytes.substr(0, std::min(end, longest + 1));
      if (end < bytes.size()) ++number_;
      bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
  }

 private:
  std::map<std::size_t, std::string> lines_;
  std::size_t number_ = 1;
};

std::map<std::size_t, std::string> read_lines(const std::string& path,
                                              std::map<std::size_t, std::string> wanted) {
  LineCollector collector(std::move(wanted));
  InputFile file(path);
  std::array<char, 65536> buffer;
  while (!collector.done()) {
    const auto size = file.read(buffer.data(), buffer.size());
    if (size == 0) break;
    collector.take({buffer.data(), size});
  }
  return collector.lines();
}

}  // namespace

void add_excerpts(const std::string& path, const std::string& shown, std::vector<Error>& errors) {
  std::map<std::size_t, std::string> wanted;
  for (const auto& error : errors) {
    if (wants_line(error, shown)) wanted.emplace(error.where->line, std::string{});
  }
  if (wanted.empty()) return;
  const auto lines = read_lines(path, std::move(wanted));
  for (auto& error : errors) {
    if (!wants_line(error, shown)) continue;
    const auto& line = lines.at(error.where->line);
    if (line.size() <= longest) error.excerpt = showable(line);
  }
}

}  // namespace lockstep::files
