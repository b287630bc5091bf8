#include "sql/script_reader.h"

#include <utility>

namespace lockstep::sql {

ScriptReader::ScriptReader(ReadBytes read, OpenAtItem open, const ReaderOptions& options)
    : options_(options), open_(std::move(open)), script_(std::move(read), options) {}

std::optional<Item> ScriptReader::next() {
  auto item = current().next();
  while (!item && !included_.empty() && !current().problem()) {
    leave();
    item = current().next();
  }
  const bool includes = item && item->kind == Item::Kind::meta_command && include_base(item->name);
  if (!includes) return item;
  // The item's text lies in the includer's window, which stays as it is until the file has ended.
  if (auto file = open_(*item)) enter(*std::move(file));
  return item;
}

void ScriptReader::skip_rest() {
  script_.skip_rest();
  for (const auto& file : included_) file->skip_rest();
}

void ScriptReader::enter(IncludedFile file) {
  ++options_.file;
  options_.window = file.window;
  options_.scope = current().scope();
  auto reader = std::make_unique<StatementReader>(std::move(file.read), options_);
  reader->strings() = current().strings();
  included_.push_back(std::move(reader));
}

void ScriptReader::leave() {
  const auto strings = current().strings();
  included_.pop_back();
  current().strings() = strings;
}

}  // namespace lockstep::sql
