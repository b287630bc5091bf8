#include "core/plan.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/plan_problems.h"

namespace lockstep {
namespace {

bool is_row_of(const HistoryRow& row, MigrationKind kind) {
  return row.kind == to_string(kind);
}

/// Builds a plan in one pass over each list. Members are what the rules need to know of both.
class Planner {
 public:
  Planner(const std::vector<Migration>& files, std::vector<HistoryRow> history, const PlanOptions& options)
      : files_(files), options_(options) {
    plan_.history = std::move(history);
    plan_.entries.reserve(files.size());
    version_rows_.reserve(plan_.history.size());
    for (const auto& row : plan_.history) learn(row);
    for (const auto& file : files) {
      if (file.name.kind == MigrationKind::versioned) newest_file_ = newer(newest_file_, &*file.name.version);
    }
    if (plan_.history.empty()) starting_baseline_ = choose_baseline_file();
  }

  Plan make() {
    if (newest_applied_ != nullptr) plan_.newest_applied = *newest_applied_;
    if (files_.empty() && counting_ > 0) plan_.problems.push_back(no_files_for_history(counting_));
    for (const auto& file : sorted(MigrationKind::baseline)) place_baseline_file(*file);
    for (const auto& file : sorted(MigrationKind::versioned)) place_versioned(*file);
    place_rows_without_file();
    sort_entries();
    for (const auto& file : sorted(MigrationKind::repeatable)) place_repeatable(*file);
    for (const auto& [description, row] : repeatable_rows_) add(MigrationState::missing, nullptr, row);
    for (const auto* row : retired_rows_) add(retired_state(*row), nullptr, row);
    return std::move(plan_);
  }

 private:
  void learn(const HistoryRow& row) {
    plan_.highest_rank = std::max(plan_.highest_rank, row.rank);
    if (!row.counts()) {
      retired_rows_.push_back(&row);
      if (!row.version) repeatable_rows_.erase(row.description);  // and with it all rows before
      return;
    }
    ++counting_;
    if (!row.version) {
      repeatable_rows_[row.description] = &row;
      return;
    }
    version_rows_[row.version->canonical()] = &row;
    newest_applied_ = newer(newest_applied_, &*row.version);
    if (is_row_of(row, MigrationKind::baseline)) baseline_ = newer(baseline_, &*row.version);
  }

  /// The first one may be missing.
  static const Version* newer(const Version* a, const Version* b) { return a != nullptr && *a >= *b ? a : b; }

  bool above_target(const Version& version) const { return options_.target && version > *options_.target; }

  /// A history that is still empty starts at the highest baseline file that the target allows.
  const Version* choose_baseline_file() const {
    const Version* chosen = nullptr;
    for (const auto& file : files_) {
      if (file.name.kind != MigrationKind::baseline || above_target(*file.name.version)) continue;
      chosen = newer(chosen, &*file.name.version);
    }
    return chosen;
  }

  std::vector<const Migration*> sorted(MigrationKind kind) const {
    std::vector<const Migration*> chosen;
    for (const auto& file : files_) {
      if (file.name.kind == kind) chosen.push_back(&file);
    }
    const auto before = [](const auto* a, const auto* b) {
      if (a->name.version && b->name.version) return *a->name.version < *b->name.version;
      return a->name.description < b->name.description;
    };
    // Files usually come in order already.
    if (!std::is_sorted(chosen.begin(), chosen.end(), before))
      std::sort(chosen.begin(), chosen.end(), before);
    return chosen;
  }

  void add(MigrationState state, const Migration* file, const HistoryRow* row) {
    auto& entry = plan_.entries.emplace_back();
    entry.state = state;
    entry.file = file;
    entry.row = row;
  }

  void add_step(const Migration& file, const HistoryRow* resumes = nullptr) {
    auto& step = plan_.steps.emplace_back(Step{.migration = file});
    if (resumes) step.resumes = *resumes;
  }

  /// Takes the row of a version out of the map; what is left in the end has no file.
  const HistoryRow* take_row(const Version& version, MigrationKind kind) {
    const auto found = version_rows_.find(version.canonical());
    if (found == version_rows_.end() || !is_row_of(*found->second, kind)) return nullptr;
    const auto* row = found->second;
    version_rows_.erase(found);
    return row;
  }

  void place_baseline_file(const Migration& file) {
    const auto& version = *file.name.version;
    if (const auto* row = take_row(version, MigrationKind::baseline)) return place_known(file, *row);
    if (starting_baseline_ != nullptr && version == *starting_baseline_) {
      add(MigrationState::pending, &file, nullptr);
      return add_step(file);
    }
    add(above_target(version) ? MigrationState::above_target : MigrationState::ignored, &file, nullptr);
  }

  void place_versioned(const Migration& file) {
    const auto& version = *file.name.version;
    if (const auto* row = take_row(version, MigrationKind::versioned)) return place_known(file, *row);
    const auto* start = baseline_ != nullptr ? baseline_ : starting_baseline_;
    if (start != nullptr && version <= *start) return add(MigrationState::below_baseline, &file, nullptr);
    if (above_target(version)) return add(MigrationState::above_target, &file, nullptr);
    if (newest_applied_ != nullptr && version < *newest_applied_) return place_late(file);
    add(MigrationState::pending, &file, nullptr);
    add_step(file);
  }

  void place_late(const Migration& file) {
    add(MigrationState::out_of_order, &file, nullptr);
    if (options_.out_of_order == OutOfOrder::allow) return add_step(file);
    plan_.problems.push_back(out_of_order(file, *newest_applied_));
  }

