#include "core/migration_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/text.h"
#include "core/utf8.h"

namespace lockstep {
namespace {

constexpr std::string_view separator = "__";
constexpr std::string_view suffix = ".sql";

// Flyway's events, as its callback files spell them.
constexpr std::string_view events[] = {
    "afterBaseline",
    "afterBaselineError",
    "afterBaselineOperationFinish",
    "afterClean",
    "afterCleanError",
    "afterCleanOperationFinish",
    "afterConnect",
    "afterDeploy",
    "afterDeployError",
    "afterDeployOperationFinish",
    "afterEachMigrate",
    "afterEachMigrateError",
    "afterEachMigrateStatement",
    "afterEachMigrateStatementError",
    "afterEachUndo",
    "afterEachUndoError",
    "afterEachUndoStatement",
    "afterEachUndoStatementError",
    "afterInfo",
    "afterInfoError",
    "afterInfoOperationFinish",
    "afterMigrate",
    "afterMigrateApplied",
    "afterMigrateError",
    "afterMigrateOperationFinish",
    "afterRepair",
    "afterRepairError",
    "afterRepairOperationFinish",
    "afterUndo",
    "afterUndoError",
    "afterUndoOperationFinish",
    "afterValidate",
    "afterValidateError",
    "afterValidateOperationFinish",
    "afterVersioned",
    "beforeBaseline",
    "beforeClean",
    "beforeConnect",
    "beforeCreateSchema",
    "beforeDeploy",
    "beforeEachMigrate",
    "beforeEachMigrateStatement",
    "beforeEachUndo",
    "beforeEachUndoStatement",
    "beforeInfo",
    "beforeMigrate",
    "beforeRepair",
    "beforeRepeatables",
    "beforeUndo",
    "beforeValidate",
    "createSchema",
};

static_assert(std::is_sorted(std::begin(events), std::end(events)));

/// The two sides of the first separator; without one, everything is on the left.
struct Halves {
  std::string_view left;
  std::string_view right;
  bool separated = false;
};

Halves split(std::string_view stem) {
  const auto at = stem.find(separator);
  if (at == std::string_view::npos) return {stem, {}, false};
  return {stem.substr(0, at), stem.substr(at + separator.size()), true};
}

std::string shown(std::string_view description) {
  std::string text(description);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<MigrationKind> versioned_kind(char prefix) {
  switch (prefix) {
    case 'V':
      return MigrationKind::versioned;
    case 'U':
      return MigrationKind::undo;
    case 'B':
      return MigrationKind::baseline;
    default:
      return std::nullopt;
  }
}

bool ends_in_sql(std::string_view name) {
  if (name.size() < suffix.size()) return false;
  const auto end = name.substr(name.size() - suffix.size());
  return std::equal(end.begin(), end.end(), suffix.begin(),
                    [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); });
}

NameProblem unknown_form() {
  return {
      "the name has none of the forms of a migration",
      "Name it V<version>__<description>.sql, R__<description>.sql, U<version>__<description>.sql, "
      "B<version>__<description>.sql, or after an event such as beforeMigrate.sql; or move it elsewhere."};
}

/// "1_add_users", "1-add" and "1 add" cut where the version ends and the description begins.
std::optional<Halves> without_separator(std::string_view rest) {
  const auto end =
      std::find_if_not(rest.begin(), rest.end(), [](char c) { return is_digit(c) || c == '.' || c == '_'; });
  auto version = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  auto description = rest.substr(version.size());
  while (!version.empty() && !is_digit(version.back())) version.remove_suffix(1);
  description.remove_prefix(std::min(description.find_first_not_of("- "), description.size()));
  if (description.empty() || !Version::parse(version)) return std::nullopt;
  return Halves{version, description, false};
}

NameProblem bad_version(char prefix, std::string_view version) {
  if (version.empty()) {
    return {fmt::format("there is no version after {}", prefix),
            fmt::format("Write one, as in {}1__<description>.sql, or R__<description>.sql for a repeatable "
                        "migration.",
                        prefix)};
  }
  return {fmt::format("\"{}\" is not a version", version),
          "Write numbers with single dots or underscores between them, as in 2, 2.1 or 20240131_1, and "
          "nothing else between the prefix and the two underscores."};
}

NameProblem missing_separator(char prefix, std::string_view rest) {
  const auto halves = without_separator(rest);
  if (!halves) return bad_version(prefix, rest);
  const bool underscore = rest[halves->left.size()] == '_';
  return {underscore ? "there is one underscore between version and description, and two are needed"
                     : "two underscores are missing between version and description",
          fmt::format("Rename it to {}{}__{}.sql.", prefix, halves->left, halves->right)};
}

std::variant<MigrationName, NameProblem> parse_versioned(MigrationKind kind, std::string_view stem) {
  const auto halves = split(stem);
  const auto text = halves.left.substr(1);
  if (auto version = Version::parse(text)) {
    return MigrationName{.kind = kind, .version = std::move(version), .description = shown(halves.right)};
  }
  const bool meant = text.empty() || is_digit(text[0]) || text.find_first_not_of(" ._-+") != 0;
  if (!meant) return unknown_form();
  if (halves.separated) return bad_version(stem[0], text);
  return missing_separator(stem[0], text);
}

std::variant<MigrationName, NameProblem> parse_repeatable(std::string_view stem) {
  const auto halves = split(stem);
  const auto before = halves.left.substr(1);
  if (halves.separated && before.empty() && !halves.right.empty()) {
    return MigrationName{.kind = MigrationKind::repeatable, .description = shown(halves.right)};
  }
  if (before.empty()) {
    return NameProblem{"a repeatable migration needs a description, which is its name in the history",
                       "Rename it to R__<description>.sql."};
  }
  if (before[0] == '_') {
    return NameProblem{"there is one underscore between R and the description, and two are needed",
                       fmt::format("Rename it to R_{}.sql.", stem.substr(1))};
  }
  if (halves.separated && is_digit(before[0])) {
    return NameProblem{"a repeatable migration has no version",
                       fmt::format("Rename it to R__{}.sql, or to V{}__{}.sql if it runs once.", halves.right,
                                   before, halves.right)};
  }
  return unknown_form();
}

/// A prefix in lower case before something that fits it.
std::optional<NameProblem> lower_case_prefix(std::string_view stem) {
  const char upper = static_cast<char>(stem[0] - 'a' + 'A');
  if (upper != 'R' && !versioned_kind(upper)) return std::nullopt;
  const auto corrected = upper + std::string(stem.substr(1));
  const auto parsed =
      upper == 'R' ? parse_repeatable(corrected) : parse_versioned(*versioned_kind(upper), corrected);
  if (!std::holds_alternative<MigrationName>(parsed)) return std::nullopt;
  return NameProblem{fmt::format("the prefix {} must be an upper-case {}", stem[0], upper),
                     fmt::format("Rename it to {}.sql.", corrected)};
}

NameProblem other_name(std::string_view stem) {
  if (!stem.empty()) {
    if (auto problem = lower_case_prefix(stem)) return *problem;
  }
  const auto word = stem.substr(0, stem.find('_'));
  const auto event = nearest(word, {std::begin(events), std::end(events)});
  if (event.empty()) return unknown_form();
  return {fmt::format("\"{}\" is not an event that callbacks are named after", word),
          fmt::format("Did you mean {}{}.sql?", event, stem.substr(word.size()))};
}

std::optional<NameProblem> unusable_characters(std::string_view file_name) {
  const bool one_line = file_name.find_first_of("\t\n") == std::string_view::npos;
  if (one_line && is_printable(file_name)) return std::nullopt;
  if (!is_utf8(file_name)) {
    return NameProblem{"the file name is not UTF-8",
                       "Rename it with UTF-8 characters; the history stores names as text."};
  }
  return NameProblem{"the file name has a control character in it", "Rename it without."};
}

}  // namespace

std::string_view to_string(MigrationKind kind) {
  switch (kind) {
    case MigrationKind::versioned:
      return "versioned";
    case MigrationKind::repeatable:
      return "repeatable";
    case MigrationKind::undo:
      return "undo";
    case MigrationKind::baseline:
      return "baseline";
    case MigrationKind::callback:
      return "callback";
  }
  return "";
}

bool names_migration(std::string_view file_name) {
  return ends_in_sql(file_name) && file_name[0] != '.';
}

std::variant<MigrationName, NameProblem> parse_migration_name(std::string_view file_name) {
  if (!ends_in_sql(file_name)) {
    return NameProblem{"the name does not end in .sql", "Rename it to <name>.sql."};
  }
  if (auto problem = unusable_characters(file_name)) return *problem;
  const auto stem = file_name.substr(0, file_name.size() - suffix.size());
  if (stem.empty()) return unknown_form();
  if (const auto kind = versioned_kind(stem[0])) return parse_versioned(*kind, stem);
  if (stem[0] == 'R') return parse_repeatable(stem);
  const auto halves = split(stem);
  if (!std::binary_search(std::begin(events), std::end(events), halves.left)) return other_name(stem);
  return MigrationName{
      .kind = MigrationKind::callback, .description = shown(halves.right), .event = std::string(halves.left)};
}

}  // namespace lockstep
