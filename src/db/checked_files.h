#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/checksum.h"
#include "core/error.h"
#include "db/hashed_script.h"

namespace lockstep::db {

/// The files of a migration as they were when their checksum was taken. What is read of them later is
/// compared with that, a block at a time, before anybody gets it: for a file whose statements commit one by
/// one, a checksum at its end comes too late.
class CheckedFiles {
 public:
  /// Reads all of them once. The references must outlive this; `changed` makes the failure of a later reader.
  CheckedFiles(const OpenScript& open, const Migration& migration, std::function<Failure()> changed);
  CheckedFiles(const CheckedFiles&) = delete;
  CheckedFiles& operator=(const CheckedFiles&) = delete;

  const std::string& checksum() const { return checksum_; }
  /// Opens them as they were. It must not outlive this.
  OpenScript opener() const;

 private:
  using Blocks = std::vector<Digest>;
  class Reader;

  sql::ReadBytes remembering(sql::ReadBytes read);

  const OpenScript& open_;
  const Migration& migration_;
  const std::function<Failure()> changed_;
  std::vector<Blocks> files_;
  std::string checksum_;
};

}  // namespace lockstep::db
