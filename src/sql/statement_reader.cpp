#include "sql/statement_reader.h"

#include <string>
#include <utility>

#include "sql/characters.h"

namespace lockstep::sql {
namespace {

/// Puts the substitution in between where there are placeholders.
Input input_of(std::optional<Substitution>& substitution, ReadBytes read, const ReaderOptions& options) {
  if (options.placeholders == nullptr) return Input(std::move(read), options.window, options.file);
  substitution.emplace(*options.placeholders, options.scope, options.uses);
  substitution->open(std::move(read), options.window, options.file);
  return Input(*substitution, options.window, options.file);
}

}  // namespace

StatementReader::StatementReader(ReadBytes read, const ReaderOptions& options)
    : input_(input_of(substitution_, std::move(read), options)),
      lexer_(input_, options.statement_limit),
      strings_(options.strings) {}

std::optional<Item> StatementReader::next() {
  std::optional<Item> item;
  if (copy_) {
    while (!next_copy_data().empty()) continue;
  }
  if (problem_) return item;
  if (!begun_) skip_byte_order_mark();
  if (blank_to_ > 0) input_.blank(blank_from_, std::exchange(blank_to_, 0));
  switch (lexer_.next(strings_.value())) {
    case Lexer::Stop::statement:
      tell_statement(item.emplace());
      break;
    case Lexer::Stop::meta_command:
      tell_meta_command(item.emplace());
      break;
    case Lexer::Stop::directive:
      tell_directive(item.emplace());
      break;
    case Lexer::Stop::problem:
      problem_ = lexer_.problem();
      break;
    case Lexer::Stop::end:
      break;
  }
  return item;
}

std::string_view StatementReader::next_copy_data() {
  if (!copy_ || copy_->ended()) return {};
  const auto piece = copy_->next();
  if (copy_->ended()) input_.read_as(Around::code);
  if (copy_->problem()) problem_ = copy_->problem();
  return piece;
}

void StatementReader::skip_rest() {
  input_.read_as(Around::kept);
  while (input_.more(input_.offset_of(input_.end()))) continue;
}

void StatementReader::tell_statement(Item& item) {
  item.text = lexer_.statement();
  item.place = lexer_.statement_place();
  tell_replaced(item);
  item.statement = classify(lexer_.head());
  strings_.apply(item.statement);
  copy_.reset();
  if (item.statement.kind != StatementKind::copy_from_stdin) return;
  copy_.emplace(lexer_.cursor(), item.place);
  input_.read_as(Around::kept);
}

void StatementReader::tell_replaced(Item& item) {
  if (!substitution_) return;
  item.begin = input_.offset_of(item.text.data());
  item.replaced = substitution_->replaced();
}

void StatementReader::tell_meta_command(Item& item) {
  const auto& meta = lexer_.meta_command();
  item.kind = Item::Kind::meta_command;
  item.text = trim(lexer_.text());
  item.place = input_.place(lexer_.start());
  item.name = meta.name;
  item.argument = meta.argument;
  item.inside_statement = lexer_.inside_statement();
  if (!item.inside_statement) return;
  const bool stands_for_itself = meta.name == ";" || meta.name == ":";
  blank_from_ = lexer_.start();
  blank_to_ = blank_from_ + (stands_for_itself ? 1 : meta.size);
}

void StatementReader::tell_directive(Item& item) {
  item.kind = Item::Kind::directive;
  item.text = trim(lexer_.text());
  item.place = input_.place(lexer_.start());
  item.argument = trim(item.text.substr(item.text.find(':') + 1));
  if (substitution_) substitution_->set_scope(scope_in(item.argument, substitution_->scope()));
}

void StatementReader::skip_byte_order_mark() {
  begun_ = true;
  auto& cursor = lexer_.cursor();
  if (!cursor.peek(3) || std::string_view(cursor.at, 3) != "\xEF\xBB\xBF") return;
  cursor.at += 3;
  input_.begin_text(cursor.offset());
}

}  // namespace lockstep::sql
