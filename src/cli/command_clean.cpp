#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

#include "cli/commands.h"
#include "cli/text_table.h"
#include "core/clean.h"
#include "core/text.h"

namespace lockstep::cli {
namespace {

Failure not_enabled() {
  Error error{.kind = ErrorKind::config, .code = "clean_disabled"};
  error.message = "clean is not allowed here: it drops every table with its rows, and there is no way back";
  error.hints = {
      "Allow it for databases that can be lost, and only for these, with clean.enabled = true in a section "
      "[env.NAME.clean] of lockstep.toml, or LOCKSTEP_CLEAN_ENABLED=true.",
      "lockstep clean --dry-run shows what it would drop."};
  return Failure(std::move(error));
}

Failure needs_confirmation(const std::string& database) {
  Error error{.kind = ErrorKind::usage, .code = "confirmation_needed"};
  error.message =
      "clean asks for the name of the database before it drops anything, and nobody can answer here";
  error.hints = {fmt::format("If database {} can be lost, run it with --confirm {}.", database, database)};
  return Failure(std::move(error));
}

Failure other_database(const std::string& given, const std::string& database) {
  Error error{.kind = ErrorKind::usage, .code = "other_database"};
  error.message = fmt::format("--confirm names database {}, but this is {}", printable(given), database);
  error.hints = {"Nothing was dropped. Look at the connection: lockstep config shows where it comes from."};
  return Failure(std::move(error));
}

Failure declined() {
  return Failure(Error{.kind = ErrorKind::negative, .code = "declined", .message = "nothing was dropped"});
}

/// "schema public of database shop", "schemas app, audit of database shop".
std::string place(const std::vector<std::string>& schemas, const std::string& database) {
  return fmt::format("schema{} {} of database {}", schemas.size() == 1 ? "" : "s",
                     printable_line(fmt::format("{}", fmt::join(schemas, ", "))), printable_line(database));
}

void confirm(Run& run, const Inventory& inventory, const std::string& where, const std::string& database) {
  if (const auto given = run.arguments().value("--confirm")) {
    if (*given != database) throw other_database(*given, database);
    return;
  }
  const auto& context = run.context();
  if (!context.in_is_terminal) throw needs_confirmation(database);
  run.log().settle();
  context.err << fmt::format("This drops {} from {}, with all rows. Type the database's name to go on: ",
                             counted(inventory.objects.size(), "object"), where)
              << std::flush;
  if (context.read_answer().value_or("") != database) throw declined();
}

std::string table_of(const Inventory& inventory, Coloring coloring) {
  TextTable table({"kind", "name"});
  for (const auto& [kind, name] : inventory.objects) table.add({{kind}, {name}});
  return table.render(coloring);
}

void list(const Inventory& inventory, Result& result) {
  auto& objects = result.fields["objects"] = Json::array();
  for (const auto& [kind, name] : inventory.objects) objects.push_back({{"kind", kind}, {"name", name}});
}

void warn_of_missing(Run& run, const Inventory& inventory) {
  for (const auto& schema : inventory.missing_schemas)
    run.log().warning(fmt::format("there is no schema {}, so nothing to drop in it", schema));
}

}  // namespace

void run_clean(Run& run, Result& result) {
  result.fields = {
      {"database", nullptr}, {"schemas", Json::array()}, {"cleaned", false}, {"objects", Json::array()}};
  const bool dry_run = run.arguments().has("--dry-run");
  if (!dry_run && !run.settings().clean_enabled) throw not_enabled();
  const auto database = run.connect(dry_run ? Access::read : Access::write);
  const auto& name = database->facts().database;
  const auto schemas = schemas_to_clean(run.settings().clean_schemas, database->facts());
  const auto where = place(schemas, name);
  result.fields["database"] = name;
  result.fields["schemas"] = schemas;

  auto inventory = database->inventory(schemas);
  list(inventory, result);
  warn_of_missing(run, inventory);
  if (inventory.objects.empty()) {
    result.text = fmt::format("nothing to drop in {}\n", where);
    return;
  }
  if (dry_run) {
    result.text = fmt::format("would drop {} from {}:\n\n{}", counted(inventory.objects.size(), "object"),
                              where, table_of(inventory, run.coloring()));
  }
  refuse_dependents(inventory);
  if (dry_run) return;

  confirm(run, inventory, where, name);
  inventory = clean(*database, schemas, run.lock_policy(), run.log());
  list(inventory, result);
  result.fields["cleaned"] = true;
  result.text = fmt::format("dropped {} from {}\n", counted(inventory.objects.size(), "object"), where);
}

}  // namespace lockstep::cli
