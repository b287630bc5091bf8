#include "core/migration.h"

namespace lockstep {
namespace {

SourcePosition position(const sql::Place& place, const std::string& file,
                        const std::vector<Include>& includes) {
  return {.file = place.file == 0 ? file : includes[place.file - 1].file,
          .line = place.line,
          .column = place.column};
}

}  // namespace

std::string recorded_checksum(const Migration& migration) {
  if (migration.placeholder_digest.empty()) return migration.checksum;
  return migration.checksum + "+" + migration.placeholder_digest;
}

std::string version_text(const Migration& migration) {
  return migration.name.version ? migration.name.version->text() : std::string{};
}

void set_place(Error& error, const sql::Place& place, const std::string& file,
               const std::vector<Include>& includes) {
  error.where = position(place, file, includes);
  error.included_from.clear();
  for (auto number = place.file; number > 0;) {
    const auto& at = includes[number - 1].at;
    error.included_from.push_back(position(at, file, includes));
    number = at.file;
  }
}

}  // namespace lockstep
