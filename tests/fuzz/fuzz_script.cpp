#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/directives.h"
#include "core/script_rules.h"
#include "sql/include.h"
#include "sql/meta_arguments.h"
#include "sql/script_reader.h"
#include "sql/survey.h"
#include "sql/target.h"

using namespace lockstep;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// A script and the files that it may include: the first byte of a path tells which.
class Files {
 public:
  explicit Files(std::string_view input) {
    while (files_.size() < most_files) {
      const auto end = input.find('\x01');
      files_.push_back(input.substr(0, end));
      if (end == std::string_view::npos) return;
      input.remove_prefix(end + 1);
    }
  }

  std::string_view script() const { return files_.front(); }
  const std::vector<std::string_view>& opened() const { return opened_; }

  std::optional<sql::IncludedFile> open(std::string_view path, std::size_t piece) {
    const auto wanted = static_cast<unsigned char>(path.front()) % most_files;
    if (wanted >= files_.size() || opened_.size() == most_opened) return std::nullopt;
    opened_.push_back(files_[wanted]);
    return sql::IncludedFile{sql::read_from(files_[wanted], piece), window};
  }

  static constexpr std::size_t window = 32;

 private:
  static constexpr std::size_t most_files = 4;
  static constexpr std::size_t most_opened = 12;

  std::vector<std::string_view> files_;
  std::vector<std::string_view> opened_;
};

/// What a reader said, to compare readings.
struct Seen {
  std::string text;
  sql::Place place;

  friend bool operator==(const Seen&, const Seen&) = default;
};

void look_at_statement(const sql::Item& item) {
  const auto target = sql::target_of(item.text);
  require(target.name.size() <= item.text.size() && target.table.size() <= item.text.size());
  sql::recovery_of(item.statement, item.text);
  sql::command_name(item.statement, item.text);
}

/// The text stands in the file at its place, and what it says can be asked.
void look_at(const sql::Item& item, const Files& files) {
  const auto file = item.place.file == 0 ? files.script() : files.opened().at(item.place.file - 1);
  require(item.place.offset + item.text.size() <= file.size());
  if (item.kind == sql::Item::Kind::meta_command) {
    require(file.substr(item.place.offset).starts_with(item.text));
    sql::echoed_text(item.argument);
    sql::read_include_path(item.argument);
  }
  if (item.kind == sql::Item::Kind::statement) look_at_statement(item);
}

std::vector<Seen> read(std::string_view input, std::size_t piece) {
  Files files(input);
  const auto open = [&](const sql::Item& command) -> std::optional<sql::IncludedFile> {
    const auto path = sql::read_include_path(command.argument);
    if (path.problem || command.inside_statement) return std::nullopt;
    return files.open(path.path, piece);
  };
  const sql::ReaderOptions options{.window = Files::window};
  sql::ScriptReader reader(sql::read_from(files.script(), piece), open, options);
  std::vector<Seen> seen;
  while (const auto item = reader.next()) {
    seen.push_back({std::string(item->text), item->place});
    if (item->statement.kind == sql::StatementKind::copy_from_stdin) {
      std::string data;
      for (auto part = reader.next_copy_data(); !part.empty(); part = reader.next_copy_data()) data += part;
      seen.push_back({data, reader.copy_start()});
    } else {
      look_at(*item, files);
    }
  }
  if (reader.problem()) seen.push_back({reader.problem()->code, reader.problem()->place});
  reader.skip_rest();
  return seen;
}

/// Every file can be judged, and each problem has something to say.
void judge(std::string_view input, std::size_t piece) {
  Files files(input);
  const auto open = [&](const sql::IncludeRequest& request) { return files.open(request.path, piece); };
  const auto survey = sql::survey(sql::read_from(files.script(), piece), {.window = Files::window}, open);
  ScriptFiles names{.script = "V1__a.sql"};
  names.includes.resize(files.opened().size());
  for (const auto& problem : judge_script(survey, {}, names).problems) require(!render(problem).empty());
  for (const auto place : {CallbackPlace::of_its_own, CallbackPlace::within_migration}) {
    for (const auto& problem : judge_callback(survey, {}, names, place).problems)
      require(!render(problem).empty());
  }
  for (const auto& problem : read_script_config(input, "V1__a.sql.conf").problems)
    require(!render(problem).empty());
}

std::string in_single_quotes(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted.append(c == '\'' || c == '\\' ? 2 : 1, c);
  return quoted + "'";
}

/// An argument in quotes is read as what was quoted.
void check_quoted(std::string_view text) {
  const auto arguments = sql::read_meta_arguments(in_single_quotes(text) + " b");
  require(!arguments.problem && arguments.values.size() == 2 && arguments.values.front().text == text);
  require(sql::echoed_text(in_single_quotes(text)) == text);
  const auto path = sql::read_include_path(in_single_quotes(text) + ";");
  require(path.problem || path.path == text);
}

}  // namespace

/// The input is a script and, each behind a byte 1, the files that it may include.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t piece = size == 0 ? 1 : 1 + data[size / 2] % 5;
  require(read(input, std::string_view::npos) == read(input, piece));
  judge(input, piece);
  sql::target_of(input);
  sql::recovery_of({.kind = sql::StatementKind::do_block}, input);
  sql::echoed_text(input);
  sql::read_include_path(input);
  check_quoted(input);
  return 0;
}
