#include "cli/text_table.h"

#include <algorithm>
#include <string_view>

#include "core/text.h"

namespace lockstep::cli {
namespace {

constexpr std::string_view gap = "  ";

/// A cell is one line.
std::string one_line(std::string_view text) {
  auto line = printable(text);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

std::string render_row(const std::vector<Cell>& row, const std::vector<std::size_t>& widths,
                       Coloring coloring) {
  std::string line;
  std::size_t owed = 0;  // blanks are written only before something
  for (std::size_t column = 0; column < row.size(); ++column) {
    if (widths[column] == 0) continue;
    const auto text = one_line(row[column].text);
    if (!text.empty()) {
      line.append(owed, ' ');
      owed = 0;
      line += paint(text, row[column].color, coloring);
    }
    owed += widths[column] - display_width(text) + gap.size();
  }
  return line + "\n";
}

}  // namespace

std::vector<std::size_t> TextTable::widths() const {
  std::vector<std::size_t> widths(header_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      widths[column] = std::max(widths[column], display_width(one_line(row[column].text)));
    }
  }
  for (std::size_t column = 0; column < widths.size(); ++column) {
    if (widths[column] > 0) widths[column] = std::max(widths[column], display_width(header_[column]));
  }
  return widths;
}

std::string TextTable::render(Coloring coloring) const {
  const auto columns = widths();
  std::vector<Cell> header;
  for (const auto& title : header_) header.push_back({title, Color::dim});
  auto text = render_row(header, columns, coloring);
  for (const auto& row : rows_) text += render_row(row, columns, coloring);
  return text;
}

}  // namespace lockstep::cli
