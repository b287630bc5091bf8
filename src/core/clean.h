#pragma once

#include <string>
#include <vector>

#include "core/database.h"
#include "core/lock.h"

namespace lockstep {

/// The schemas that clean empties: the configured ones, else that of the history. Throws Failure (config) if
/// one of them is the server's own.
std::vector<std::string> schemas_to_clean(const std::vector<std::string>& configured,
                                          const SessionFacts& facts);

/// Throws Failure (config) if anything outside depends on what would be dropped. It is named, never dropped.
void refuse_dependents(const Inventory& inventory);

/// Drops everything in the schemas and the history table, under the lock and in one transaction; the schemas
/// stay. Returns what was dropped. OnBusy::skip counts as fail.
Inventory clean(Database& database, const std::vector<std::string>& schemas, const LockPolicy& policy,
                Reporter& reporter);

}  // namespace lockstep
