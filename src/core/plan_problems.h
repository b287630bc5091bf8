#pragma once

#include "core/error.h"
#include "core/history.h"
#include "core/migration.h"

namespace lockstep {

/// The disagreements between files and history that stop a run, each with what to do about it.
Error checksum_changed(const Migration& file, const HistoryRow& row);
Error description_changed(const Migration& file, const HistoryRow& row);
Error file_missing(const HistoryRow& row);
Error out_of_order(const Migration& file, const Version& newest_applied);
Error no_files_for_history(std::size_t applied);

}  // namespace lockstep
