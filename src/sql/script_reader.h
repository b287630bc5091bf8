#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sql/include.h"
#include "sql/statement_reader.h"

namespace lockstep::sql {

/// Opens what an item that stands for an included file asks for. Nothing: the reader goes on behind the
/// command.
using OpenAtItem = std::function<std::optional<IncludedFile>(const Item& command)>;

/// Reads a script and the files that it includes as one sequence of items, each file with a statement buffer
/// of its own as in psql: its end ends its last statement. Memory holds one window for each open file.
class ScriptReader {
 public:
  ScriptReader(ReadBytes read, OpenAtItem open, const ReaderOptions& options = {});

  /// As StatementReader has them. The command that includes a file is an item before those of the file.
  std::optional<Item> next();
  std::string_view next_copy_data() { return current().next_copy_data(); }
  Place copy_start() const { return current().copy_start(); }
  const std::optional<Problem>& problem() const { return current().problem(); }

  /// The last item is done with, before the next is asked for: a large one's memory is given back.
  void forget_item() { current().forget_item(); }

  /// Reads all open files to their ends.
  void skip_rest();

 private:
  StatementReader& current() { return included_.empty() ? script_ : *included_.back(); }
  const StatementReader& current() const { return included_.empty() ? script_ : *included_.back(); }
  void enter(IncludedFile file);
  void leave();

  ReaderOptions options_;
  OpenAtItem open_;
  StatementReader script_;
  std::vector<std::unique_ptr<StatementReader>> included_;  ///< the innermost one last
};

}  // namespace lockstep::sql
