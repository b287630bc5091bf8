#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/migration.h"
#include "db/server_error.h"
#include "sql/statement_reader.h"

namespace lockstep::db {

/// A place in the file that is run, or in a callback that runs within it.
struct ScriptPlace {
  sql::Place place;
  const Migration* callback = nullptr;
};

/// Several statements that travel in one simple-protocol message, and where in the file each one stands.
class ScriptMessage {
 public:
  /// A statement of ours, or of the file in the place of ours.
  void add_own(std::string_view sql);
  void add(const sql::Item& item, const Migration* callback = nullptr);

  bool empty() const { return text_.empty(); }
  /// No statement of the file is in it, but perhaps the one that begins the transaction.
  bool only_ours() const { return parts_.empty() || !parts_.back().place; }
  std::size_t size() const { return text_.size(); }
  std::size_t statements() const { return parts_.size(); }
  const std::string& text() const { return text_; }

  /// Where in the file the error lies that ended this message after `completed` of its statements. Nothing if
  /// it lies in one of ours.
  std::optional<ScriptPlace> locate(const ServerError& error, std::size_t completed) const;

 private:
  struct Part {
    std::size_t begin;
    std::size_t size;
    std::optional<ScriptPlace> place;  ///< absent: ours
    std::vector<sql::Replaced> replaced = {};
  };

  const Part* part_at(std::size_t offset) const;

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace lockstep::db
