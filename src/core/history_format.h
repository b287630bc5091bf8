#pragma once

#include <string>
#include <string_view>

#include "core/database.h"
#include "core/error.h"
#include "core/reporter.h"

namespace lockstep {

/// The format of the history table that this release writes (docs/history-table.md#formats).
inline constexpr int history_format = 2;

/// A newer release has made or upgraded the table: its rows may mean what this one does not know.
/// `written_by` is the release that wrote the newest row, where that is known.
Error newer_format(const SessionFacts& facts, int format, std::string_view written_by,
                   std::string_view tool_version);

/// Makes the history ready to be written to, and tells of an upgrade. Only under the lock.
void prepare_history(Database& database, Reporter& reporter);

}  // namespace lockstep
