#include "sql/statement_reader.h"

#include <string>
#include <utility>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

StatementReader::StatementReader(ReadBytes read, const ReaderOptions& options)
    : input_(std::move(read), options.window),
      lexer_(input_, options.statement_limit),
      strings_(options.strings) {}

std::optional<Item> StatementReader::next() {
  while (!next_copy_data().empty()) continue;
  if (problem_) return std::nullopt;
  if (!begun_) skip_byte_order_mark();
  if (blank_to_ > 0) input_.blank(blank_from_, std::exchange(blank_to_, 0));
  switch (lexer_.next(strings_.value())) {
    case Lexer::Stop::statement:
      return statement();
    case Lexer::Stop::meta_command:
      return meta_command();
    case Lexer::Stop::directive:
      return directive();
    case Lexer::Stop::problem:
      problem_ = lexer_.problem();
      return std::nullopt;
    case Lexer::Stop::end:
      return std::nullopt;
  }
  return std::nullopt;
}

std::string_view StatementReader::next_copy_data() {
  if (!copy_ || copy_->ended()) return {};
  const auto piece = copy_->next();
  if (copy_->problem()) problem_ = copy_->problem();
  return piece;
}

Item StatementReader::statement() {
  Item item{.kind = Item::Kind::statement, .text = lexer_.statement(), .place = lexer_.statement_place()};
  item.statement = classify(lexer_.head());
  item.statement.names_advisory_unlock = lexer_.names_advisory_unlock();
  strings_.apply(item.statement);
  copy_.reset();
  if (item.statement.kind == StatementKind::copy_from_stdin) copy_.emplace(lexer_.cursor(), item.place);
  return item;
}

Item StatementReader::meta_command() {
  const auto& meta = lexer_.meta_command();
  Item item{
      .kind = Item::Kind::meta_command, .text = trim(lexer_.text()), .place = input_.place(lexer_.start())};
  item.name = meta.name;
  item.argument = meta.argument;
  item.inside_statement = lexer_.inside_statement();
  if (item.inside_statement) {
    blank_from_ = lexer_.start();
    const bool stands_for_itself = meta.name == ";" || meta.name == ":";
    blank_to_ = blank_from_ + (stands_for_itself ? 1 : meta.size);
  }
  return item;
}

Item StatementReader::directive() {
  Item item{
      .kind = Item::Kind::directive, .text = trim(lexer_.text()), .place = input_.place(lexer_.start())};
  item.argument = trim(item.text.substr(item.text.find(':') + 1));
  return item;
}

void StatementReader::skip_byte_order_mark() {
  begun_ = true;
  auto& cursor = lexer_.cursor();
  if (!cursor.ensure(3) || std::string_view(cursor.at, 3) != "\xEF\xBB\xBF") return;
  cursor.at += 3;
  input_.begin_text(cursor.offset());
}

}  // namespace lockstep::sql
