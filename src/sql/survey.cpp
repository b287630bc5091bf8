#include "sql/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "sql/encoding.h"
#include "sql/script_reader.h"

namespace lockstep::sql {
namespace {

/// Else nothing that was found in it means anything.
bool is_text(const Problem& encoding) {
  return encoding.code != "utf16" && encoding.code != "pg_dump_archive" && encoding.code != "nul_byte";
}

/// Collects the facts, item by item.
class Surveyor {
 public:
  void look_at(const Item& item) {
    switch (item.kind) {
      case Item::Kind::statement:
        return statement(item);
      case Item::Kind::meta_command:
        return meta_command(item);
      case Item::Kind::directive:
        return directive(item);
    }
  }

  /// What a command that includes a file asks for; nothing if it cannot be granted.
  std::optional<IncludeRequest> include(const Item& item);

  Survey finish(const std::optional<Problem>& lexical, const std::vector<Problem>& encoding);

 private:
  void statement(const Item& item);
  void meta_command(const Item& item);
  void directive(const Item& item);
  void restrict(const Item& item);
  void add_encoding_problem(const Problem& problem);
  void note_boundary(const Item& item);
  Mark mark(const Item& item) const;
  void add_problem(const Item& item, std::string_view code, std::string message, std::string_view hint);
  void add_problem(const Item& item, Problem problem);

  Survey survey_;
  Firsts<Problem> problems_;
  std::optional<Remark> restricted_;
  std::size_t boundaries_ = 0;  ///< statements that begin or end a transaction
  bool ends_with_commit_ = false;
};

Mark Surveyor::mark(const Item& item) const {
  return {survey_.statements, item.place, command_name(item.statement, item.text), item.statement};
}

void Surveyor::add_problem(const Item& item, std::string_view code, std::string message,
                           std::string_view hint) {
  problems_.push_back({std::string(code), std::move(message), std::string(hint), item.place});
}

void Surveyor::add_problem(const Item& item, Problem problem) {
  problem.place = item.place;
  problems_.push_back(std::move(problem));
}

void Surveyor::statement(const Item& item) {
  const auto& its = item.statement;
  ++survey_.statements;
  const bool ordinary =
      its.not_in_transaction_since == 0 && !its.controls_transaction() && its.kind != StatementKind::set;
  if (its.not_in_transaction_since > 0) survey_.non_transactional.push_back(mark(item));
  if (its.drops_session_locks()) survey_.lock_releases.push_back(mark(item));
  if (ordinary && !survey_.first_ordinary) survey_.first_ordinary = mark(item);
  if (its.kind == StatementKind::copy_from_stdin && its.copy_format == CopyFormat::binary) {
    add_problem(item, "copy_binary", "a script cannot hold the binary data of this COPY",
                "Export the data in text or CSV format.");
  }
  note_boundary(item);
}

void Surveyor::note_boundary(const Item& item) {
  const auto kind = item.statement.kind;
  const bool boundary = kind == StatementKind::begin || kind == StatementKind::commit ||
                        kind == StatementKind::rollback || kind == StatementKind::prepare_transaction;
  if (boundary) {
    ++boundaries_;
    survey_.transaction_control.push_back(mark(item));
  }
  if (survey_.statements == 1 && kind == StatementKind::begin) survey_.begin_text = item.text;
  ends_with_commit_ = kind == StatementKind::commit && !item.statement.chains;
}

void Surveyor::meta_command(const Item& item) {
  if (item.name == "restrict" || item.name == "unrestrict") return restrict(item);
  if (item.name == ".") {
    return add_problem(item, "stray_copy_end", "\\. stands where no COPY data end",
                       "Remove it, or put the COPY … FROM STDIN before its data.");
  }
  if (restricted_) {
    return add_problem(item, "restricted",
                       fmt::format("\\{} stands between \\restrict and \\unrestrict", item.name),
                       "psql obeys no command there: move it before or behind the two.");
  }
  if (include_base(item.name)) return;  // see include
  if (is_echo(item.name)) {
    if (auto problem = read_meta_arguments(item.argument).problem) add_problem(item, *std::move(problem));
    return;
  }
  survey_.meta_commands.push_back(
      {item.place, std::string(item.name), std::string(item.argument), item.inside_statement});
}

std::optional<IncludeRequest> Surveyor::include(const Item& item) {
  if (restricted_) return std::nullopt;  // which the item itself will tell
  if (item.inside_statement) {
    add_problem(item, "include_inside_statement",
                fmt::format("\\{} stands in the middle of a statement", item.name),
                "End the statement before it with a semicolon: psql would run the file first, and then go on "
                "with the statement.");
    return std::nullopt;
  }
  auto [path, problem] = read_include_path(item.argument);
  if (!problem) return IncludeRequest{std::move(path), *include_base(item.name), item.place};
  add_problem(item, *std::move(problem));
  return std::nullopt;
}

/// As psql has it: \unrestrict with the same key ends \restrict, and nothing else may come between.
void Surveyor::restrict(const Item& item) {
  const bool opens = item.name == "restrict";
  if (opens && !restricted_) {
    restricted_ = Remark{item.place, std::string(item.name), std::string(item.argument)};
    return;
  }
  const bool matches = !opens && restricted_ && restricted_->argument == item.argument;
  if (!matches) {
    add_problem(item, "unpaired_restrict",
                fmt::format("\\{} does not belong to a \\restrict with its key", item.name),
                "Take the lines \\restrict and \\unrestrict over from pg_dump together, or remove both.");
  }
  restricted_.reset();
}

void Surveyor::directive(const Item& item) {
  if (item.place.file != 0) {
    return add_problem(item, "directive_included", "this setting stands in a file that is included",
                       "Move the line to the top of the migration.");
  }
  auto& directives = survey_.statements == 0 ? survey_.directives : survey_.late_directives;
  directives.push_back({.place = item.place,
                        .name = {},
                        .argument = std::string(item.argument),
                        .text = std::string(item.text)});
}

void Surveyor::add_encoding_problem(const Problem& problem) {
  auto& problems = survey_.problems;
  if (!is_text(problem)) {
    std::erase_if(problems, [&](const Problem& other) { return other.place.file == problem.place.file; });
    survey_.more_problems = 0;
  }
  problems.push_back(problem);
}

Survey Surveyor::finish(const std::optional<Problem>& lexical, const std::vector<Problem>& encoding) {
  survey_.problems.assign(problems_.begin(), problems_.end());
  survey_.more_problems = problems_.left_out();
  if (lexical) survey_.problems.push_back(*lexical);
  if (restricted_ && !lexical) {
    survey_.problems.push_back(
        {"unpaired_restrict", "\\restrict is not followed by an \\unrestrict with its key",
         "Take the lines \\restrict and \\unrestrict over from pg_dump together, or remove both.",
         restricted_->place});
  }
  for (const auto& problem : encoding) add_encoding_problem(problem);
  const auto earlier = [](const Problem& a, const Problem& b) {
    return std::tie(a.place.file, a.place.offset) < std::tie(b.place.file, b.place.offset);
  };
  std::stable_sort(survey_.problems.begin(), survey_.problems.end(), earlier);
  survey_.wrapped = !survey_.begin_text.empty() && ends_with_commit_ && boundaries_ == 2;
  if (!survey_.wrapped) survey_.begin_text.clear();
  return std::move(survey_);
}

/// How much of what was read is given on: of what is no text nothing more, since a disk image has no end.
std::size_t watched(EncodingCheck& encoding, std::string_view bytes) {
  encoding.watch(bytes);
  return encoding.problem() && !is_text(*encoding.problem()) ? 0 : bytes.size();
}

/// Looks at the bytes of a script and of the files that it includes while they are read.
class EncodingChecks {
 public:
  ReadBytes watch_script(const ReadBytes& read) {
    return [this, &read](char* to, std::size_t at_most) { return watched(script_, {to, read(to, at_most)}); };
  }

