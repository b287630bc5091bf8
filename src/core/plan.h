#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/history.h"
#include "core/migration.h"

namespace lockstep {

/// What is true of one migration, files and history taken together.
enum class MigrationState {
  pending,         ///< will be applied
  applied,         ///< applied, file unchanged
  baseline,        ///< the row at which history starts
  out_of_order,    ///< never applied, but a higher version was
  changed,         ///< applied, then the file was edited
  missing,         ///< applied, but the file is gone
  outdated,        ///< a repeatable whose file changed: will be applied again
  above_target,    ///< not applied because of --target
  below_baseline,  ///< older than the baseline: never applied
  running,         ///< a non-transactional file is running now, or its run died
  failed,          ///< a non-transactional file stopped part-way: will be resumed
  newer,           ///< applied by a later release than these files
  deleted,         ///< marked by repair: the file is gone for good
  undone,          ///< taken back by undo
  ignored,         ///< a baseline file that history does not need
};

/// "pending", "out_of_order", …: as JSON spells it.
std::string_view to_string(MigrationState state);

enum class OutOfOrder { refuse, allow };

struct PlanOptions {
  std::optional<Version> target = std::nullopt;
  OutOfOrder out_of_order = OutOfOrder::refuse;
};

/// A migration as info shows it: its file, its history row, or both (never neither).
struct PlanEntry {
  MigrationState state = MigrationState::pending;
  const Migration* file = nullptr;
  const HistoryRow* row = nullptr;

  std::string kind() const;
  std::string version() const;  ///< as written, or empty
  std::string description() const;
  std::string script() const;
  std::string checksum() const;
  /// An outdated repeatable whose file is the same: what its placeholders stand for is not.
  bool has_other_values() const;
};

/// One thing that migrate or undo does.
struct Step {
  Migration migration;
  std::optional<HistoryRow> resumes = std::nullopt;  ///< the row of the run that stopped part-way
  std::optional<HistoryRow> undoes = std::nullopt;   ///< undo: the row of the migration that it takes back
  std::span<const Migration> before = {};            ///< callbacks within its transaction
  std::span<const Migration> after = {};             ///< the same, behind it
};

/// What files and history together mean. A pure function of two lists. Entries point into `history` and into
/// the files that the plan was made from, which must outlive it.
struct Plan {
  Plan() = default;
  Plan(Plan&&) = default;
  Plan& operator=(Plan&&) = default;

  std::vector<HistoryRow> history;
  std::vector<PlanEntry> entries;  ///< in the order of info: versions, then repeatables
  std::vector<Step> steps;         ///< in the order in which they run
  std::vector<Error> problems;     ///< files and history disagree; nothing may run
  std::int64_t highest_rank = 0;   ///< the compare-and-swap value of the fence
  std::optional<Version> newest_applied = std::nullopt;

  /// A later release has migrated this database.
  bool newer_than_files() const;
  bool has(MigrationState state) const;
};

Plan make_plan(const std::vector<Migration>& files, std::vector<HistoryRow> history,
               const PlanOptions& options);

}  // namespace lockstep
