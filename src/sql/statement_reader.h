#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "sql/classify.h"
#include "sql/copy_data.h"
#include "sql/input.h"
#include "sql/lexer.h"
#include "sql/source.h"
#include "sql/string_setting.h"
#include "sql/substitution.h"

namespace lockstep::sql {

struct ReaderOptions {
  /// standard_conforming_strings of the session that the file runs in. The file may change it on the way.
  Strings strings = Strings::standard;
  /// Larger statements are a problem. The server takes messages of up to 1 GB less 2 bytes
  /// (PQ_LARGE_MESSAGE_LIMIT), their length and final zero included.
  std::size_t statement_limit = 0x3fffffff - 6;
  /// How much is read at a time at first. For a small file a little more than twice its size is enough.
  std::size_t window = Input::first_capacity;
  /// Which file of a script it is: see Place.
  std::size_t file = 0;
  /// What to replace; nullptr: nothing. It must outlive the reader.
  const Placeholders* placeholders = nullptr;
  /// Until a directive of the file says something else.
  PlaceholderScope scope = PlaceholderScope::on;
  /// Where to note what became of them; may be nullptr.
  PlaceholderUses* uses = nullptr;
};

/// A piece of a script that means something. The views are valid until the reader's next call.
struct Item {
  enum class Kind : std::uint8_t {
    statement,
    meta_command,  ///< a psql command, "\name argument"
    directive,     ///< a comment "-- lockstep: argument" between statements
  };

  Kind kind = Kind::statement;
  /// As in the file, with its placeholders replaced, from the first token to the last, without the semicolon.
  /// A meta-command inside a statement comes before it; in the statement's text blanks stand in its place.
  std::string_view text = {};
  Place place = {};  ///< of its first byte
  StatementClass statement = {};
  std::string_view name = {};      ///< of a meta-command: "restrict"; ";" and ":" for psql's \; and \:
  std::string_view argument = {};  ///< of a meta-command or directive, without blanks around it
  bool inside_statement = false;   ///< a meta-command in the middle of a statement
  std::size_t begin = 0;           ///< where the text begins, counted as in `replaced`
  std::span<const Replaced> replaced = {};  ///< the values in it, and others
};

/// Reads a script once, front to back, as psql would cut it. Memory holds the current statement and no more.
///
/// Every byte of the file is in an item, in COPY data, or in a gap of blanks, comments, semicolons, `\.`
/// lines and a byte order mark at the start.
class StatementReader {
 public:
  explicit StatementReader(ReadBytes read, const ReaderOptions& options = {});
  StatementReader(const StatementReader&) = delete;
  StatementReader& operator=(const StatementReader&) = delete;

  /// The next item. Nothing at the end of the file or when there is a problem: look at `problem`. Skips COPY
  /// data that was not read.
  std::optional<Item> next();

  /// After a COPY … FROM STDIN: the next piece of its data, whole lines or a part of a very long one, without
  /// the `\.` line. Empty at its end.
  std::string_view next_copy_data();
  /// Where that data begins: the server counts the lines of its messages from here. Known after the first
  /// piece.
  Place copy_start() const { return copy_ ? copy_->start() : Place{}; }

  const std::optional<Problem>& problem() const { return problem_; }

  /// The last item is done with, before the next is asked for: a large one's memory is given back.
  void forget_item() { lexer_.forget_statement(); }

  /// Reads the file to its end and forgets it.
  void skip_rest();

  /// standard_conforming_strings behind the last item. A file that is included goes on with it, and hands it
  /// back.
  StringSetting& strings() { return strings_; }
  /// So does what is replaced.
  PlaceholderScope scope() const { return substitution_ ? substitution_->scope() : PlaceholderScope::off; }

 private:
  void tell_statement(Item& item);
  void tell_replaced(Item& item);
  void tell_meta_command(Item& item);
  void tell_directive(Item& item);
  void skip_byte_order_mark();

  std::optional<Substitution> substitution_;
  Input input_;
  Lexer lexer_;
  StringSetting strings_;
  std::optional<CopyData> copy_;
  std::optional<Problem> problem_;
  std::size_t blank_from_ = 0;  ///< a meta-command to take out of the statement around it
  std::size_t blank_to_ = 0;
  bool begun_ = false;
};

}  // namespace lockstep::sql