  ReadBytes watch_next(ReadBytes read) {
    auto* const encoding =
        included_.emplace_back(std::make_unique<EncodingCheck>(included_.size() + 1)).get();
    return [read = std::move(read), encoding](char* to, std::size_t at_most) {
      return watched(*encoding, {to, read(to, at_most)});
    };
  }

  std::vector<Problem> finish() {
    std::vector<Problem> problems;
    const auto look_at = [&problems](EncodingCheck& encoding) {
      encoding.finish();
      if (encoding.problem()) problems.push_back(*encoding.problem());
    };
    look_at(script_);
    for (const auto& encoding : included_) look_at(*encoding);
    return problems;
  }

 private:
  EncodingCheck script_;
  std::vector<std::unique_ptr<EncodingCheck>> included_;
};

}  // namespace

Survey survey(const ReadBytes& read, const ReaderOptions& options, const OpenIncluded& open) {
  Surveyor surveyor;
  EncodingChecks encodings;
  const auto open_at = [&](const Item& item) {
    std::optional<IncludedFile> file;
    const auto request = surveyor.include(item);
    if (request && open) file = open(*request);
    if (file) file->read = encodings.watch_next(std::move(file->read));
    return file;
  };
  PlaceholderUses placeholders;
  auto noting = options;
  noting.uses = &placeholders;
  ScriptReader reader(encodings.watch_script(read), open_at, noting);
  while (const auto item = reader.next()) surveyor.look_at(*item);
  if (reader.problem()) reader.skip_rest();
  auto survey = surveyor.finish(reader.problem(), encodings.finish());
  survey.placeholders = std::move(placeholders);
  return survey;
}

}  // namespace lockstep::sql