  void place_known(const Migration& file, const HistoryRow& row) {
    if (row.state != row_state::applied) {
      add(row.state == row_state::running ? MigrationState::running : MigrationState::failed, &file, &row);
      if (!above_target(*file.name.version)) add_step(file, &row);
      return;
    }
    auto state = is_row_of(row, MigrationKind::baseline) ? MigrationState::baseline : MigrationState::applied;
    // A baseline that was only declared has no file, so there is nothing to compare.
    const bool declared = row.checksum.empty();
    if (!declared && row.checksum != file.checksum) {
      plan_.problems.push_back(checksum_changed(file, row));
      state = MigrationState::changed;
    }
    if (!declared && row.description != file.name.description) {
      plan_.problems.push_back(description_changed(file, row));
      state = MigrationState::changed;
    }
    add(state, &file, &row);
  }

  void place_rows_without_file() {
    for (const auto* row : remaining_rows()) {
      if (is_row_of(*row, MigrationKind::baseline)) {
        add(MigrationState::baseline, nullptr, row);
      } else if (newest_file_ != nullptr && *row->version > *newest_file_) {
        add(MigrationState::newer, nullptr, row);
      } else {
        add(MigrationState::missing, nullptr, row);
        if (!files_.empty()) plan_.problems.push_back(file_missing(*row));
      }
    }
  }

  std::vector<const HistoryRow*> remaining_rows() const {
    std::vector<const HistoryRow*> rows;
    for (const auto& [version, row] : version_rows_) rows.push_back(row);
    std::sort(rows.begin(), rows.end(),
              [](const auto* a, const auto* b) { return *a->version < *b->version; });
    return rows;
  }

  /// After a later release's migrations, an older release must not put its own repeatables back.
  void place_repeatable(const Migration& file) {
    const auto found = repeatable_rows_.find(file.name.description);
    if (found == repeatable_rows_.end()) return place_new_repeatable(file);
    const auto& row = *found->second;
    repeatable_rows_.erase(found);
    if (row.state == row_state::applied && row.checksum == recorded_checksum(file)) {
      return add(MigrationState::applied, &file, &row);
    }
    if (plan_.newer_than_files()) return add(MigrationState::newer, &file, &row);
    if (row.state == row_state::applied) {
      add(MigrationState::outdated, &file, &row);
      return add_step(file);
    }
    add(row.state == row_state::running ? MigrationState::running : MigrationState::failed, &file, &row);
    add_step(file, &row);
  }

  void place_new_repeatable(const Migration& file) {
    if (plan_.newer_than_files()) return add(MigrationState::newer, &file, nullptr);
    if (plan_.has(MigrationState::above_target)) return add(MigrationState::above_target, &file, nullptr);
    add(MigrationState::pending, &file, nullptr);
    add_step(file);
  }

  static MigrationState retired_state(const HistoryRow& row) {
    return row.state == row_state::undone ? MigrationState::undone : MigrationState::deleted;
  }

  void sort_entries() {
    const auto before = [](const PlanEntry& a, const PlanEntry& b) {
      const auto& left = a.file ? a.file->name.version : a.row->version;
      const auto& right = b.file ? b.file->name.version : b.row->version;
      return *left < *right;
    };
    auto& entries = plan_.entries;
    if (!std::is_sorted(entries.begin(), entries.end(), before))
      std::stable_sort(entries.begin(), entries.end(), before);
  }

  const std::vector<Migration>& files_;
  const PlanOptions& options_;
  std::unordered_map<std::string_view, const HistoryRow*> version_rows_;
  std::map<std::string_view, const HistoryRow*> repeatable_rows_;
  std::vector<const HistoryRow*> retired_rows_;
  std::size_t counting_ = 0;
  const Version *newest_applied_ = nullptr, *newest_file_ = nullptr;
  const Version *baseline_ = nullptr, *starting_baseline_ = nullptr;
  Plan plan_;
};

}  // namespace

std::string_view to_string(MigrationState state) {
  switch (state) {
    case MigrationState::pending:
      return "pending";
    case MigrationState::applied:
      return "applied";
    case MigrationState::baseline:
      return "baseline";
    case MigrationState::out_of_order:
      return "out_of_order";
    case MigrationState::changed:
      return "changed";
    case MigrationState::missing:
      return "missing";
    case MigrationState::outdated:
      return "outdated";
    case MigrationState::above_target:
      return "above_target";
    case MigrationState::below_baseline:
      return "below_baseline";
    case MigrationState::running:
      return "running";
    case MigrationState::failed:
      return "failed";
    case MigrationState::newer:
      return "newer";
    case MigrationState::deleted:
      return "deleted";
    case MigrationState::undone:
      return "undone";
    case MigrationState::ignored:
      return "ignored";
  }
  return "unknown";
}

std::string PlanEntry::kind() const {
  return file ? std::string(to_string(file->name.kind)) : row->kind;
}

std::string PlanEntry::version() const {
  if (file) return version_text(*file);
  return row->version ? row->version->text() : std::string{};
}

std::string PlanEntry::description() const {
  return file ? file->name.description : row->description;
}
std::string PlanEntry::script() const {
  return file ? file->script : row->script;
}
std::string PlanEntry::checksum() const {
  return file ? file->checksum : row->checksum;
}

bool PlanEntry::has_other_values() const {
  return state == MigrationState::outdated &&
         row->checksum.substr(0, row->checksum.find('+')) == file->checksum;
}

bool Plan::newer_than_files() const {
  return has(MigrationState::newer);
}

bool Plan::has(MigrationState state) const {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const PlanEntry& entry) { return entry.state == state; });
}

Plan make_plan(const std::vector<Migration>& files, std::vector<HistoryRow> history,
               const PlanOptions& options) {
  return Planner(files, std::move(history), options).make();
}

}  // namespace lockstep
