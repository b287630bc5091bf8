#include "core/clean.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lockstep {
namespace {

constexpr std::size_t most_lines = 100;

bool is_servers_own(const std::string& schema) {
  return schema.starts_with("pg_") || schema == "information_schema";
}

Failure servers_own(const std::string& schema) {
  return Failure(Error{.kind = ErrorKind::config,
                       .code = "system_schema",
                       .message = fmt::format("clean.schemas: {} belongs to the server", schema),
                       .hints = {"Name only schemas that your migrations fill."}});
}

std::string listed(const std::vector<Dependent>& dependents) {
  std::string text;
  const auto shown = std::min(dependents.size(), most_lines);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [object, on] = dependents[i];
    text += fmt::format("{}{} depends on {}", i == 0 ? "" : "\n", object, on);
  }
  if (shown < dependents.size()) text += fmt::format("\nand {} more", dependents.size() - shown);
  return text;
}

}  // namespace

std::vector<std::string> schemas_to_clean(const std::vector<std::string>& configured,
                                          const SessionFacts& facts) {
  for (const auto& schema : configured) {
    if (is_servers_own(schema)) throw servers_own(schema);
  }
  return configured.empty() ? std::vector{facts.schema} : configured;
}

void refuse_dependents(const Inventory& inventory) {
  if (inventory.dependents.empty()) return;
  const auto number = inventory.dependents.size();
  throw Failure(Error{
      .kind = ErrorKind::config,
      .code = "dependents_outside",
      .message = fmt::format("{} object{} elsewhere depend{} on what would be dropped", number,
                             number == 1 ? "" : "s", number == 1 ? "s" : ""),
      .detail = listed(inventory.dependents),
      .hints = {"Nothing was dropped. Drop what is listed first, or add its schema to clean.schemas."}});
}

Inventory clean(Database& database, const std::vector<std::string>& schemas, const LockPolicy& policy,
                Reporter& reporter) {
  std::vector<HistoryRow> history;
  auto lock = acquire(database, policy, reporter, history);
  auto dropped = database.drop_contents(schemas, refuse_dependents);
  lock.release();
  return dropped;
}

}  // namespace lockstep
