#include "core/migration.h"

namespace lockstep {

std::string version_text(const Migration& migration) {
  return migration.name.version ? migration.name.version->text() : std::string{};
}

}  // namespace lockstep
