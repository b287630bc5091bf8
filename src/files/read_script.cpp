#include "files/read_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "core/callbacks.h"
#include "core/directives.h"
#include "core/placeholder_rules.h"
#include "core/script_checksum.h"
#include "core/script_rules.h"
#include "core/text.h"
#include "files/excerpt.h"
#include "files/included_files.h"
#include "files/input_file.h"
#include "sql/survey.h"

namespace lockstep::files {
namespace {

constexpr std::size_t largest_config = 65536;

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

Error problem_of(const std::string& path, std::string code, std::string message, std::string hint) {
  return {.kind = ErrorKind::files,
          .code = std::move(code),
          .message = std::move(message),
          .where = SourcePosition{printable(path)},
          .hints = {std::move(hint)}};
}

void append(std::vector<Error>& to, std::vector<Error> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// The configuration beside a script, or why it cannot be read.
ScriptConfig read_config(const Candidate& candidate) {
  if (!candidate.has_config) return {};
  ScriptConfig config{.file = candidate.path + ".conf"};
  try {
    std::string text(largest_config + 1, '\0');
    InputFile file(config.file);
    std::size_t size = 0;
    while (const auto got = file.read(text.data() + size, text.size() - size)) size += got;
    if (size <= largest_config) {
      config.read = read_script_config(std::string_view(text).substr(0, size), printable(config.file));
    } else {
      config.read.problems.push_back(problem_of(config.file, "config_too_large",
                                                "the file is too large for a configuration",
                                                "A migration's configuration has four settings at most."));
    }
  } catch (const Failure& failure) {
    for (const auto& error : failure.errors()) config.read.problems.push_back(error);
  }
  return config;
}

/// Survey of a file and of those that it includes.
sql::Survey read_contents(InputFile& file, ScriptChecksum& checksum, IncludedFiles& included,
                          const sql::Placeholders* placeholders) {
  const auto read = [&](char* to, std::size_t at_most) {
    const auto size = file.read(to, at_most);
    checksum.update({to, size});
    return size;
  };
  const auto open = [&included](const sql::IncludeRequest& request) { return included.open(request); };
  return sql::survey(read, {.window = window_for(file.size()), .placeholders = placeholders}, open);
}

void show_lines(const std::string& path, const ScriptFiles& files, std::vector<Error>& problems) {
  if (problems.empty()) return;
  add_excerpts(path, files.script, problems);
  for (const auto& include : files.includes) add_excerpts(include.path, include.file, problems);
}

Judgement judge(const sql::Survey& survey, const ScriptConfig& config, const ScriptFiles& files,
                const MigrationName& name) {
  if (name.kind != MigrationKind::callback) return judge_script(survey, config, files);
  return judge_callback(
      survey, config, files,
      runs_within_migration(name) ? CallbackPlace::within_migration : CallbackPlace::of_its_own);
}

/// The placeholders that may be in a file; nullptr: none.
const sql::Placeholders* placeholders_for(const ScriptConfig& config, const ReadOptions& options) {
  const bool off = config.read.directives.placeholders == sql::PlaceholderScope::off;
  return off || options.placeholders.values.empty() ? nullptr : &options.placeholders;
}

/// Undefined ones become problems.
void note_placeholders(const sql::PlaceholderUses& uses, const sql::Placeholders* declared,
                       Migration& migration, ScriptFiles& files) {
  if (declared == nullptr) return;
  for (const auto& undefined : uses.undefined)
    files.problems.push_back(undefined_placeholder(undefined, *declared, files));
  files.problems.leave_out(uses.undefined.left_out());
  if (uses.replaced) migration.placeholders = declared;
  if (migration.name.kind == MigrationKind::repeatable)
    migration.placeholder_digest = placeholder_digest(uses.declared, *declared);
}

void read_file(const Candidate& candidate, NearFolder& near, const ReadOptions& options, Migration& migration,
               Script& script) {
  InputFile file(candidate.path, near);
  script.device = file.device();
  script.inode = file.inode();
  ScriptChecksum checksum;
  IncludedFiles included(candidate, options.locations, checksum);
  const auto config = read_config(candidate);
  const auto* const placeholders = placeholders_for(config, options);
  const auto survey = read_contents(file, checksum, included, placeholders);
  migration.checksum = checksum.finish();
  ScriptFiles files{printable(candidate.path), std::move(included.includes()),
                    std::move(included.problems())};
  note_placeholders(survey.placeholders, placeholders, migration, files);
  auto judgement = judge(survey, config, files, migration.name);
  show_lines(candidate.path, files, judgement.problems);
  append(script.problems, std::move(judgement.problems));
  migration.includes = std::move(files.includes);
  migration.transaction = judgement.transaction;
  migration.outside_because = std::move(judgement.outside_because);
  migration.directives = judgement.directives;
  if (survey.wrapped) migration.begin = survey.begin_text;
  migration.statements = survey.statements;
}

/// The history stores the path below the location as text, and people read it.
bool is_plain(std::string_view text) {
  return is_printable(text) && text.find('\n') == std::string_view::npos;
}

}  // namespace

std::size_t window_for(std::size_t file_size) {
  constexpr std::size_t smallest = 1024;
  return std::clamp(2 * file_size + 2, smallest, sql::Input::first_capacity);
}

Script read_script(Candidate candidate, NearFolder& near, const ReadOptions& options) {
  Script script;
  auto name = parse_migration_name(base_name(candidate.path));
  if (auto* const problem = std::get_if<NameProblem>(&name)) {
    script.problems.push_back(
        problem_of(candidate.path, "migration_name", std::move(problem->message), std::move(problem->hint)));
    script.unnamed = std::move(candidate.path);
    script.has_config = candidate.has_config;
    return script;
  }
  if (!is_plain(candidate.script())) {
    script.problems.push_back(problem_of(
        candidate.path, "folder_name",
        "the name of a folder on the way is not UTF-8 or has a control character", "Rename the folder."));
    return script;
  }
  Migration migration{.name = std::get<MigrationName>(std::move(name)),
                      .script = std::string(candidate.script()),
                      .path = {},
                      .checksum = {}};
  if (migration.name.kind == MigrationKind::callback) {
    if (auto refusal = refusal_of_event(migration.name.event)) {
      script.problems.push_back(problem_of(candidate.path, "callback_unsupported",
                                           std::move(refusal->message), std::move(refusal->hint)));
    }
  }
  try {
    read_file(candidate, near, options, migration, script);
    migration.path = std::move(candidate.path);
    script.migration = std::move(migration);
  } catch (const Failure& failure) {
    append(script.problems, failure.errors());
  } catch (const std::bad_alloc&) {
    script.problems.push_back(out_of_memory(SourcePosition{printable(candidate.path)}));
  }
  return script;
}

}  // namespace lockstep::files
