#include "files/included_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <utility>

#include "core/text.h"
#include "files/input_file.h"
#include "files/read_script.h"

namespace lockstep::files {
namespace {

namespace fs = std::filesystem;

/// As many as PostgreSQL allows its own configuration files.
constexpr std::size_t deepest = 10;
/// Ten files that each include the next one ten times would be ten thousand million.
constexpr std::size_t most = 10'000;

fs::path real_path(const fs::path& path) {
  std::error_code ignored;
  auto real = fs::weakly_canonical(path, ignored);
  return ignored ? path.lexically_normal() : real;
}

bool starts_with(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

std::size_t depth_of(std::size_t file, const std::vector<Include>& includes) {
  std::size_t depth = 0;
  for (; file > 0; file = includes[file - 1].at.file) ++depth;
  return depth;
}

Error problem(std::string code, std::string message, std::string hint) {
  return {.kind = ErrorKind::files,
          .code = std::move(code),
          .message = std::move(message),
          .hints = {std::move(hint)}};
}

}  // namespace

std::optional<sql::IncludedFile> IncludedFiles::open(const sql::IncludeRequest& request) {
  const auto found = as_found(request);
  const auto real = real_path(found);
  auto error = refused(request, found, real);
  try {
    if (!error) return opened(request, found, real);
  } catch (const Failure& failure) {
    error = failure.error();
    error->message = fmt::format("{} cannot be included: {}", printable(request.path), error->message);
  }
  set_place(*error, request.at, printable(script_.path), includes_);
  problems_.push_back(*std::move(error));
  return std::nullopt;
}

sql::IncludedFile IncludedFiles::opened(const sql::IncludeRequest& request, const fs::path& found,
                                        const fs::path& real) {
  // std::function wants to be copied; the copies share the file.
  const auto file = std::make_shared<InputFile>(real.string());
  includes_.push_back({.file = shown(found), .path = real.string(), .at = request.at});
  found_.push_back(found);
  return {checksum_.watch([file](char* to, std::size_t at_most) { return file->read(to, at_most); }),
          window_for(file->size())};
}

fs::path IncludedFiles::as_found(const sql::IncludeRequest& request) const {
  const fs::path script(script_.path);
  if (request.base == sql::IncludeBase::root) {
    return fs::path(script_.path.substr(0, script_.script_begin)) / request.path;
  }
  return (request.at.file == 0 ? script : found_[request.at.file - 1]).parent_path() / request.path;
}

/// Below the location as that is given, like the migration itself.
std::string IncludedFiles::shown(const fs::path& found) const {
  const auto location = script_.path.substr(0, script_.script_begin);
  const auto normal = found.lexically_normal();
  const auto below = normal.lexically_relative(fs::path(location).lexically_normal()).string();
  const bool elsewhere = below.empty() || below.starts_with("..");
  return printable(elsewhere ? normal.string() : location + below);
}

bool IncludedFiles::is_inside(const fs::path& real) {
  if (roots_.empty()) {
    for (const auto& location : locations_) roots_.push_back(real_path(location));
  }
  return std::any_of(roots_.begin(), roots_.end(),
                     [&](const fs::path& root) { return starts_with(real, root); });
}

std::optional<Error> IncludedFiles::refused(const sql::IncludeRequest& request, const fs::path& found,
                                            const fs::path& real) {
  const auto name = printable(request.path);
  const bool plain = is_printable(request.path) && request.path.find('\n') == std::string::npos;
  if (!plain) {
    return problem("include_name", fmt::format("the name {} is not UTF-8 or has a control character", name),
                   "Rename the file.");
  }
  if (!is_inside(real)) {
    return problem("include_outside", fmt::format("{} is not in a location of migrations", name),
                   "Only files of the locations are included, since they are checked and deployed together: "
                   "put it there. What a link leads to counts.");
  }
  std::error_code ignored;
  const auto status = fs::status(real, ignored);
  if (!fs::exists(status)) {
    return problem("include_missing", fmt::format("there is no file {}", shown(found)),
                   "\\i looks for it from the location of the migration, \\ir from the folder of the file "
                   "with the command.");
  }
  if (!fs::is_regular_file(status)) {
    return problem("include_not_a_file", fmt::format("{} is not a regular file", name),
                   "Name each file to include.");
  }
  if (is_open(real, request.at.file)) {
    return problem("include_cycle", fmt::format("{} includes itself in the end", name),
                   "Remove one of the commands on the way.");
  }
  if (depth_of(request.at.file, includes_) >= deepest) {
    return problem("include_too_deep", fmt::format("files include each other more than {} deep", deepest),
                   "Include the file from one that is further up.");
  }
  if (includes_.size() >= most) {
    return problem("include_too_many", fmt::format("a migration includes at most {} files", most),
                   "Make several migrations of it.");
  }
  return std::nullopt;
}

bool IncludedFiles::is_open(const fs::path& real, std::size_t file) const {
  for (; file > 0; file = includes_[file - 1].at.file) {
    if (includes_[file - 1].path == real) return true;
  }
  return real_path(script_.path) == real;
}

}  // namespace lockstep::files
