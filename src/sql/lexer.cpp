#include "sql/lexer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sql/characters.h"
#include "sql/classify.h"

namespace lockstep::sql {
namespace {

/// With so many tokens collected, only those outside of parentheses still matter.
constexpr std::size_t full_head = 128;

/// The word that digits run into belongs to the number: 0x1f, 1e5, and with its sign 1e-5.
const char* skip_number_end(const char* at) {
  const char* const from = at;
  while (continues_word(*at)) ++at;
  const bool exponent = at == from + 1 && to_lower(*from) == 'e';
  return exponent && (*at == '-' || *at == '+') ? at + 1 : at;
}

const char* skip_number(const char* at) {
  while (is_digit(*at)) ++at;
  return starts_word(*at) ? skip_number_end(at) : at;
}

/// The mark of a directive is looked for in so many bytes of a comment, no matter how many there are at hand.
constexpr std::size_t directive_reach = 256;

bool is_directive(std::string_view comment) {
  comment.remove_prefix(2);
  while (!comment.empty() && (comment.front() == ' ' || comment.front() == '\t')) comment.remove_prefix(1);
  return comment.starts_with("lockstep:");
}

}  // namespace

Lexer::Lexer(Input& input, std::size_t statement_limit) : input_(input), cursor_(input) {
  cursor_.limit = statement_limit;
  head_.reserve(2 * shortest_head);
  head_tokens_.reserve(2 * shortest_head);
}

Lexer::Stop Lexer::next(Strings strings) {
  if (stop_ == Stop::statement) reset();
  strings_ = strings;
  for (stop_.reset(); !stop_;) step();
  return *stop_;
}

void Lexer::forget_statement() {
  if (stop_ == Stop::statement) {
    reset();
    stop_.reset();
  }
  cursor_.shrink();
}

void Lexer::reset() {
  open_ = false;
  recording_ = true;
  head_.clear();
  parentheses_ = 0;
  body_ = {};
  cursor_.keep_from = Cursor::nothing;
  cursor_.limit_met = false;
}

void Lexer::step() {
  if (!recording_) {
    while (is_skippable(*cursor_.at)) ++cursor_.at;
  }
  if (cursor_.left() < 3 && wants_more() && cursor_.refill())
    return;                                     // every short mark is whole now, or the file ends
  if (starts_word(*cursor_.at)) return word();  // most are: this is faster than the switch alone
  switch (class_of(*cursor_.at)) {
    case ByteClass::blank:
      ++cursor_.at;
      return;
    case ByteClass::letter:
      return word();
    case ByteClass::digit:
      return number();
    case ByteClass::quote:
      return quoted(0, Token::Kind::string, strings_);
    case ByteClass::double_quote:
      return quoted(0, Token::Kind::quoted_name, Strings::standard);
    case ByteClass::dollar:
      return dollar();
    case ByteClass::dash:
      return dash();
    case ByteClass::slash:
      return slash();
    case ByteClass::backslash:
      return backslash();
    case ByteClass::open:
      return open_parenthesis();
    case ByteClass::close:
      return close_parenthesis();
    case ByteClass::semicolon:
      return semicolon();
    case ByteClass::plain:
      return symbol();
    case ByteClass::nul:
      return cursor_.left() == 0 ? finish() : symbol();
  }
}

/// A placeholder is read over only where the bytes before it do not mean something by themselves.
bool Lexer::wants_more() const {
  const bool may_be_two = *cursor_.at == '-' || *cursor_.at == '/';
  return !input_.at_placeholder() || cursor_.left() < (may_be_two ? 2U : 1U);
}

/// The window's end may have cut the token that ends at `to`: then more is at hand now, pointers into the
/// window are void, and the token is to be read again.
bool Lexer::is_cut(const char* to) {
  if (cursor_.end - to >= 2 || input_.ended() || cursor_.limit_met) return false;
  if (to < cursor_.end && input_.at_placeholder()) return false;
  cursor_.refill();
  return true;
}

void Lexer::word() {
  const char* const from = cursor_.at;
  const char* to = from + 1;
  while (continues_word(*to)) ++to;
  if (is_cut(to)) return;
  const std::string_view text(from, static_cast<std::size_t>(to - from));
  if (!recording_ && is_digit(from[-1])) {
    cursor_.at = skip_number_end(from);
    return;
  }
  if (text.size() == 1 && (*to == '\'' || *to == '&') && prefixed()) return;
  body_.word(text, parentheses_);
  begin_token();
  cursor_.at = to;
  end_token(Token::Kind::word, input_.offset_of(from));
}

/// E'…', B'…', X'…', N'…', U&'…' and U&"…" in either case. False: a word like any other.
bool Lexer::prefixed() {
  const char letter = to_lower(cursor_.at[0]);
  const bool unicode = letter == 'u' && cursor_.at[1] == '&';
  if (unicode && cursor_.at[2] == '\'') return quoted(2, Token::Kind::string, Strings::standard), true;
  if (unicode && cursor_.at[2] == '"') return quoted(2, Token::Kind::quoted_name, Strings::standard), true;
  if (unicode) return symbol(), true;  // psql does not count this letter as a word
  if (cursor_.at[1] == '&') return false;
  if (letter == 'e') return quoted(1, Token::Kind::string, Strings::backslash_escapes), true;
  if (letter == 'b' || letter == 'x') return quoted(1, Token::Kind::string, Strings::standard), true;
  if (letter == 'n') return quoted(1, Token::Kind::string, strings_), true;
  return false;
}

void Lexer::number() {
  const char* const to = skip_number(cursor_.at);
  if (is_cut(to)) return;
  begin_token();
  const auto from = cursor_.offset();
  cursor_.at = to;
  end_token(Token::Kind::number, from);
}

void Lexer::quoted(std::size_t prefix, Token::Kind kind, Strings strings) {
  begin_token();
  const auto from = cursor_.offset();
  const char quote = kind == Token::Kind::string ? '\'' : '"';
  cursor_.at += prefix + 1;
  input_.read_as(Around::quoted);
  bool closed = strings == Strings::standard ? skip_quoted(cursor_, quote) : skip_escaped(cursor_);
  // Where strings_ is the same, what continues this one reads like a string of its own.
  const bool continues = strings == Strings::backslash_escapes && strings_ == Strings::standard;
  while (closed && continues && skip_to_continuation(cursor_)) closed = skip_escaped(cursor_);
  input_.read_as(Around::code);
  if (closed) return end_token(kind, from);
  if (kind == Token::Kind::string) {
    return fail(input_.place(from), "unterminated_string", "this string is never closed",
                "Close it with a single quote; a quote inside a string is written twice.");
  }
  fail(input_.place(from), "unterminated_identifier", "this quoted identifier is never closed",
       "Close it with a double quote; a double quote inside an identifier is written twice.");
}

void Lexer::dollar() {
  const char* to = cursor_.at + 1;
  const bool parameter = is_digit(*to);
  if (parameter) {
    to = skip_number(to);
  } else if (starts_word(*to)) {
    while (continues_tag(*to)) ++to;
  }
  const bool closes_tag = !parameter && to == cursor_.end && input_.at_dollar();
  if (closes_tag) input_.read_as(Around::kept);
  const bool cut = is_cut(to);
  input_.read_as(Around::code);
  if (cut) return;
  if (!parameter && *to == '$') return dollar_quoted(std::string(cursor_.at, to + 1));
  begin_token();
  const auto from = cursor_.offset();
  cursor_.at = parameter ? to : cursor_.at + 1;
  end_token(Token::Kind::symbol, from);
}

void Lexer::dollar_quoted(const std::string& tag) {
  begin_token();
  const auto from = cursor_.offset();
  cursor_.at += tag.size();
  input_.read_as(Around::body);
  const bool closed = skip_dollar_quoted(cursor_, tag);
  input_.read_as(Around::code);
  if (closed) return end_token(Token::Kind::string, from);
  fail(input_.place(from), "unterminated_dollar_quote", "the text quoted by " + tag + " is never closed",
       "End it with " + tag + ", in the same upper and lower case.");
}

void Lexer::dash() {
  if (cursor_.at[1] != '-') return symbol();
  if (!open_) {
    cursor_.peek(directive_reach);
    if (is_directive({cursor_.at, std::min(cursor_.left(), directive_reach)})) {
      start_ = cursor_.offset();
      input_.read_as(Around::kept);
      cursor_.seek(cursor_.line_end());
      input_.read_as(Around::code);
      stop_ = Stop::directive;
      return;
    }
  }
  leave_code();
  skip_line_comment(cursor_);
  input_.read_as(Around::code);
  code_ = cursor_.offset();
}

void Lexer::slash() {
  if (cursor_.at[1] != '*') return symbol();
  leave_code();
  const auto from = input_.place(cursor_.offset());
  cursor_.at += 2;
  const bool closed = skip_block_comment(cursor_);
  input_.read_as(Around::code);
  if (!closed) {
    return fail(from, "unterminated_comment", "this comment is never closed",
                "Close it with */; comments nest, so each /* inside needs its own.");
  }
  code_ = cursor_.offset();
}

void Lexer::open_parenthesis() {
  ++parentheses_;
  symbol();
}

void Lexer::close_parenthesis() {
  symbol();
  if (parentheses_ > 0) --parentheses_;
}

void Lexer::semicolon() {
  if (parentheses_ > 0 || body_.open()) return symbol();
  leave_code();
  ++cursor_.at;
  if (open_) stop_ = Stop::statement;
}

void Lexer::backslash() {
  leave_code();
  start_ = cursor_.offset();
  input_.read_as(Around::quoted);
  const auto line_end = cursor_.line_end();
  input_.read_as(Around::code);
  meta_ = read_meta_command(input_.view(start_, line_end));
  cursor_.seek(start_ + meta_.size);
  const bool stands_for_itself = meta_.name == ";" || meta_.name == ":";
  if (meta_.name == ";") body_.forget_words();
  if (open_ && stands_for_itself) end_token(Token::Kind::symbol, start_ + 1);
  stop_ = Stop::meta_command;
}

void Lexer::symbol() {
  begin_token();
  const auto from = cursor_.offset();
  ++cursor_.at;
  end_token(Token::Kind::symbol, from);
}

void Lexer::finish() {
  if (cursor_.limit_met) return fail(begin_place_, {}, {}, {});
  leave_code();
  stop_ = open_ ? Stop::statement : Stop::end;
}

void Lexer::begin_token() {
  if (open_) return;
  open_ = true;
  begin_ = code_ = cursor_.offset();
  begin_place_ = input_.place(begin_);
  cursor_.keep_from = begin_;
}

void Lexer::end_token(Token::Kind kind, std::size_t from) {
  if (!recording_) return;
  const bool kept = parentheses_ == 0 || head_.size() < full_head;
  if (kept) head_.push_back({kind, parentheses_, from - begin_, cursor_.offset() - from});
  if (kept && head_.size() <= shortest_head) head_limit_ = useful_head(head());
  recording_ = head_.size() < head_limit_;
}

/// Tokens end here for now: notes where the last one ended.
void Lexer::leave_code() {
  if (!open_) return;
  const char* const code = input_.at(code_);
  const char* end = cursor_.at;
  while (end > code && is_blank(end[-1])) --end;
  if (end > code) last_ = input_.offset_of(end);
}

std::span<const Token> Lexer::head() {
  head_tokens_.clear();
  const char* const text = input_.at(begin_);
  for (const auto& token : head_) {
    head_tokens_.push_back({token.kind, token.depth, {text + token.offset, token.size}});
  }
  return head_tokens_;
}

void Lexer::fail(const Place& place, std::string_view code, std::string_view message, std::string_view hint) {
  stop_ = Stop::problem;
  problem_ = {std::string(code), std::string(message), std::string(hint), place};
  if (!cursor_.limit_met) return;
  problem_ = {"statement_too_large", "this statement is larger than the server takes in one message (1 GB)",
              "Split it, or load the data with COPY.", begin_place_};
}

}  // namespace lockstep::sql
