#include "cli/settings_keys.h"

#include <algorithm>
#include <array>

namespace lockstep::cli {
namespace {

/// `choices` are in the order of the enumeration.
template <typename Enumeration>
Enumeration chosen(const Value& value) {
  return static_cast<Enumeration>(value.choice);
}

constexpr std::array table{
    Key{"database", "url", KeyType::conninfo, "", "", "--url",
        "The database: a URL or key=value pairs, as libpq takes them. It must lead to the server directly or "
        "through a pooler in session mode.",
        [](Settings& s, const Value& v) { s.url = v.text; }},
    Key{"database", "password_file", KeyType::path, "", "", "", "A file whose first line is the password.",
        [](Settings& s, const Value& v) { s.password_file = v.text; }},
    Key{"database", "role", KeyType::text, "", "", "",
        "The role to take with SET ROLE after connecting; the migrations' objects belong to it.",
        [](Settings& s, const Value& v) { s.role = v.text; }},
    Key{"database", "search_path", KeyType::text, "", "", "",
        "The search_path of every migration, as SET search_path takes it. Empty: the server's.",
        [](Settings& s, const Value& v) { s.search_path = v.text; }},
    Key{"database", "wait_for_db", KeyType::duration, "0", "", "--wait-for-db",
        "How long to go on trying while the server cannot be reached yet.",
        [](Settings& s, const Value& v) { s.wait_for_db = v.duration; }},
    Key{"database", "pooler", KeyType::choice, "auto", "auto|refuse|assume-session", "--pooler",
        "What to do about a connection pooler: accept a proven session pooler, accept a direct connection "
        "only, "
        "or take your word that it is in session mode.",
        [](Settings& s, const Value& v) { s.pooler = chosen<PoolerPolicy>(v); }},
    Key{"migrations", "dirs", KeyType::paths, "migrations", "", "--dir",
        "The directories of the migration files, read with all that is below them.",
        [](Settings& s, const Value& v) { s.dirs = v.list; }},
    Key{"migrations", "placeholder_prefix", KeyType::mark, "${", "", "",
        "What stands before the name of a placeholder in a migration.",
        [](Settings& s, const Value& v) { s.placeholders.prefix = v.text; }},
    Key{"migrations", "placeholder_suffix", KeyType::mark, "}", "", "", "What stands behind it.",
        [](Settings& s, const Value& v) { s.placeholders.suffix = v.text; }},
    Key{"migrate", "out_of_order", KeyType::boolean, "false", "", "--out-of-order",
        "Apply versions that are older than the newest applied one.",
        [](Settings& s, const Value& v) { s.out_of_order = v.yes ? OutOfOrder::allow : OutOfOrder::refuse; }},
    Key{"migrate", "lock_timeout", KeyType::duration, "5s", "", "",
        "How long a statement of a migration may wait for a lock of the server (lock_timeout).",
        [](Settings& s, const Value& v) { s.lock_timeout = v.duration; }},
    Key{"migrate", "lock_attempts", KeyType::integer, "10", "", "",
        "How often a transactional migration is tried that got no lock in time or lost to a deadlock.",
        [](Settings& s, const Value& v) { s.lock_attempts = v.integer; }},
    Key{"undo", "enabled", KeyType::boolean, "false", "", "", "Allow lockstep undo, which runs U files.",
        [](Settings& s, const Value& v) { s.undo_enabled = v.yes; }},
    Key{"clean", "enabled", KeyType::boolean, "false", "", "",
        "Allow lockstep clean, which drops everything in clean.schemas.",
        [](Settings& s, const Value& v) { s.clean_enabled = v.yes; }},
    Key{"clean", "schemas", KeyType::identifiers, "", "", "",
        "The schemas that lockstep clean empties. Empty: the schema of the history.",
        [](Settings& s, const Value& v) { s.clean_schemas = v.list; }},
    Key{"history", "schema", KeyType::identifier, "", "", "",
        "The schema of the history table. Empty: the session's current schema.",
        [](Settings& s, const Value& v) { s.history_schema = v.text; }},
    Key{"history", "table", KeyType::identifier, "lockstep_history", "", "", "The name of the history table.",
        [](Settings& s, const Value& v) { s.history_table = v.text; }},
    Key{"lock", "namespace", KeyType::integer, "1280262987", "", "",
        "The first number of the advisory lock's key.",
        [](Settings& s, const Value& v) { s.lock_namespace = v.integer; }},
    Key{"lock", "resource", KeyType::integer, "", "", "",
        "The second number of the advisory lock's key. Empty: derived from the history table's name.",
        [](Settings& s, const Value& v) {
          s.lock_resource = v.text.empty() ? std::optional<std::int32_t>{} : v.integer;
        }},
    Key{"lock", "wait", KeyType::duration, "5m", "", "--lock-wait",
        "How long to wait for another run to release the migration lock.",
        [](Settings& s, const Value& v) { s.lock_wait = v.duration; }},
    Key{"lock", "on_busy", KeyType::choice, "wait", "wait|fail|skip", "--on-busy",
        "When another run holds the migration lock: wait for it, fail at once (exit 75), or leave the work "
        "to it "
        "(exit 0).",
        [](Settings& s, const Value& v) { s.on_busy = chosen<OnBusy>(v); }},
    Key{"output", "format", KeyType::choice, "text", "text|json", "--output",
        "The form of the result on standard output.",
        [](Settings& s, const Value& v) { s.output = chosen<OutputFormat>(v); }},
    Key{"output", "log_format", KeyType::choice, "text", "text|json", "--log-format",
        "The form of the log on standard error.",
        [](Settings& s, const Value& v) { s.log_format = chosen<LogFormat>(v); }},
    Key{"output", "progress", KeyType::choice, "auto", "auto|plain|none", "--progress",
        "Progress on standard error: a line that changes on a terminal (auto), a line when a migration "
        "starts "
        "(plain), or none.",
        [](Settings& s, const Value& v) { s.progress = chosen<ProgressMode>(v); }},
    Key{"output", "color", KeyType::choice, "auto", "auto|always|never", "--color",
        "Colours: on a terminal unless NO_COLOR is set (auto), always, or never.",
        [](Settings& s, const Value& v) { s.color = chosen<ColorMode>(v); }},
};

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return result;
}

}  // namespace

std::string Key::full_name() const {
  return std::string(section) + "." + std::string(name);
}

std::string Key::variable() const {
  return "LOCKSTEP_" + upper(section) + "_" + upper(name);
}

std::span<const Key> keys() {
  return table;
}

const Key* find_key(std::string_view section, std::string_view name) {
  const auto* const found = std::find_if(
      table.begin(), table.end(), [&](const Key& key) { return key.section == section && key.name == name; });
  return found == table.end() ? nullptr : found;
}

const Key* find_key(std::string_view full_name) {
  const auto dot = full_name.find('.');
  if (dot == std::string_view::npos) return nullptr;
  return find_key(full_name.substr(0, dot), full_name.substr(dot + 1));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace lockstep::cli
