#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/migration_name.h"
#include "core/utf8.h"

using namespace lockstep;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::string prefix_of(MigrationKind kind) {
  switch (kind) {
    case MigrationKind::versioned:
      return "V";
    case MigrationKind::undo:
      return "U";
    case MigrationKind::baseline:
      return "B";
    case MigrationKind::repeatable:
      return "R";
    case MigrationKind::callback:
      return {};
  }
  return {};
}

/// A name that was read can be written again and is then read as the same.
void check_round_trip(const MigrationName& name) {
  const auto start =
      prefix_of(name.kind) + name.event + (name.version ? name.version->text() : std::string{});
  const auto again = parse_migration_name(start + "__" + name.description + ".sql");
  const auto* const read = std::get_if<MigrationName>(&again);
  require(read != nullptr);
  require(read->kind == name.kind && read->event == name.event && read->description == name.description);
  require(read->version == name.version);
}

}  // namespace

/// Reading a name gives a usable name or a problem with a message that can be shown.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto parsed = parse_migration_name(file);
  if (const auto* const name = std::get_if<MigrationName>(&parsed)) {
    require(is_utf8(name->description));
    const bool has_version = name->kind != MigrationKind::repeatable && name->kind != MigrationKind::callback;
    require(name->version.has_value() == has_version);
    require(name->event.empty() == (name->kind != MigrationKind::callback));
    check_round_trip(*name);
  } else {
    const auto& problem = std::get<NameProblem>(parsed);
    require(!problem.message.empty() && !problem.hint.empty());
    require(is_utf8(problem.message) && is_utf8(problem.hint));
  }
  return 0;
}
