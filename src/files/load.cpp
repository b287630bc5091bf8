#include "files/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <future>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "core/checksum.h"
#include "core/text.h"
#include "files/find.h"
#include "files/read_script.h"

namespace lockstep::files {
namespace {

/// With fewer files for each, another thread costs more than it saves; more threads than these wait for the
/// kernel's locks.
constexpr std::size_t worth_a_thread = 128;
constexpr std::size_t most_threads = 4;

/// Which file it is, under whatever name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
};

/// A script with problems, and which of the candidates it was.
struct Troubled {
  std::size_t index;
  Script script;
};

/// Candidates to be read, by as many threads as there are.
class Reading {
 public:
  Reading(std::vector<Candidate> candidates, const ReadOptions& options)
      : candidates_(std::move(candidates)),
        options_(options),
        migrations_(candidates_.size()),
        identities_(candidates_.size()) {}

  std::size_t size() const { return candidates_.size(); }

  /// Takes candidates until there are no more: a few at a time, so that nobody waits long for the last one.
  void work() {
    constexpr std::size_t some = 32;
    NearFolder near;
    for (auto begin = next_.fetch_add(some); begin < size(); begin = next_.fetch_add(some)) {
      const auto end = std::min(begin + some, size());
      for (auto i = begin; i < end; ++i) keep(read_script(std::move(candidates_[i]), near, options_), i);
    }
  }

  /// The same file under the same name was reached twice over links. The first way counts.
  void drop_repeated();

  /// A file whose name is that of no migration may lie in a location when a migration includes it.
  void forgive_included();

  /// What was read, without gaps, and the problems, those of one file in their order.
  LocalMigrations finish();

 private:
  void keep(Script script, std::size_t at) {
    if (script.migration) migrations_[at] = std::move(*script.migration);
    identities_[at] = {script.device, script.inode};
    if (script.problems.empty()) return;
    const std::lock_guard guard(mutex_);
    troubled_.push_back({at, std::move(script)});
  }

  static bool is_absent(const Migration& migration) { return migration.path.empty(); }
  std::set<std::string_view> included_paths() const;

