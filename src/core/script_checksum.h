#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/checksum.h"
#include "sql/source.h"

namespace lockstep {

/// Checksum of a migration and of the files that it includes, which are hashed while they are read. Without
/// any it is the checksum of the one file. Else it is that of a text with a line for each file: its checksum,
/// the migration's own first, then of the others in the order in which they are opened.
class ScriptChecksum {
 public:
  /// The migration's own bytes, in pieces.
  void update(std::string_view bytes) { own_.update(bytes); }

  /// Reads a file that is included, hashing it. It counts once it was read to its end. This must outlive it.
  sql::ReadBytes watch(sql::ReadBytes read);

  /// "sha256:<hex>". Call once, after everything was read.
  std::string finish();

 private:
  Checksum own_;
  std::vector<std::string> included_;
};

}  // namespace lockstep
