#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "core/migration.h"
#include "files/find.h"
#include "files/near_folder.h"

namespace lockstep::files {

/// What became of a candidate.
struct Script {
  std::optional<Migration> migration = std::nullopt;  ///< absent when the file has no name or cannot be read
  std::vector<Error> problems = {};
  dev_t device = 0;  ///< which file it is, under whatever name
  ino_t inode = 0;
};

/// Reads the name and, once and in pieces, the file: checksum and survey see the same bytes. Reads the
/// configuration beside it too. Throws nothing that one file is to blame for.
Script read_script(Candidate candidate, NearFolder& near);

}  // namespace lockstep::files
