#include "sql/target.h"

#include <algorithm>
#include <array>

#include "sql/characters.h"
#include "sql/lexer.h"
#include "sql/phrase.h"
#include "sql/source.h"

namespace lockstep::sql {
namespace {

using Kind = StatementKind;

/// A word of the text is one of those that end transactions or run what may do so. Constants and comments
/// count as well: a DO that only seems to commit is merely treated with more care.
bool may_commit(std::string_view text) {
  static constexpr std::array<std::string_view, 4> words = {"commit", "rollback", "call", "execute"};
  const auto is_part = [](char c) { return is_ascii_letter(c) || c == '_'; };
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if(at, text.end(), is_part);
    const auto end = std::find_if_not(at, text.end(), is_part);
    const std::string_view word(at, end);
    if (std::any_of(words.begin(), words.end(), [word](auto known) { return same_word(word, known); }))
      return true;
    at = end;
  }
  return false;
}

std::string name_of(Phrase& phrase) {
  std::string name;
  do {
    // A name in Unicode escapes would have to be decoded.
    if (phrase.is(Token::Kind::quoted_name) && !phrase.text().starts_with('"')) return {};
    name.append(name.empty() ? "" : ".").append(phrase.text());
    phrase.skip();
  } while (phrase.accept_symbol('.'));
  return name;
}

void read_create(Phrase phrase, Target& target) {
  phrase.accept("unique");
  const bool is_index = phrase.accept("index", "concurrently");
  if (!is_index) phrase.skip();
  phrase.accept("if", "not", "exists");
  if (!phrase.is("on")) target.name = name_of(phrase);
  if (!is_index || !phrase.accept("on")) return;
  phrase.accept("only");
  target.table = name_of(phrase);
}

void read_drop(Phrase phrase, Target& target) {
  if (!phrase.accept("index", "concurrently")) phrase.skip();
  phrase.accept("if", "exists");
  target.name = name_of(phrase);
}

void read_reindex(Phrase phrase, Target& target) {
  phrase.parenthesized();
  const bool is_index = phrase.is("index");
  const bool is_table = phrase.is("table");
  phrase.skip();
  phrase.accept("concurrently");
  if (is_index) target.name = name_of(phrase);
  if (is_table) target.table = name_of(phrase);
}

void read_alter(Phrase phrase, Target& target) {
  if (!phrase.accept("table")) return;
  phrase.accept("if", "exists");
  phrase.accept("only");
  target.table = name_of(phrase);
  if (phrase.accept("detach", "partition")) target.name = name_of(phrase);
}

void read_prepared(Phrase phrase, Target& target) {
  if (phrase.accept("prepared") && phrase.is(Token::Kind::string)) target.name = unquoted(phrase.text());
}

}  // namespace

Recovery recovery_of(const StatementClass& statement, std::string_view text) {
  switch (statement.kind) {
    case Kind::reindex_concurrently:
    case Kind::reindex_many:
    case Kind::vacuum:
    case Kind::cluster_all:
    case Kind::alter_system:
    case Kind::alter_database_tablespace:
      return Recovery::again;
    case Kind::create_index_concurrently:
    case Kind::drop_index_concurrently:
    case Kind::detach_partition_concurrently:
    case Kind::create_database:
    case Kind::drop_database:
    case Kind::create_tablespace:
    case Kind::drop_tablespace:
    case Kind::create_subscription:
    case Kind::drop_subscription:
    case Kind::commit_prepared:
    case Kind::rollback_prepared:
      return Recovery::look_up;
    case Kind::do_block:
      return may_commit(text) ? Recovery::ask : Recovery::together;
    case Kind::call:
      return Recovery::ask;
    default:
      return statement.not_in_transaction_since > 0 ? Recovery::ask : Recovery::together;
  }
}

Target target_of(std::string_view statement) {
  Input input(read_from(statement), statement.size() + 1);
  Lexer lexer(input, statement.size() + 1);
  if (lexer.next(Strings::standard) != Lexer::Stop::statement) return {};
  const auto head = lexer.head();
  Target target{.kind = classify(head).kind};
  Phrase phrase(head);
  if (phrase.accept("create")) {
    read_create(phrase, target);
  } else if (phrase.accept("drop")) {
    read_drop(phrase, target);
  } else if (phrase.accept("reindex")) {
    read_reindex(phrase, target);
  } else if (phrase.accept("alter")) {
    read_alter(phrase, target);
  } else if (phrase.accept("commit") || phrase.accept("rollback")) {
    read_prepared(phrase, target);
  }
  return target;
}

}  // namespace lockstep::sql
