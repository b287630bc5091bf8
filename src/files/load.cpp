#include "files/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <set>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "core/text.h"
#include "files/find.h"
#include "files/read_script.h"

namespace lockstep::files {
namespace {

/// With fewer files for each, another thread costs more than it saves; more threads than these wait for the
/// kernel's locks.
constexpr std::size_t worth_a_thread = 128;
constexpr std::size_t most_threads = 4;

void read_part(std::span<Candidate> candidates, std::span<Script> scripts,
               const std::vector<std::string>& locations) {
  NearFolder near;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    scripts[i] = read_script(std::move(candidates[i]), near, locations);
}

/// Every thread reads its share; this one the last.
std::vector<Script> read_all(std::vector<Candidate> candidates, const std::vector<std::string>& locations) {
  std::vector<Script> scripts(candidates.size());
  std::span<Candidate> from(candidates);
  std::span<Script> to(scripts);
  const std::size_t processors = std::thread::hardware_concurrency();
  const auto threads =
      std::clamp(std::min(processors, from.size() / worth_a_thread), std::size_t{1}, most_threads);
  const auto share = from.size() / threads;
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < threads; ++i) {
    try {
      others.push_back(std::async(std::launch::async, read_part, from.first(share), to.first(share),
                                  std::cref(locations)));
    } catch (const std::system_error&) {
      break;  // the system allows no more threads
    }
    from = from.subspan(share);
    to = to.subspan(share);
  }
  read_part(from, to, locations);
  for (auto& other : others) other.get();
  return scripts;
}

/// The same file under the same name was reached twice over links. The first way counts.
void drop_repeated(std::vector<Script>& scripts) {
  std::set<std::tuple<dev_t, ino_t, std::string_view>> seen;
  for (auto& script : scripts) {
    if (!script.migration) continue;
    const std::string_view path = script.migration->path;
    if (!seen.emplace(script.device, script.inode, path.substr(path.rfind('/') + 1)).second) script = {};
  }
}

std::set<std::string_view> included_paths(const std::vector<Script>& scripts) {
  std::set<std::string_view> paths;
  for (const auto& script : scripts) {
    if (!script.migration) continue;
    for (const auto& include : script.migration->includes) paths.insert(include.path);
  }
  return paths;
}

Error config_of_included(const std::string& path) {
  return {.kind = ErrorKind::files,
          .code = "config_of_included",
          .message = "this configures a file that is only included",
          .where = SourcePosition{printable(path) + ".conf"},
          .hints = {"Move its settings to the top of the migration, or to the configuration beside that."}};
}

/// A file whose name is that of no migration may lie in a location when a migration includes it.
void forgive_included(std::vector<Script>& scripts) {
  const auto is_unnamed = [](const Script& script) { return !script.unnamed.empty(); };
  if (std::none_of(scripts.begin(), scripts.end(), is_unnamed)) return;
  const auto included = included_paths(scripts);
  for (auto& script : scripts) {
    if (script.unnamed.empty()) continue;
    std::error_code error;
    const auto real = std::filesystem::canonical(script.unnamed, error);
    if (error || included.count(real.string()) == 0) continue;
    script.problems.clear();
    if (script.has_config) script.problems.push_back(config_of_included(script.unnamed));
  }
}

/// Before: kind, then version, then description, then the path.
bool sorts_before(const Migration& a, const Migration& b) {
  if (a.name.kind != b.name.kind) return a.name.kind < b.name.kind;
  if (a.name.version && b.name.version) {
    if (const auto order = *a.name.version <=> *b.name.version; order != 0) return order < 0;
  }
  return std::tie(a.name.description, a.path) < std::tie(b.name.description, b.path);
}

std::vector<Migration> sorted(std::vector<Script>& scripts) {
  std::vector<Script*> order;
  for (auto& script : scripts) {
    if (script.migration) order.push_back(&script);
  }
  std::sort(order.begin(), order.end(),
            [](const Script* a, const Script* b) { return sorts_before(*a->migration, *b->migration); });
  std::vector<Migration> migrations;
  migrations.reserve(order.size());
  for (auto* const script : order) migrations.push_back(std::move(*script->migration));
  return migrations;
}

/// Neighbours in order that stand for the same thing.
bool are_the_same(const Migration& a, const Migration& b) {
  if (a.name.kind != b.name.kind || a.name.kind == MigrationKind::callback) return false;
  if (a.name.kind == MigrationKind::repeatable) return a.name.description == b.name.description;
  return a.name.version == b.name.version;
}

Error duplicate(const Migration& first, const Migration& second) {
  const bool repeatable = first.name.kind == MigrationKind::repeatable;
  const auto what = repeatable
                        ? fmt::format("repeatable migration \"{}\"", first.name.description)
                        : fmt::format("{} migration {}", to_string(first.name.kind), version_text(first));
  Error error{.kind = ErrorKind::files,
              .code = repeatable ? "duplicate_repeatable" : "duplicate_version",
              .message = fmt::format("{} is there already: {}", what, first.path),
              .where = SourcePosition{second.path},
              .hints = {repeatable ? "Give one of the two another description."
                                   : "Give the one that was never applied the next free version."}};
  if (version_text(first) != version_text(second)) {
    error.hints.push_back(
        fmt::format("{} and {} are the same version, since zeros in front of a number and "
                    "zero parts at the end do not count.",
                    version_text(first), version_text(second)));
  }
  return error;
}

void add_duplicates(const std::vector<Migration>& migrations, std::vector<Error>& problems) {
  std::size_t first = 0;
  for (std::size_t i = 1; i < migrations.size(); ++i) {
    if (are_the_same(migrations[first], migrations[i])) {
      problems.push_back(duplicate(migrations[first], migrations[i]));
    } else {
      first = i;
    }
  }
}

/// Locations first, then file by file; the problems of one file stay in their order.
void sort_problems(std::vector<Error>& problems) {
  std::stable_sort(problems.begin(), problems.end(), [](const Error& a, const Error& b) {
    return (a.where ? a.where->file : std::string{}) < (b.where ? b.where->file : std::string{});
  });
}

}  // namespace

LocalMigrations load_migrations(const std::vector<std::string>& locations) {
  auto found = find_scripts(locations);
  auto scripts = read_all(std::move(found.candidates), locations);
  if (found.repeats_possible) drop_repeated(scripts);
  forgive_included(scripts);
  LocalMigrations local{{}, std::move(found.problems)};
  for (auto& script : scripts) {
    std::move(script.problems.begin(), script.problems.end(), std::back_inserter(local.problems));
  }
  local.migrations = sorted(scripts);
  add_duplicates(local.migrations, local.problems);
  sort_problems(local.problems);
  return local;
}

}  // namespace lockstep::files
