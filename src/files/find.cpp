#include "files/find.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "core/migration_name.h"
#include "core/text.h"

namespace lockstep::files {
namespace {

constexpr std::string_view config_suffix = ".conf";

enum class EntryType { file, folder, link, other };

struct Entry {
  std::string_view name;
  EntryType type;
};

/// The visible entries of a folder, with their names in one piece of memory.
class Listing {
 public:
  void add(std::string_view name, EntryType type) {
    marks_.push_back({names_.size(), name.size(), type});
    names_ += name;
  }

  std::vector<Entry> entries() const {
    std::vector<Entry> entries;
    entries.reserve(marks_.size());
    for (const auto& mark : marks_) {
      entries.push_back({std::string_view(names_).substr(mark.begin, mark.size), mark.type});
    }
    return entries;
  }

 private:
  struct Mark {
    std::size_t begin;
    std::size_t size;
    EntryType type;
  };

  std::string names_;
  std::vector<Mark> marks_;
};

/// A place below a location.
struct Node {
  std::string path;
  std::size_t script_begin;
};

bool by_path(const Node& a, const Node& b) {
  return a.path < b.path;
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

EntryType type_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryType::file;
  if (S_ISDIR(mode)) return EntryType::folder;
  return S_ISLNK(mode) ? EntryType::link : EntryType::other;
}

/// Most file systems tell the type with the name; the others are asked.
EntryType type_of(const Folder& folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return type_of(static_cast<mode_t>(DTTOIF(entry.d_type)));
  struct stat facts = {};
  if (::fstatat(::dirfd(folder.get()), entry.d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
    return EntryType::other;
  return type_of(facts.st_mode);
}

Listing read_listing(const Folder& folder) {
  Listing listing;
  while (const auto* const entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') listing.add(entry->d_name, type_of(folder, *entry));
  }
  return listing;
}

Node child(const Node& folder, std::string_view name) {
  Node node{{}, folder.script_begin};
  node.path.reserve(folder.path.size() + 1 + name.size());
  node.path = folder.path;
  if (node.path.back() != '/') node.path += '/';
  node.path += name;
  return node;
}

bool names_config(std::string_view name) {
  if (name.size() <= config_suffix.size()) return false;
  const auto script = name.substr(0, name.size() - config_suffix.size());
  return name.substr(script.size()) == config_suffix && names_migration(script);
}

Error file_problem(const std::string& path, std::string code, std::string message, std::string hint) {
  return {.kind = ErrorKind::files,
          .code = std::move(code),
          .message = std::move(message),
          .where = SourcePosition{printable(path)},
          .hints = {std::move(hint)}};
}

Error location_problem(const std::string& location, int error) {
  const bool missing = error == ENOENT;
  return {
      .kind = ErrorKind::config,
      .code = missing ? "location_missing" : "location_unreadable",
      .message = missing ? fmt::format("the location {} does not exist", printable(location))
                         : fmt::format("the location {} cannot be read: {}", printable(location),
                                       std::strerror(error)),
      .hints = {"Locations are folders, given with --dir or in lockstep.toml, seen from the folder in which "
                "lockstep runs."}};
}

/// A link to a folder in which it lies itself: not another place for migrations, but all around this one.
bool leads_up(const std::string& link, const struct stat& target) {
  std::error_code error;
  auto folder = std::filesystem::canonical(std::filesystem::path(link).parent_path(), error);
  while (!error) {
    struct stat facts = {};
    const bool known = ::stat(folder.c_str(), &facts) == 0;
    if (known && facts.st_dev == target.st_dev && facts.st_ino == target.st_ino) return true;
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return false;
}

class Finder {
 public:
  void search(const std::string& location);
  Findings finish();

 private:
  void walk(Node start);
  void visit(const Node& node, const Folder& folder);
  void look_at(const Node& folder, const Entry& entry, const std::vector<std::string_view>& configs);
  /// Configurations without their scripts.
  void note_lonely(const std::vector<std::string_view>& configs, std::vector<Entry> entries,
                   const Node& node);
  void follow(const Node& link);
  void note_script(Node node);
  void note_other(const Node& node);

  std::set<std::pair<dev_t, ino_t>> visited_;
  // A file system lists its entries in any order. What is found first counts only where several ways lead to
  // it, and that takes folders or links: these go by name, the files as they come.
  std::vector<Node> folders_;
  std::vector<Node> links_;
  std::set<std::string> configured_;  ///< paths with a configuration beside them
  Findings findings_;
};

void Finder::search(const std::string& location) {
  Node start{location, 0};
  while (start.path.size() > 1 && start.path.back() == '/') start.path.pop_back();
  struct stat facts = {};
  const bool there = !start.path.empty() && ::stat(start.path.c_str(), &facts) == 0;
  if (!there || !S_ISDIR(facts.st_mode)) {
    const int error = start.path.empty() ? ENOENT : there ? ENOTDIR : errno;
    findings_.problems.push_back(location_problem(location, error));
    return;
  }
  start.script_begin = start.path.size() + (start.path == "/" ? 0 : 1);
  walk(std::move(start));
}

Findings Finder::finish() {
  while (!links_.empty()) {
    auto batch = std::exchange(links_, {});
    std::sort(batch.begin(), batch.end(), by_path);
    for (const auto& link : batch) follow(link);
    findings_.repeats_possible = true;
  }
  return std::move(findings_);
}

void Finder::walk(Node start) {
  folders_.push_back(std::move(start));
  while (!folders_.empty()) {
    const Node node = std::move(folders_.back());
    folders_.pop_back();
    if (const Folder folder{::opendir(node.path.c_str())}) {
      visit(node, folder);
    } else {
      findings_.problems.push_back(file_problem(
          node.path, "folder_unreadable", fmt::format("the folder cannot be read: {}", std::strerror(errno)),
          "Give the user that runs lockstep the right to read it, or move it elsewhere."));
    }
  }
}

void Finder::visit(const Node& node, const Folder& folder) {
  struct stat facts = {};
  if (::fstat(::dirfd(folder.get()), &facts) != 0) return;
  if (!visited_.insert({facts.st_dev, facts.st_ino}).second) return;
  const auto listing = read_listing(folder);
  auto entries = listing.entries();
  std::vector<std::string_view> configs;
  for (const auto& entry : entries) {
    if (entry.type != EntryType::folder && names_config(entry.name)) configs.push_back(entry.name);
  }
  std::sort(configs.begin(), configs.end());
  const auto known_folders = static_cast<std::ptrdiff_t>(folders_.size());
  for (const auto& entry : entries) look_at(node, entry, configs);
  std::sort(folders_.begin() + known_folders, folders_.end(), by_path);
  if (!configs.empty()) note_lonely(configs, std::move(entries), node);
}

void Finder::note_lonely(const std::vector<std::string_view>& configs, std::vector<Entry> entries,
                         const Node& node) {
  const auto by_name = [](const Entry& a, const Entry& b) { return a.name < b.name; };
  std::sort(entries.begin(), entries.end(), by_name);
  for (const auto& config : configs) {
    const auto script = config.substr(0, config.size() - config_suffix.size());
    const Entry wanted{script, EntryType::file};
    if (std::binary_search(entries.begin(), entries.end(), wanted, by_name)) continue;
    findings_.problems.push_back(
        file_problem(child(node, config).path, "config_without_script",
                     fmt::format("there is no {} beside this configuration", printable(script)),
                     "Rename it to the migration's whole name and .conf, or remove it."));
  }
}

void Finder::look_at(const Node& folder, const Entry& entry, const std::vector<std::string_view>& configs) {
  const bool wanted = names_migration(entry.name);
  if (entry.type == EntryType::folder) {
    folders_.push_back(child(folder, entry.name));
  } else if (entry.type == EntryType::link || wanted) {
    auto node = child(folder, entry.name);
    const bool has_config = !configs.empty() && std::binary_search(configs.begin(), configs.end(),
                                                                   fmt::format("{}.conf", entry.name));
    if (has_config) configured_.insert(node.path);
    if (entry.type == EntryType::link) {
      links_.push_back(std::move(node));
    } else if (entry.type == EntryType::file) {
      note_script(std::move(node));
    } else {
      note_other(node);
    }
  }
}

void Finder::follow(const Node& link) {
  const bool wanted = names_migration(std::string_view(link.path).substr(link.path.rfind('/') + 1));
  struct stat facts = {};
  if (::stat(link.path.c_str(), &facts) != 0) {
    if (!wanted) return;
    findings_.problems.push_back(file_problem(link.path, "link_broken",
                                              fmt::format("the link leads nowhere: {}", std::strerror(errno)),
                                              "Mend the link or remove it."));
  } else if (S_ISDIR(facts.st_mode)) {
    if (!leads_up(link.path, facts)) walk(link);
  } else if (wanted && S_ISREG(facts.st_mode)) {
    note_script(link);
  } else if (wanted) {
    note_other(link);
  }
}

void Finder::note_script(Node node) {
  const bool has_config = !configured_.empty() && configured_.count(node.path) > 0;
  findings_.candidates.push_back({std::move(node.path), node.script_begin, has_config});
}

void Finder::note_other(const Node& node) {
  findings_.problems.push_back(file_problem(node.path, "not_a_file", "this is not a regular file",
                                            "A migration is a file on disk, or a link to one; remove this."));
}

}  // namespace

Findings find_scripts(const std::vector<std::string>& locations) {
  Finder finder;
  for (const auto& location : locations) finder.search(location);
  return finder.finish();
}

}  // namespace lockstep::files