  std::vector<Candidate> candidates_;
  const ReadOptions& options_;
  std::vector<Migration> migrations_;  ///< without a path where there is none
  std::vector<FileIdentity> identities_;
  std::vector<Troubled> troubled_;
  std::mutex mutex_;  ///< of troubled_
  std::atomic<std::size_t> next_ = 0;
};

void Reading::drop_repeated() {
  std::set<std::tuple<dev_t, ino_t, std::string_view>> seen;
  for (std::size_t i = 0; i < size(); ++i) {
    if (is_absent(migrations_[i])) continue;
    const std::string_view path = migrations_[i].path;
    const auto& [device, inode] = identities_[i];
    if (seen.emplace(device, inode, path.substr(path.rfind('/') + 1)).second) continue;
    migrations_[i].path.clear();
    std::erase_if(troubled_, [i](const Troubled& one) { return one.index == i; });
  }
}

std::set<std::string_view> Reading::included_paths() const {
  std::set<std::string_view> paths;
  for (const auto& migration : migrations_) {
    if (is_absent(migration)) continue;
    for (const auto& include : migration.includes) paths.insert(include.path);
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

void Reading::forgive_included() {
  const auto is_unnamed = [](const Troubled& one) { return !one.script.unnamed.empty(); };
  if (std::none_of(troubled_.begin(), troubled_.end(), is_unnamed)) return;
  const auto included = included_paths();
  for (auto& [index, script] : troubled_) {
    if (script.unnamed.empty()) continue;
    std::error_code error;
    const auto real = std::filesystem::canonical(script.unnamed, error);
    if (error || included.count(real.string()) == 0) continue;
    script.problems.clear();
    if (script.has_config) script.problems.push_back(config_of_included(script.unnamed));
  }
}

LocalMigrations Reading::finish() {
  LocalMigrations local;
  std::sort(troubled_.begin(), troubled_.end(),
            [](const Troubled& a, const Troubled& b) { return a.index < b.index; });
  for (auto& [index, script] : troubled_) {
    std::move(script.problems.begin(), script.problems.end(), std::back_inserter(local.problems));
  }
  std::erase_if(migrations_, is_absent);
  local.migrations = std::move(migrations_);
  return local;
}

/// Absent where the system allows no more threads.
template <typename Work>
std::optional<std::future<void>> on_a_thread(Work work) {
  try {
    return std::async(std::launch::async, std::move(work));
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

LocalMigrations read_all(Findings found, const ReadOptions& options) {
  const std::size_t processors = std::thread::hardware_concurrency();
  Reading reading(std::move(found.candidates), options);
  const auto threads =
      std::clamp(std::min(processors, reading.size() / worth_a_thread), std::size_t{1}, most_threads);
  std::vector<std::optional<std::future<void>>> others;
  for (std::size_t i = 1; i < threads; ++i) others.push_back(on_a_thread([&reading] { reading.work(); }));
  reading.work();
  for (auto& other : others) {
    if (other) other->get();
  }
  if (found.repeats_possible) reading.drop_repeated();
  reading.forgive_included();
  return reading.finish();
}

/// Before: kind, then version, then event, then description, then the path.
bool sorts_before(const Migration& a, const Migration& b) {
  if (a.name.kind != b.name.kind) return a.name.kind < b.name.kind;
  if (a.name.version && b.name.version) {
    if (const auto order = *a.name.version <=> *b.name.version; order != 0) return order < 0;
  }
  return std::tie(a.name.event, a.name.description, a.path) <
         std::tie(b.name.event, b.name.description, b.path);
}

/// A number that is larger where the migration is sorted behind another one; the same for many. Comparing two
/// of these is much cheaper than comparing two migrations.
std::uint64_t rough_place(const Migration& migration) {
  constexpr unsigned bits_for_version = 60;
  constexpr auto highest = (std::uint64_t{1} << bits_for_version) - 1;
  const auto kind = static_cast<std::uint64_t>(migration.name.kind) << bits_for_version;
  if (!migration.name.version) return kind;
  const auto& text = migration.name.version->canonical();
  std::uint64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return kind | (read.ec == std::errc{} ? std::min(number, highest) : highest);
}

/// Sorts in place: of so many migrations, every copy is felt.
void sort(std::vector<Migration>& migrations) {
  struct Source {
    std::uint64_t place;
    std::size_t index;
  };
  std::vector<Source> sources(migrations.size());
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = {rough_place(migrations[i]), i};
  std::sort(sources.begin(), sources.end(), [&](const Source& a, const Source& b) {
    return a.place != b.place ? a.place < b.place : sorts_before(migrations[a.index], migrations[b.index]);
  });
  for (std::size_t first = 0; first < sources.size(); ++first) {
    if (sources[first].index == first) continue;
    auto moved = std::move(migrations[first]);
    auto gap = first;
    for (auto from = sources[gap].index; from != first; from = sources[gap].index) {
      migrations[gap] = std::move(migrations[from]);
      sources[gap].index = gap;
      gap = from;
    }
    migrations[gap] = std::move(moved);
    sources[gap].index = gap;
  }
}

/// Callbacks are sorted behind all migrations.
void move_callbacks(LocalMigrations& local) {
  auto& all = local.migrations;
  const auto first = std::partition_point(all.begin(), all.end(), [](const Migration& migration) {
    return migration.name.kind != MigrationKind::callback;
  });
  local.callbacks = {std::make_move_iterator(first), std::make_move_iterator(all.end())};
  all.erase(first, all.end());
}

/// Neighbours in order that stand for the same thing.
bool are_the_same(const Migration& a, const Migration& b) {
  if (a.name.kind != b.name.kind) return false;
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

LocalMigrations load_migrations(const std::vector<std::string>& locations,
                                const sql::Placeholders& placeholders) {
  const auto preparing = on_a_thread(prepare_checksums);  // ready when the first file is
  auto found = find_scripts(locations);
  auto problems = std::move(found.problems);
  auto local = read_all(std::move(found), {locations, placeholders});
  std::move(local.problems.begin(), local.problems.end(), std::back_inserter(problems));
  local.problems = std::move(problems);
  sort(local.migrations);
  move_callbacks(local);
  add_duplicates(local.migrations, local.problems);
  sort_problems(local.problems);
  return local;
}

}  // namespace lockstep::files
