#include "ephemeral/server_programs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace lockstep::ephemeral {
namespace {

namespace fs = std::filesystem;

bool can_run(const fs::path& program) {
  return ::access(program.c_str(), X_OK) == 0;
}

bool has_server(const fs::path& directory) {
  return can_run(directory / "initdb") && can_run(directory / "postgres");
}

std::vector<fs::path> folders(std::string_view path) {
  std::vector<fs::path> found;
  while (!path.empty()) {
    const auto end = std::min(path.find(':'), path.size());
    if (end > 0) found.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return found;
}

/// What `pg_config --bindir` prints; empty when there is no pg_config.
fs::path configured(const std::vector<fs::path>& path) {
  const auto has_it = [](const fs::path& folder) { return can_run(folder / "pg_config"); };
  if (std::none_of(path.begin(), path.end(), has_it)) return {};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(
      ::popen("pg_config --bindir 2>/dev/null", "re"), ::pclose);
  char line[4096];
  if (!output || std::fgets(line, sizeof line, output.get()) == nullptr) return {};
  const std::string_view text(line);
  return text.substr(0, text.find('\n'));
}

int major_version(const fs::path& folder) {
  const std::string text = folder.filename();
  int version = 0;
  std::from_chars(text.data(), text.data() + text.size(), version);
  return version;
}

std::vector<fs::path> packaged() {
  std::vector<fs::path> versions;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/usr/lib/postgresql", none))
    versions.push_back(entry.path());
  std::sort(versions.begin(), versions.end(),
            [](const fs::path& a, const fs::path& b) { return major_version(a) > major_version(b); });
  for (auto& version : versions) version /= "bin";
  return versions;
}

}  // namespace

std::string find_server_programs(const std::string& given, const std::string& path) {
  if (!given.empty()) {
    if (has_server(given)) return given;
    throw Failure(
        Error{.kind = ErrorKind::config,
              .code = "server_programs_missing",
              .message = fmt::format("there are no initdb and postgres in {}", given),
              .hints = {"LOCKSTEP_PG_BIN must name the folder with a PostgreSQL server's programs."}});
  }
  const auto searched = folders(path);
  if (const auto folder = configured(searched); has_server(folder)) return folder;
  for (const auto& folder : packaged()) {
    if (has_server(folder)) return folder;
  }
  for (const auto& folder : searched) {
    if (has_server(folder)) return folder;
  }
  throw Failure(
      Error{.kind = ErrorKind::config,
            .code = "server_programs_missing",
            .message = "no PostgreSQL server is installed here: initdb and postgres were not found",
            .hints = {"Install one (on Debian: apt-get install postgresql), or set LOCKSTEP_PG_BIN to "
                      "the folder with its programs."}});
}

}  // namespace lockstep::ephemeral
