#include "db/hashed_script.h"

#include <utility>

#include "db/script_failure.h"

namespace lockstep::db {
namespace {

sql::ReaderOptions with_placeholders(sql::ReaderOptions options, const Migration& migration) {
  options.placeholders = migration.placeholders;
  return options;
}

}  // namespace

HashedScript::HashedScript(const OpenScript& open, const Migration& migration,
                           const sql::ReaderOptions& options)
    : open_(open),
      migration_(migration),
      reader_(
          hashed_script(), [this](const sql::Item&) { return next_included(); },
          with_placeholders(options, migration)) {}

sql::ReadBytes HashedScript::hashed_script() {
  return [this, read = open_(migration_, 0)](char* to, std::size_t at_most) {
    const auto size = read(to, at_most);
    checksum_.update({to, size});
    return size;
  };
}

/// The file that was checked, wherever the command leads now: the checksum covers the command, too.
sql::IncludedFile HashedScript::next_included() {
  if (included_ == migration_.includes.size()) throw file_changed(migration_);
  return {checksum_.watch(open_(migration_, ++included_))};
}

std::string checksum_of(const OpenScript& open, const Migration& migration) {
  ScriptChecksum checksum;
  std::string buffer(256 * 1024, '\0');
  const auto script = open(migration, 0);
  while (const auto size = script(buffer.data(), buffer.size())) checksum.update({buffer.data(), size});
  for (std::size_t i = 1; i <= migration.includes.size(); ++i) {
    const auto included = checksum.watch(open(migration, i));
    while (included(buffer.data(), buffer.size()) > 0) continue;
  }
  return checksum.finish();
}

}  // namespace lockstep::db
