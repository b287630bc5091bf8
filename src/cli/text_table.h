#pragma once

#include <string>
#include <vector>

#include "cli/style.h"

namespace lockstep::cli {

struct Cell {
  std::string text = {};
  Color color = Color::none;
};

/// Rows with columns aligned by what the text takes in a terminal.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header) : header_(std::move(header)) {}

  /// As many cells as the header has.
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }

  /// Header and rows, each line with its line end and without blanks at the end. Columns in which every cell
  /// is empty are left out.
  std::string render(Coloring coloring) const;

 private:
  std::vector<std::size_t> widths() const;

  std::vector<std::string> header_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace lockstep::cli
