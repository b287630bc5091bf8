#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/migration.h"
#include "core/script_checksum.h"
#include "files/find.h"
#include "sql/firsts.h"
#include "sql/include.h"

namespace lockstep::files {

/// Finds, opens and remembers the files that one migration includes. What cannot be had becomes a problem.
class IncludedFiles {
 public:
  /// Files may be included from `locations` alone. The references must outlive this.
  IncludedFiles(const Candidate& script, const std::vector<std::string>& locations, ScriptChecksum& checksum)
      : script_(script), locations_(locations), checksum_(checksum) {}

  std::optional<sql::IncludedFile> open(const sql::IncludeRequest& request);

  std::vector<Include>& includes() { return includes_; }
  sql::Firsts<Error>& problems() { return problems_; }

 private:
  std::filesystem::path as_found(const sql::IncludeRequest& request) const;
  sql::IncludedFile opened(const sql::IncludeRequest& request, const std::filesystem::path& found,
                           const std::filesystem::path& real);
  std::string shown(const std::filesystem::path& found) const;
  bool is_inside(const std::filesystem::path& real);
  std::optional<Error> refused(const sql::IncludeRequest& request, const std::filesystem::path& found,
                               const std::filesystem::path& real);
  bool is_open(const std::filesystem::path& real, std::size_t file) const;

  const Candidate& script_;
  const std::vector<std::string>& locations_;
  ScriptChecksum& checksum_;
  std::vector<std::filesystem::path> roots_;  ///< the locations as they really are, when they are known
  std::vector<Include> includes_;
  std::vector<std::filesystem::path> found_;  ///< of each include: \ir leads from there
  sql::Firsts<Error> problems_;
};

}  // namespace lockstep::files
