#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/migration.h"
#include "files/find.h"
#include "files/near_folder.h"
#include "sql/placeholders.h"

namespace lockstep::files {

/// What became of a candidate.
struct Script {
  std::optional<Migration> migration = std::nullopt;  ///< absent when the file has no name or cannot be read
  std::vector<Error> problems = {};
  std::string unnamed = {};  ///< the path, where the problem is that no migration is called so
  bool has_config = false;   ///< <path>.conf is beside it
  dev_t device = 0;          ///< which file it is, under whatever name
  ino_t inode = 0;
};

/// What holds for all scripts. The references must outlive the migrations.
struct ReadOptions {
  const std::vector<std::string>& locations;
  const sql::Placeholders& placeholders;
};

/// Reads the name and, once and in pieces, the file and what it includes from the locations: checksum and
/// survey see the same bytes. Reads the configuration beside it too. Throws nothing that one file is to blame
/// for.
Script read_script(Candidate candidate, NearFolder& near, const ReadOptions& options);

/// How much of a file of that size is to be read at a time.
std::size_t window_for(std::size_t file_size);

}  // namespace lockstep::files
