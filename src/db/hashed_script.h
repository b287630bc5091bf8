#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "core/migration.h"
#include "core/script_checksum.h"
#include "sql/script_reader.h"

namespace lockstep::db {

/// Opens a migration file for reading, from its beginning: 0 is the migration's own, n the nth that it
/// includes. Throws Failure.
using OpenScript = std::function<sql::ReadBytes(const Migration&, std::size_t file)>;

/// Reads a migration and what it includes while hashing it, so that what ran can be compared with what was
/// checked. Its placeholders are replaced behind that.
class HashedScript {
 public:
  HashedScript(const OpenScript& open, const Migration& migration, const sql::ReaderOptions& options = {});
  HashedScript(const HashedScript&) = delete;
  HashedScript& operator=(const HashedScript&) = delete;

  sql::ScriptReader& reader() { return reader_; }
  /// Call once, when the reader has come to the end.
  std::string checksum() { return checksum_.finish(); }

 private:
  sql::ReadBytes hashed_script();
  sql::IncludedFile next_included();

  const OpenScript& open_;
  const Migration& migration_;
  ScriptChecksum checksum_;
  std::size_t included_ = 0;
  sql::ScriptReader reader_;
};

/// The checksum that the files have now.
std::string checksum_of(const OpenScript& open, const Migration& migration);

}  // namespace lockstep::db
