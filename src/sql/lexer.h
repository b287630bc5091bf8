#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/cursor.h"
#include "sql/meta_command.h"
#include "sql/routine_body.h"
#include "sql/source.h"
#include "sql/token.h"

namespace lockstep::sql {

/// How '…' without a prefix is read: the server's setting standard_conforming_strings.
enum class Strings { standard, backslash_escapes };

/// Finds where statements, meta-commands and directives begin and end. Psql's rules (psqlscan.l), with one
/// difference: psql is fed line by line and so does not see that E'…' is continued on the next line; the
/// server and this lexer do.
class Lexer {
 public:
  enum class Stop { statement, meta_command, directive, end, problem };

  Lexer(Input& input, std::size_t statement_limit);

  /// Reads up to the end of the next statement, or to a meta-command or directive on the way.
  Stop next(Strings strings);

  /// After Stop::statement, valid until the next call: from the first token to the last; its place; its first
  /// tokens.
  std::string_view statement() const { return input_.view(begin_, last_); }
  const Place& statement_place() const { return begin_place_; }
  std::span<const Token> head();

  /// After Stop::meta_command and Stop::directive, valid until the next call: offset and text.
  std::size_t start() const { return start_; }
  std::string_view text() const { return input_.view(start_, cursor_.offset()); }
  const MetaCommand& meta_command() const { return meta_; }
  /// The meta-command stands inside a statement that goes on behind it.
  bool inside_statement() const { return open_; }

  /// Gives back the memory of a statement that has ended: what it was is not valid any more.
  void forget_statement();

  const Problem& problem() const { return problem_; }
  /// Behind the last byte read.
  Cursor& cursor() { return cursor_; }

 private:
  struct RawToken {
    Token::Kind kind;
    std::size_t depth;
    std::size_t offset;  ///< from the statement's first byte
    std::size_t size;
  };

  void step();
  bool wants_more() const;
  bool is_cut(const char* to);
  void word();
  bool prefixed();
  void number();
  void quoted(std::size_t prefix, Token::Kind kind, Strings strings);
  void dollar();
  void dollar_quoted(const std::string& tag);
  void dash();
  void slash();
  void open_parenthesis();
  void close_parenthesis();
  void semicolon();
  void backslash();
  void symbol();
  void finish();

  void begin_token();
  void end_token(Token::Kind kind, std::size_t from);
  void leave_code();
  void reset();
  void fail(const Place& place, std::string_view code, std::string_view message, std::string_view hint);

  Input& input_;
  Cursor cursor_;
  Strings strings_ = Strings::standard;
  std::optional<Stop> stop_;
  RoutineBody body_;
  MetaCommand meta_;
  Problem problem_;
  std::vector<RawToken> head_;
  std::vector<Token> head_tokens_;
  std::size_t head_limit_ = 0;
  std::size_t parentheses_ = 0;
  Place begin_place_;
  std::size_t begin_ = 0;  ///< the statement's first byte
  std::size_t last_ = 0;   ///< behind its last token before code_
  std::size_t code_ = 0;   ///< behind the last comment in it
  std::size_t start_ = 0;
  bool open_ = false;      ///< a statement has begun
  bool recording_ = true;  ///< its head is being collected
};

}  // namespace lockstep::sql
